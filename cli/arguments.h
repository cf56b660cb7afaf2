// The command line, as the commands (verbs) declare it. Only arguments.cc includes CLI11: every source that does takes
// ten seconds to compile.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/command_line.h"

// NOLINTNEXTLINE(readability-identifier-naming): CLI11 chose the name.
namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace heed::cli {

/// One option of a command. Each call adds a property and returns the option.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  /// What the help calls its value: "FILE". A positional argument has none.
  Option& value(const std::string& name);
  Option& required(bool required = true);
  Option& needs(const Option& other);

  /// May be given several times, one value each; with `separator`, one value may hold several.
  Option& repeated();
  Option& repeated(char separator);

  /// A number from `least` to `most`. The help stays short: only the error message names both.
  Option& from_to(int64_t least, int64_t most);
  Option& from_to(uint64_t least, uint64_t most);
  Option& from_to(double least, double most);

  /// Only these words; any other is refused with a hint at the nearest. Shell completions offer them.
  Option& one_of(const std::string& what, const std::vector<std::string>& words);
  /// Words that shell completions offer; the value is not checked against them.
  Option& offer(std::vector<std::string> words);
  /// Its value is SECTION.KEY=VALUE of a recipe; may be repeated. Shell completions offer the keys, and their words.
  Option& sets_keys();

 private:
  CLI::Option* option_;
};

class Verb {
 public:
  explicit Verb(CLI::App* app) : app_(app) {}

  /// "--beam"; or "MODEL", a positional argument. `value` is set before run() and holds the default until then.
  Option option(const std::string& name, std::string& value, const std::string& meaning);
  Option option(const std::string& name, std::vector<std::string>& values, const std::string& meaning);
  Option option(const std::string& name, int64_t& value, const std::string& meaning);
  Option option(const std::string& name, uint64_t& value, const std::string& meaning);
  Option option(const std::string& name, double& value, const std::string& meaning);
  /// `take` is called with the number as soon as it is parsed.
  Option option(const std::string& name, const std::function<void(int)>& take, const std::string& meaning);

  Option flag(const std::string& name, bool& value, const std::string& meaning);
  /// --name alone means `word`; --name=other gives another.
  Option flag(const std::string& name, const std::string& word, std::string& value, const std::string& meaning);

  /// The end of the help.
  void footer(const std::string& text);
  /// What the command does.
  void run(const std::function<void()>& what);

 private:
  CLI::App* app_;
};

class Program {
 public:
  Program(const std::string& meaning, const std::string& version);
  ~Program();

  Verb verb(const std::string& name, const std::string& meaning);
  /// Listed neither in the help nor in completions: for packagers.
  Verb unlisted_verb(const std::string& name, const std::string& meaning);
  /// Call it after the commands were added, or they would inherit the text.
  void footer(const std::string& text);

  std::string help() const;
  ProgramText text() const;

  /// Runs the chosen command, or prints the help or the version. Throws Error for wrong usage.
  void run(int argc, char** argv);

 private:
  std::unique_ptr<CLI::App> app_;
};

/// Empty if `word` is one of `words`; otherwise a message that names the nearest of them.
std::string complaint(const std::string& what, const std::string& word, const std::vector<std::string>& words);

}  // namespace heed::cli
