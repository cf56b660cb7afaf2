// What the layers above the kernels throw. The message names the operation, what was expected, what was given, and a
// hint; the kind says who has to act.
#pragma once

#include <fmt/format.h>

#include <cerrno>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace heed {

/// What went wrong. The program's exit codes (cli/exit_code.h) and Python's `Error.kind` follow from it.
enum class ErrorKind {
  usage,         // a wrong argument, option, name or shape: the caller's mistake
  recipe,        // a recipe with mistakes
  data,          // unusable data: not UTF-8, no pair left, files that do not belong together
  file,          // a file or checkpoint that cannot be read, is damaged, or does not fit
  missing,       // a file, folder, model or checkpoint that does not exist
  cannot_write,  // disk full, no permission, or a folder that is in use or holds something else
  no_memory,     // out of memory; thrown as std::bad_alloc (heed/base/memory.h), never as Error
  bug,           // a bug in heed itself
};

/// Its name: "usage", "recipe", ..., as the enumerators.
constexpr std::string_view name_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage:
      return "usage";
    case ErrorKind::recipe:
      return "recipe";
    case ErrorKind::data:
      return "data";
    case ErrorKind::file:
      return "file";
    case ErrorKind::missing:
      return "missing";
    case ErrorKind::cannot_write:
      return "cannot_write";
    case ErrorKind::no_memory:
      return "no_memory";
    case ErrorKind::bug:
      return "bug";
  }
  return "bug";
}

class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message) : Error(ErrorKind::usage, message) {}
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(without_nul(message)), kind_(kind) {}
  ErrorKind kind() const noexcept { return kind_; }

 private:
  /// what() ends at a NUL; one that was quoted from data is shown, so that the rest of the message is not lost.
  static std::string without_nul(std::string message) {
    for (size_t at = message.find('\0'); at != std::string::npos; at = message.find('\0', at))
      message.replace(at, 1, "\\x00");
    return message;
  }

  ErrorKind kind_;
};

/// The caller stopped the work (kernels/interrupt.h). Not an Error: nothing is wrong, and there is nothing to retry.
class Interrupted : public std::exception {
 public:
  const char* what() const noexcept override { return "interrupted"; }
};

/// The kind of any exception: anything but an Error or a std::bad_alloc is a bug.
inline ErrorKind kind_of(const std::exception& exception) {
  if (const auto* error = dynamic_cast<const Error*>(&exception)) return error->kind();
  return dynamic_cast<const std::bad_alloc*>(&exception) ? ErrorKind::no_memory : ErrorKind::bug;
}

/// The kind for a file that could not be opened or read, from errno.
inline ErrorKind kind_of_unreadable(int system_error) {
  return system_error == ENOENT || system_error == ENOTDIR ? ErrorKind::missing : ErrorKind::file;
}

/// Throws Error with the formatted message unless `condition` holds. Without a kind it is the caller's mistake.
template <class... Args>
void expect(bool condition, ErrorKind kind, fmt::format_string<Args...> message, Args&&... args) {
  if (!condition) throw Error(kind, fmt::format(message, std::forward<Args>(args)...));
}
template <class... Args>
void expect(bool condition, fmt::format_string<Args...> message, Args&&... args) {
  if (!condition) throw Error(fmt::format(message, std::forward<Args>(args)...));
}

}  // namespace heed
