// heed completions: what a shell offers when the user presses Tab.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "cli/arguments.h"
#include "cli/terminal.h"
#include "cli/verbs.h"

namespace heed::cli {

namespace {

/// In single quotes, as all three shells read them.
std::string in_quotes(std::string_view text) {
  std::string all = "'";
  for (const char c : text) all += c == '\'' ? std::string(R"('\'')") : std::string(1, c);
  return all + "'";
}

std::vector<std::string> option_names(const VerbText& verb) {
  std::vector<std::string> names;
  for (const OptionText& option : verb.options)
    if (!option.positional) names.insert(names.end(), option.names.begin(), option.names.end());
  return names;
}

/// The words of all positional ones: a verb has at most one that has any.
std::vector<std::string> positional_words(const VerbText& verb) {
  std::vector<std::string> words;
  for (const OptionText& option : verb.options)
    if (option.positional) words.insert(words.end(), option.words.begin(), option.words.end());
  return words;
}

bool takes_files(const VerbText& verb) {
  for (const OptionText& option : verb.options)
    if (option.positional && option.words.empty()) return true;
  return false;
}

// ---------------------------------------------------------------------------------------------------------------- bash

/// One line of bash that offers something. `compopt` makes a folder end with a slash, and says so only inside bash's
/// own completion.
std::string bash_words(const std::vector<std::string>& words) {
  return fmt::format(R"(mapfile -t COMPREPLY < <(compgen -P "$list" -W "{}" -- "${{word##*,}}"))",
                     fmt::join(words, " "));
}

std::string bash_files(const char* kind) {
  return fmt::format(R"(mapfile -t COMPREPLY < <(compgen {} -- "$word"); compopt -o filenames 2> /dev/null)", kind);
}

std::string bash_value(const OptionText& option) {
  if (!option.words.empty()) return bash_words(option.words);
  if (option.value == "FILE") return bash_files("-f");
  if (option.value == "FOLDER") return bash_files("-d");
  return "COMPREPLY=()";
}

std::string bash(const ProgramText& program) {
  std::vector<std::string> words;
  for (const VerbText& verb : program.verbs) words.push_back(verb.name);
  for (const OptionText& option : program.options) words.insert(words.end(), option.names.begin(), option.names.end());
  std::string text = fmt::format(R"(# Completions of heed for bash, made by `heed completions bash`.
_heed() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD - 1]}}"
  local list=""  # what stands before the last comma: --metric bleu,chrf
  [[ $word == *,* ]] && list="${{word%,*}},"
  if ((COMP_CWORD == 1)); then
    {}
    return
  fi
  case "${{COMP_WORDS[1]}}" in
)",
                                 bash_words(words));
  for (const VerbText& verb : program.verbs) {
    text += fmt::format("    {})\n      case \"$before\" in\n", verb.name);
    for (const OptionText& option : verb.options)
      if (!option.positional && !option.value.empty() && !option.value_may_be_left_out)
        text += fmt::format("        {}) {}; return ;;\n", fmt::join(option.names, "|"), bash_value(option));
    text += "      esac\n      if [[ $word == -* ]]; then\n";
    text += fmt::format("        {}\n      else\n        {}\n", bash_words(option_names(verb)),
                        takes_files(verb) ? bash_files("-f") : bash_words(positional_words(verb)));
    text += "      fi\n      ;;\n";
  }
  return text + "  esac\n}\ncomplete -F _heed heed\n";
}

// ----------------------------------------------------------------------------------------------------------------- zsh

/// What _arguments reads: brackets and colons are its own.
std::string zsh_text(std::string_view text) {
  std::string all;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') all += '\\';
    all += c;
  }
  return all;
}

std::string zsh_action(const OptionText& option) {
  if (!option.words.empty()) return fmt::format("({})", fmt::join(option.words, " "));
  if (option.value == "FOLDER") return "_files -/";
  return option.positional || option.value == "FILE" ? "_files" : "( )";
}

std::string zsh_spec(const OptionText& option, const std::string& name) {
  if (option.positional) return in_quotes(fmt::format("{}:{}:{}", option.several ? "*" : "", name, zsh_action(option)));
  std::string spec = fmt::format("{}{}[{}]", name, option.value_may_be_left_out ? "=-" : "", zsh_text(option.meaning));
  if (!option.value.empty())
    spec +=
        fmt::format("{}{}:{}", option.value_may_be_left_out ? "::" : ":", zsh_text(option.value), zsh_action(option));
  return in_quotes(spec);
}

std::string zsh(const ProgramText& program) {
  std::string text = "#compdef heed\n# Completions of heed for zsh, made by `heed completions zsh`.\n_heed() {\n";
  text += "  local -a verbs=(\n";
  for (const VerbText& verb : program.verbs)
    text += fmt::format("    {}\n", in_quotes(verb.name + ":" + zsh_text(verb.meaning)));
  text += "  )\n  if ((CURRENT == 2)); then\n    _describe verb verbs\n    _arguments";
  for (const OptionText& option : program.options)
    for (const std::string& name : option.names) text += " \\\n      " + zsh_spec(option, name);
  text += "\n    return\n  fi\n  local verb=$words[2]\n  shift words\n  ((CURRENT--))\n  case $verb in\n";
  for (const VerbText& verb : program.verbs) {
    text += fmt::format("    {})\n      _arguments", verb.name);
    for (const OptionText& option : verb.options)
      for (const std::string& name : option.names) text += " \\\n        " + zsh_spec(option, name);
    text += "\n      ;;\n";
  }
  return text + "  esac\n}\n_heed \"$@\"\n";
}

// ---------------------------------------------------------------------------------------------------------------- fish

std::string fish_option(const OptionText& option) {
  std::string text;
  for (const std::string& name : option.names)
    text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (!option.value.empty() && !option.value_may_be_left_out)
    text += option.value == "FILE" || option.value == "FOLDER" ? " -rF" : " -x";
  if (!option.words.empty()) text += " -a " + in_quotes(fmt::format("{}", fmt::join(option.words, " ")));
  return text + " -d " + in_quotes(option.meaning);
}

std::string fish(const ProgramText& program) {
  std::string text = "# Completions of heed for fish, made by `heed completions fish`.\n";
  for (const OptionText& option : program.options)
    text += "complete -c heed -n __fish_use_subcommand" + fish_option(option) + "\n";
  for (const VerbText& verb : program.verbs) {
    text +=
        fmt::format("complete -c heed -n __fish_use_subcommand -f -a {} -d {}\n", verb.name, in_quotes(verb.meaning));
    const std::string seen = fmt::format("complete -c heed -n '__fish_seen_subcommand_from {}'", verb.name);
    for (const OptionText& option : verb.options)
      if (!option.positional) text += seen + fish_option(option) + "\n";
    if (!takes_files(verb))
      text += fmt::format("{} -f -a {}\n", seen, in_quotes(fmt::format("{}", fmt::join(positional_words(verb), " "))));
  }
  return text;
}

}  // namespace

void add_completions(Program& program) {
  auto shell = std::make_shared<std::string>();
  Verb verb = program.unlisted_verb("completions", "What a shell completes after heed");
  verb.option("SHELL", *shell, "bash, zsh or fish").value("").required().one_of("shell", {"bash", "zsh", "fish"});
  verb.run([shell, &program] {
    const ProgramText text = program.text();
    print(*shell == "bash" ? bash(text) : (*shell == "zsh" ? zsh(text) : fish(text)));
  });
}

}  // namespace heed::cli
