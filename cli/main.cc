// heed: the command line. Only what is in this folder prints; the library throws, and here it becomes a message.
#include <fmt/format.h>

#include <csignal>
#include <exception>
#include <new>
#include <string_view>

#include "cli/arguments.h"
#include "cli/exit_code.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "heed/kernels/isa.h"
#include "heed/tensor/memory.h"
#include "heed/version.h"

namespace heed::cli {

namespace {

constexpr const char* kExamples = R"(Examples:
  heed demo                            a model that reads dates, trained in a minute
  heed train recipe.toml               a model of your own; heed train --help shows a recipe
  heed predict model < in > out        its outputs, line by line
  heed evaluate model test.tsv         how good they are
  heed info model                      what it is, and what it runs on
  heed mechanisms                      every kind of attention, by part
  heed mechanisms additive             what it does, costs, reads and learns

heed VERB --help tells more of a verb. Exit codes: 0 all is well, 64 wrong usage; docs/cli.md has the rest.)";

int run(int argc, char** argv) {
  Program program("Attention, all of it.", fmt::format("heed {} ({})", HEED_VERSION, kernels::isa()));
  for (const auto& add : {add_demo, add_train, add_predict, add_score, add_evaluate, add_average, add_export, add_info,
                          add_mechanisms, add_completions, add_manual})
    add(program);
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
  occupy_standard_streams();
  std::signal(SIGPIPE, SIG_IGN);  // print() sees the closed pipe
  std::signal(SIGXFSZ, SIG_IGN);  // and who writes a file, that it became larger than ulimit -f allows
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc& error) {
    return fail(exit_code_of(error), heed::memory_text(error));
  } catch (const std::exception& error) {
    return fail(exit_code_of(error), error.what());
  }
}
