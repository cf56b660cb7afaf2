// Exit codes, for scripts. The numbers are those of sysexits.h; docs/cli.md lists them. A command throws heed::Error or
// lets one pass; only this file maps its kind to a code.
#pragma once

#include <exception>
#include <stdexcept>

#include "heed/base/error.h"

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
    {kOk, "success; also if the reader of a pipe closed it early"},
    {kUsage, "wrong usage: a command, option or name that does not exist. The message names the nearest one"},
    {kData, "data or a checkpoint that cannot be used"},
    {kNoInput, "a recipe, a model or an input file does not exist"},
    {kSoftware, "a bug in heed: please report it"},
    {kMemory, "not enough memory. The message says about how much is needed, if that is known"},
    {kCannotCreate, "a file or folder could not be written, or the folder already holds something else"},
    {kOutput, "standard output could not be written, for example because the disk is full"},
    {kConfig, "mistakes in a recipe, each with its line"},
};

constexpr ExitCode exit_code_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage:
      return kUsage;
    case ErrorKind::recipe:
      return kConfig;
    case ErrorKind::data:
    case ErrorKind::file:
      return kData;
    case ErrorKind::missing:
      return kNoInput;
    case ErrorKind::cannot_write:
      return kCannotCreate;
    case ErrorKind::no_memory:
      return kMemory;
    case ErrorKind::bug:
      return kSoftware;
  }
  return kSoftware;
}

/// Standard output cannot be written. Only a program has one, so the library has no such kind of error.
class OutputFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

inline ExitCode exit_code_of(const std::exception& exception) {
  return dynamic_cast<const OutputFailure*>(&exception) ? kOutput : exit_code_of(kind_of(exception));
}

}  // namespace heed::cli
