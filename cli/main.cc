// heed: the command line. Only this folder prints; the library throws, and its errors become messages here.
#include <fmt/format.h>

#include <csignal>
#include <exception>
#include <new>
#include <string_view>

#include "cli/arguments.h"
#include "cli/exit_code.h"
#include "cli/memory_end.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "heed/base/memory.h"
#include "heed/kernels/isa.h"
#include "heed/version.h"

namespace heed::cli {

namespace {

constexpr const char* kExamples = R"(Examples:
  heed demo                            train a model that reads dates, in a minute
  heed train pairs.tsv                 train your own model
  heed predict model < in > out        run it, line by line
  heed evaluate model test.tsv         measure how good it is
  heed compare dates                   train the same model with every attention, and compare them
  heed info model                      describe it, and this machine
  heed mechanisms                      list every kind of attention, by part
  heed mechanisms additive             formula, cost, options and parameters of one

Also: heed completions bash|zsh|fish and heed manual print completions and the manual page; heed openapi describes the server.

heed COMMAND --help describes a command. Exit codes: 0 success, 64 wrong usage; docs/cli.md lists the others.)";

int run(int argc, char** argv) {
  Program program("Attention, all of it.", fmt::format("heed {} ({})", HEED_VERSION, kernels::isa()));
#define HEED_ADD(name) add_##name(program);
  HEED_VERBS(HEED_ADD)
#undef HEED_ADD
  program.footer(kExamples);
  if (argc < 2) {
    note(program.help());
    return kUsage;
  }
  program.run(argc, argv);
  return kOk;
}

int fail(ExitCode code, std::string_view message) {
  note(fmt::format("heed: {}\n", message));
  return code;
}

}  // namespace
}  // namespace heed::cli

int main(int argc, char** argv) {
  using namespace heed::cli;
  prepare_for_the_end_of_memory();
  occupy_standard_streams();
  std::signal(SIGPIPE, SIG_IGN);  // print() sees the closed pipe
  std::signal(SIGXFSZ, SIG_IGN);  // a write beyond ulimit -f fails instead of ending the program
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc& error) {
    return fail(exit_code_of(error), heed::memory_text(error));
  } catch (const std::exception& error) {
    return fail(exit_code_of(error), error.what());
  }
}
