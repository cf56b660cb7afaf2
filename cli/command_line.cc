#include "cli/command_line.h"

#include <algorithm>

#include "cli/options.h"

namespace heed::cli {

namespace {

OptionText text_of(const CLI::Option& option) {
  OptionText text;
  text.meaning = option.get_description();
  text.positional = option.get_positional();
  text.required = option.get_required();
  text.several = option.get_expected_max() > 1;
  if (text.positional) text.names.push_back(option.get_name(true));
  for (const std::string& name : option.get_snames()) text.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) text.names.push_back("--" + name);
  const auto words = offered(&option);
  text.words.assign(words.begin(), words.end());
  const bool is_switch = option.get_items_expected_max() == 0;
  text.value_may_be_left_out = is_switch && !words.empty();
  if (text.value_may_be_left_out) text.value = "KIND";
  if (!is_switch && !text.positional) text.value = option.get_type_name();
  text.value = text.value.substr(0, text.value.find(':'));  // CLI11 puts the range behind it
  return text;
}

std::vector<OptionText> texts_of(const CLI::App& app) {
  std::vector<OptionText> texts;
  for (const CLI::Option* option : app.get_options()) texts.push_back(text_of(*option));
  std::stable_partition(texts.begin(), texts.end(), [](const OptionText& o) { return o.positional; });
  return texts;
}

}  // namespace

ProgramText program_text(const CLI::App& app) {
  ProgramText program{app.get_description(), app.get_footer(), texts_of(app), {}};
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App* v) { return !v->get_group().empty(); }))
    program.verbs.push_back({verb->get_name(), verb->get_description(), verb->get_footer(), texts_of(*verb)});
  return program;
}

}  // namespace heed::cli
