// How the program ends, for scripts. The numbers are those of sysexits.h; docs/cli.md lists them.
#pragma once

#include <stdexcept>
#include <string>

namespace heed::cli {

enum ExitCode {
  kOk = 0,
  kUsage = 64,
  kData = 65,
  kNoInput = 66,
  kSoftware = 70,
  kMemory = 71,
  kCannotCreate = 73,
  kOutput = 74,
  kConfig = 78,
};

struct ExitMeaning {
  ExitCode code;
  const char* meaning;
};
inline constexpr ExitMeaning kExitMeanings[] = {
    {kOk, "all is well; also where the reader of a pipe went away early"},
    {kUsage, "wrong usage: a verb, an option or a name that does not exist. The message names the nearest one"},
    {kData, "data or a checkpoint that cannot be used"},
    {kNoInput, "a recipe, a model or a file to read that is not there"},
    {kSoftware, "a fault of heed itself: please report it"},
    {kMemory, "the machine has not enough memory. The message says about how much is needed, where that is known"},
    {kCannotCreate, "a file or folder could not be written, or a folder holds something else already"},
    {kOutput, "standard output could not be written, for example because the disk is full"},
    {kConfig, "a recipe with mistakes: each with its line"},
};

/// An error that ends the program with a code of its own. Any other heed::Error means that the input was wrong: kUsage.
class Failure : public std::runtime_error {
 public:
  Failure(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

}  // namespace heed::cli
