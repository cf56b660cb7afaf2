#include "cli/errors.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/columns.h"
#include "heed/base/atomic.h"
#include "heed/text/graphemes.h"

namespace heed::cli {

namespace {

using file::Json;

constexpr const char* kColumns = "line\tsource\toutput\treference\tdifference\n";
constexpr const char* kLabelColumns = "line\ttext\tgiven\tright\tprobability\n";

WrongLine wrong_line(const Outputs& outputs, size_t i) {
  WrongLine wrong;
  wrong.index = i;
  wrong.number = outputs.lines.empty() ? static_cast<int64_t>(i) + 1 : outputs.lines[i];
  if (!outputs.sources.empty()) wrong.source = outputs.sources[i];
  wrong.output = outputs.hypotheses[i];
  if (outputs.labels) {
    wrong.reference = outputs.references[i].front();
    wrong.badness = outputs.probabilities[i];
    return wrong;
  }
  int64_t fewest = -1;
  for (size_t r = 0; r < outputs.references[i].size(); ++r) {
    const std::string& reference = outputs.references[i][r];
    const int64_t edits = metric::letter_edits(wrong.output, reference);
    if (fewest >= 0 && edits >= fewest) continue;
    fewest = edits;
    wrong.reference = reference;
    wrong.nearest = r;
  }
  const size_t letters = std::max<size_t>(1, text::graphemes_of(wrong.reference).size());
  wrong.badness = static_cast<double>(fewest) / static_cast<double>(letters);
  return wrong;
}

std::string painted_difference(const WrongLine& wrong, const Terminal& terminal) {
  if (!terminal.colour()) return metric::marked_difference(wrong.output, wrong.reference);
  std::string text;
  for (const metric::DifferencePart& part : metric::difference_of(wrong.output, wrong.reference)) {
    text += part.same;
    if (!part.too_much.empty()) text += terminal.red("[-" + part.too_much + "-]");
    if (!part.missing.empty()) text += terminal.green("{+" + part.missing + "+}");
  }
  return text;
}

std::string text_of(const WrongLine& wrong, const Errors& of, const Terminal& terminal) {
  // On a terminal, right-to-left text must not turn the rest of the line around.
  const auto shown = [&](const std::string& text) { return terminal.interactive() ? isolated(text) : text; };
  std::string text = terminal.bold(fmt::format("line {}", wrong.number)) + "\n";
  if (of.labels)
    return text + fmt::format("  text   {}\n  right  {}\n  given  {} ({:.1f} %)\n\n", shown(wrong.source),
                              shown(wrong.reference), shown(wrong.output), 100 * wrong.badness);
  if (of.have_sources) text += fmt::format("  source      {}\n", shown(wrong.source));
  return text + fmt::format("  output      {}\n  reference   {}\n  difference  {}\n\n", shown(wrong.output),
                            shown(wrong.reference), shown(painted_difference(wrong, terminal)));
}

Json json_of(const WrongLine& wrong, const Errors& of) {
  Json j = Json::object({{"line", wrong.number}});
  if (of.have_sources) j["source"] = wrong.source;
  j["output"] = wrong.output;
  j["reference"] = wrong.reference;
  if (of.labels) {
    j["probability"] = wrong.badness;
    return j;
  }
  j["difference"] = metric::marked_difference(wrong.output, wrong.reference);
  return j;
}

/// A tab in a text becomes a blank: it would start the next column.
std::string tsv_of(const WrongLine& wrong, const Errors& of) {
  const auto cell = [](std::string text) {
    std::replace(text.begin(), text.end(), '\t', ' ');
    return text;
  };
  return fmt::format("{}\t{}\t{}\t{}\t{}\n", wrong.number, cell(wrong.source), cell(wrong.output),
                     cell(wrong.reference),
                     of.labels ? fmt::format("{:.4f}", wrong.badness)
                               : cell(metric::marked_difference(wrong.output, wrong.reference)));
}

}  // namespace

std::string Errors::count() const {
  std::string text = fmt::format("{} of {} {} wrong", wrong, all, wrong == 1 ? "is" : "are");
  if (lines.size() < wrong) text += fmt::format("; the {} worst are shown", lines.size());
  return text;
}

Errors errors_of(const Outputs& outputs, const EvaluationOptions& options, int64_t most) {
  const Outputs compared = as_compared(outputs, options);
  Errors errors;
  errors.all = compared.hypotheses.size();
  errors.have_sources = !compared.sources.empty();
  errors.labels = compared.labels;
  for (size_t i = 0; i < compared.hypotheses.size(); ++i) {
    const metric::Texts& right = compared.references[i];
    if (std::find(right.begin(), right.end(), compared.hypotheses[i]) == right.end())
      errors.lines.push_back(wrong_line(compared, i));
  }
  errors.wrong = errors.lines.size();
  std::stable_sort(errors.lines.begin(), errors.lines.end(),
                   [](const WrongLine& a, const WrongLine& b) { return a.badness > b.badness; });
  if (most > 0 && errors.lines.size() > static_cast<size_t>(most)) errors.lines.resize(static_cast<size_t>(most));
  return errors;
}

std::string errors_text(const Errors& errors, const Terminal& terminal) {
  std::string text;
  for (const WrongLine& wrong : errors.lines) text += text_of(wrong, errors, terminal);
  return text + errors.count() + "\n";
}

Json errors_json(const Errors& errors) {
  Json all = Json::array();
  for (const WrongLine& wrong : errors.lines) all.push_back(json_of(wrong, errors));
  return all;
}

void write_errors(const Errors& errors, const std::string& path) {
  std::string text;
  if (path.ends_with(".tsv")) {
    text = errors.labels ? kLabelColumns : kColumns;
    for (const WrongLine& wrong : errors.lines) text += tsv_of(wrong, errors);
  } else if (path.ends_with(".jsonl")) {
    for (const WrongLine& wrong : errors.lines) text += json_of(wrong, errors).line() + "\n";
  } else {
    text = errors_text(errors, Terminal::plain());
  }
  file::write_file(path, text);
}

}  // namespace heed::cli
