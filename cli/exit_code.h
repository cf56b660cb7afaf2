// How the program ends, for scripts. The numbers are those of sysexits.h; docs/cli.md lists them.
#pragma once

#include <stdexcept>
#include <string>

namespace heed::cli {

enum ExitCode {
  kOk = 0,
  kUsage = 64,         // a verb, option or name that does not exist
  kData = 65,          // data or a checkpoint that cannot be used
  kNoInput = 66,       // a file to read that is not there
  kSoftware = 70,      // a fault of heed itself
  kCannotCreate = 73,  // a file or folder that was to be written
  kOutput = 74,        // standard output could not be written
  kConfig = 78,        // a recipe with mistakes
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
