#include "cli/arguments.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <map>
#include <span>
#include <string_view>
#include <system_error>

#include "cli/terminal.h"
#include "heed/base/error.h"
#include "heed/base/nearest.h"
#include "heed/base/spelling.h"
#include "heed/kernels/isa.h"

namespace heed::cli {

namespace {

/// The values that an option offers; CLI11 has no place for them.
std::map<const CLI::Option*, std::vector<std::string>>& all_offered() {
  static std::map<const CLI::Option*, std::vector<std::string>> words;
  return words;
}

std::span<const std::string> offered(const CLI::Option* option) {
  const auto found = all_offered().find(option);
  return found == all_offered().end() ? std::span<const std::string>() : found->second;
}

constexpr const char* kSetting = "SECTION.KEY=VALUE";

std::string joined(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : ", ") + word;
  return all;
}

/// CLI11's own check turns a number that is too long into the largest one, and a negative one into a large one.
template <class Number>
CLI::Validator whole_number(Number least, Number most) {
  const auto wrong = [least, most](const std::string& word) {
    Number number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error == std::errc() && end == word.data() + word.size() && number >= least && number <= most)
      return std::string();
    return fmt::format("must be a whole number from {} to {}, not {}", least, most, word);
  };
  return {wrong, ""};
}

/// CLI11's own check accepts what is no number at all, "nan", and writes the smallest range as 0.000000.
CLI::Validator any_number(double least, double most) {
  const auto wrong = [least, most](const std::string& word) {
    double number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error == std::errc() && end == word.data() + word.size() && number >= least && number <= most)
      return std::string();
    return fmt::format("must be a number from {} to {}, not {}", least, most, word);
  };
  return {wrong, ""};
}

}  // namespace

std::string complaint(const std::string& what, const std::string& word, const std::vector<std::string>& words) {
  return std::find(words.begin(), words.end(), word) != words.end() ? "" : unknown_name(what, word, words);
}

// -------------------------------------------------------------------------------------------------------------- option

Option& Option::value(const std::string& name) {
  option_->type_name(name);
  return *this;
}

Option& Option::required(bool required) {
  option_->required(required);
  return *this;
}

Option& Option::needs(const Option& other) {
  option_->needs(other.option_);
  return *this;
}

Option& Option::repeated() {
  option_->take_all()->expected(1)->allow_extra_args(false);
  return *this;
}

Option& Option::repeated(char separator) {
  option_->delimiter(separator);
  return repeated();
}

Option& Option::from_to(int64_t least, int64_t most) {
  option_->check(whole_number(least, most));
  return *this;
}

Option& Option::from_to(uint64_t least, uint64_t most) {
  option_->check(whole_number(least, most));
  return *this;
}

Option& Option::from_to(double least, double most) {
  option_->check(any_number(least, most));
  return *this;
}

Option& Option::one_of(const std::string& what, const std::vector<std::string>& words) {
  const auto wrong = [what, words](const std::string& word) { return complaint(what, word, words); };
  option_->check(CLI::Validator(wrong, ""));
  return offer(words);
}

Option& Option::offer(std::vector<std::string> words) {
  all_offered()[option_] = std::move(words);
  return *this;
}

Option& Option::sets_keys() { return value(kSetting).repeated(); }

// ------------------------------------------------------------------------------------------------------------- command

Option Verb::option(const std::string& name, std::string& value, const std::string& meaning) {
  return Option(app_->add_option(name, value, meaning));
}

Option Verb::option(const std::string& name, std::vector<std::string>& values, const std::string& meaning) {
  return Option(app_->add_option(name, values, meaning));
}

Option Verb::option(const std::string& name, int64_t& value, const std::string& meaning) {
  return Option(app_->add_option(name, value, meaning));
}

Option Verb::option(const std::string& name, uint64_t& value, const std::string& meaning) {
  return Option(app_->add_option(name, value, meaning));
}

Option Verb::option(const std::string& name, double& value, const std::string& meaning) {
  return Option(app_->add_option(name, value, meaning));
}

Option Verb::option(const std::string& name, const std::function<void(int)>& take, const std::string& meaning) {
  return Option(app_->add_option_function<int>(name, take, meaning));
}

Option Verb::flag(const std::string& name, bool& value, const std::string& meaning) {
  return Option(app_->add_flag(name, value, meaning));
}

Option Verb::flag(const std::string& name, const std::string& word, std::string& value, const std::string& meaning) {
  return Option(app_->add_flag(fmt::format("{}{{{}}}", name, word), value, meaning));
}

void Verb::footer(const std::string& text) { app_->footer(text); }

void Verb::run(const std::function<void()>& what) {
  app_->callback([what] {
    // HEED_ISA may name an instruction set that does not exist: refuse before anything is computed.
    if (const kernels::Status isa = kernels::isa_status(); !isa) throw Error(isa.message());
    what();
  });
}

// -------------------------------------------------------------------------------------------- options of the program

