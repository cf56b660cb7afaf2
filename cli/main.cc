// heed: the command line. Only what is in this folder prints; the library throws, and here it becomes a message.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <csignal>
#include <exception>
#include <vector>

#include "cli/exit_code.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "heed/kernels/isa.h"
#include "heed/tensor/error.h"
#include "heed/tensor/nearest.h"

namespace heed::cli {

std::string complaint(const char* what, const std::string& word, std::span<const std::string> words) {
  if (std::find(words.begin(), words.end(), word) != words.end()) return "";
  return fmt::format("there is no {} '{}'; did you mean '{}'? There are: {}", what, word, nearest(word, words),
                     fmt::join(words, ", "));
}

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

/// Those that are listed; the others are known too, but nobody means them by mistake.
std::vector<std::string> verbs_of(const CLI::App& app) {
  std::vector<std::string> verbs;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App* v) { return !v->get_group().empty(); }))
    verbs.push_back(verb->get_name());
  return verbs;
}

bool is_verb(const CLI::App& app, std::string_view word) {
  return !app.get_subcommands([word](const CLI::App* v) { return v->get_name() == word; }).empty();
}

/// What was on the command line and has no meaning there.
std::string unexpected(const CLI::App& app) {
  std::vector<std::string> options;
  std::string where;
  if (app.get_subcommands().empty()) options = {"--help", "--version"};
  for (const CLI::App* verb : app.get_subcommands()) {
    where = verb->get_name() + ": ";
    for (const CLI::Option* option : verb->get_options())
      for (const std::string& name : option->get_lnames()) options.push_back("--" + name);
  }
  if (app.remaining(true).empty()) return fmt::format("a verb is needed: {}", fmt::join(verbs_of(app), ", "));
  const std::string word = app.remaining(true).front();
  if (word.rfind('-', 0) == 0) return where + complaint("option", word, options);
  return fmt::format("{}'{}' was not expected", where, word);
}

int run(int argc, char** argv) {
  CLI::App app("Attention, all of it.", "heed");
  app.set_version_flag("--version", fmt::format("heed {} ({})", HEED_VERSION, kernels::isa()), "The version");
  app.set_help_flag("-h,--help", "This text");
  app.require_subcommand(1);
  app.get_formatter()->label("SUBCOMMAND", "VERB");
  for (const auto& add : {add_demo, add_train, add_predict, add_score, add_evaluate, add_average, add_info,
                          add_mechanisms, add_completions, add_manual})
    add(app);
  for (CLI::App* verb : app.get_subcommands([](CLI::App*) { return true; }))
    verb->set_help_flag("-h,--help", "This text");
  app.footer(kExamples);  // after the verbs, which would have it too

  if (argc < 2) {
    fmt::print(stderr, "{}", app.help());
    return kUsage;
  }
  if (argv[1][0] != '-' && !is_verb(app, argv[1]))
    if (const std::string wrong = complaint("verb", argv[1], verbs_of(app)); !wrong.empty())
      throw Failure(kUsage, wrong);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForVersion& version) {
    print(std::string(version.what()) + "\n");
  } catch (const CLI::CallForHelp&) {
    print(app.help());
  } catch (const CLI::RequiredError& error) {
    const std::string verb = app.get_subcommands().empty() ? "" : app.get_subcommands().front()->get_name();
    throw Failure(kUsage, verb.empty() || !app.remaining(true).empty()
                              ? unexpected(app)
                              : fmt::format("{}: {}. heed {} --help tells more", verb, error.what(), verb));
  } catch (const CLI::ExtrasError&) {
    throw Failure(kUsage, unexpected(app));
  } catch (const CLI::ParseError& error) {
    throw Failure(kUsage, error.what());
  }
  return kOk;
}

int fail(ExitCode code, const char* message) {
  fmt::print(stderr, "heed: {}\n", message);
  return code;
}

}  // namespace
}  // namespace heed::cli

int main(int argc, char** argv) {
  using namespace heed::cli;
  std::signal(SIGPIPE, SIG_IGN);  // print() sees the closed pipe
  try {
    return run(argc, argv);
  } catch (const Failure& failure) {
    return fail(failure.code(), failure.what());
  } catch (const heed::Error& error) {
    return fail(kUsage, error.what());
  } catch (const std::exception& error) {
    return fail(kSoftware, error.what());
  }
}