namespace {

bool is_listed(const CLI::App* verb) { return !verb->get_group().empty(); }

/// Of several long names, help shows the first; the others are those of other programs, for whoever types them.
class FirstNames : public CLI::Formatter {
 public:
  std::string make_option_name(const CLI::Option* option, bool positional) const override {
    if (positional || option->get_lnames().size() < 2) return CLI::Formatter::make_option_name(option, positional);
    std::string names;
    for (const std::string& name : option->get_snames()) names += "-" + name + ",";
    return names + "--" + option->get_lnames().front();
  }
};

OptionText text_of(const CLI::Option& option) {
  OptionText text;
  text.meaning = option.get_description();
  text.positional = option.get_positional();
  text.required = option.get_required();
  text.several = option.get_expected_max() > 1;
  if (text.positional) text.names.push_back(option.get_name(true));
  for (const std::string& name : option.get_snames()) text.names.push_back("-" + name);
  if (!option.get_lnames().empty()) text.names.push_back("--" + option.get_lnames().front());
  const auto words = offered(&option);
  text.words.assign(words.begin(), words.end());
  const bool is_switch = option.get_items_expected_max() == 0;
  text.value_may_be_left_out = is_switch && !words.empty();
  if (text.value_may_be_left_out) text.value = "KIND";
  if (!is_switch && !text.positional) text.value = option.get_type_name();
  text.value = text.value.substr(0, text.value.find(':'));  // CLI11 appends the range
  text.sets_key = text.value == kSetting;
  return text;
}

std::vector<OptionText> texts_of(const CLI::App& app) {
  std::vector<OptionText> texts;
  for (const CLI::Option* option : app.get_options()) texts.push_back(text_of(*option));
  std::stable_partition(texts.begin(), texts.end(), [](const OptionText& o) { return o.positional; });
  return texts;
}

/// The listed commands. The others exist too, but nobody mistypes them.
std::vector<std::string> verbs_of(const CLI::App& app) {
  std::vector<std::string> verbs;
  for (const CLI::App* verb : app.get_subcommands(is_listed)) verbs.push_back(verb->get_name());
  return verbs;
}

bool is_verb(const CLI::App& app, std::string_view word) {
  return !app.get_subcommands([word](const CLI::App* v) { return v->get_name() == word; }).empty();
}

/// The message about a word on the command line that means nothing there.
std::string unexpected(const CLI::App& app) {
  std::vector<std::string> options;
  std::string where;
  if (app.get_subcommands().empty()) options = {"--help", "--version"};
  for (const CLI::App* verb : app.get_subcommands()) {
    where = verb->get_name() + ": ";
    for (const CLI::Option* option : verb->get_options())
      for (const std::string& name : option->get_lnames()) options.push_back("--" + name);
  }
  if (app.remaining(true).empty()) return "a command is needed: " + joined(verbs_of(app));
  const std::string word = app.remaining(true).front();
  if (word.rfind('-', 0) == 0) return where + complaint("option", word, options);
  return fmt::format("{}'{}' was not expected", where, word);
}

}  // namespace

// ------------------------------------------------------------------------------------------------------------- program

Program::Program(const std::string& meaning, const std::string& version)
    : app_(std::make_unique<CLI::App>(meaning, "heed")) {
  app_->set_version_flag("--version", version, "Print the version");
  app_->set_help_flag("-h,--help", "Print this help");
  app_->require_subcommand(1);
  app_->formatter(std::make_shared<FirstNames>());
  app_->get_formatter()->label("SUBCOMMAND", "COMMAND");
}

Program::~Program() = default;

Verb Program::verb(const std::string& name, const std::string& meaning) {
  return Verb(app_->add_subcommand(name, meaning)->group("Commands"));
}

Verb Program::unlisted_verb(const std::string& name, const std::string& meaning) {
  return Verb(app_->add_subcommand(name, meaning)->group(""));
}

void Program::footer(const std::string& text) { app_->footer(text); }

std::string Program::help() const { return app_->help(); }

ProgramText Program::text() const {
  ProgramText program{app_->get_description(), app_->get_footer(), texts_of(*app_), {}};
  for (const CLI::App* verb : app_->get_subcommands(is_listed))
    program.verbs.push_back({verb->get_name(), verb->get_description(), verb->get_footer(), texts_of(*verb)});
  return program;
}

namespace {

/// The arguments, last first as CLI11 takes them, with the names of options as we spell them: --tokenise.
std::vector<std::string> spelled_our_way(int argc, char** argv) {
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  for (std::string& word : words) {
    if (word == "--") break;
    if (!word.starts_with("--")) continue;
    const size_t end = std::min(word.find('='), word.size());
    word = british(word.substr(0, end)) + word.substr(end);
  }
  std::reverse(words.begin(), words.end());
  return words;
}

}  // namespace

void Program::run(int argc, char** argv) {
  CLI::App& app = *app_;
  for (CLI::App* verb : app.get_subcommands([](CLI::App*) { return true; }))
    verb->set_help_flag("-h,--help", "Print this help");
  if (argc > 1 && argv[1][0] != '-' && !is_verb(app, argv[1]))
    if (const std::string wrong = complaint("command", argv[1], verbs_of(app)); !wrong.empty()) throw Error(wrong);
  try {
    app.parse(spelled_our_way(argc, argv));
  } catch (const CLI::CallForVersion& version) {
    print(std::string(version.what()) + "\n");
  } catch (const CLI::CallForHelp&) {
    print(app.help());
  } catch (const CLI::RequiredError& error) {
    const std::string verb = app.get_subcommands().empty() ? "" : app.get_subcommands().front()->get_name();
    throw Error(verb.empty() || !app.remaining(true).empty()
                    ? unexpected(app)
                    : fmt::format("{}: {}. See heed {} --help", verb, error.what(), verb));
  } catch (const CLI::ExtrasError&) {
    throw Error(unexpected(app));
  } catch (const CLI::ParseError& error) {
    throw Error(error.what());
  }
}

}  // namespace heed::cli
