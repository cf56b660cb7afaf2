#include "heed/data/dialogue.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "heed/base/error.h"
#include "heed/data/lines.h"
#include "heed/text/utf8.h"
#include "heed/text/words.h"

namespace heed::data {

std::string dialogue_context(std::span<const Turn> turns, int64_t count) {
  const size_t first = turns.size() - std::min(turns.size(), static_cast<size_t>(count));
  std::string text;
  for (const Turn& turn : turns.subspan(first))
    text.append(text.empty() ? "" : " ").append(turn.mine ? kMe : kYou).append(" ").append(turn.text);
  return text;
}

namespace {

struct Said {
  std::string who, text;
  int64_t line = 0;
};

/// As those of `answer` hears them.
std::vector<Turn> heard_by(const Said& answer, std::span<const Said> before) {
  std::vector<Turn> turns;
  for (const Said& each : before) turns.push_back({.mine = each.who == answer.who, .text = each.text});
  return turns;
}

Said said_in(std::string_view line, size_t number_in_dialogue, int64_t number) {
  const size_t tab = line.find('\t');
  if (tab != std::string_view::npos)
    return {std::string(line.substr(0, tab)), std::string(line.substr(tab + 1)), number};
  return {number_in_dialogue % 2 == 0 ? "first" : "second", std::string(line), number};
}

std::string wrong_with(const std::string& text, int64_t most_characters) {
  if (most_characters > 0 && static_cast<int64_t>(text::utf8_count(text)) > most_characters)
    return fmt::format("{} characters", text::utf8_count(text));
  return "";
}

}  // namespace

Pairs read_dialogues(const PairFiles& files, Report& report) {
  expect(files.turns > 0, ErrorKind::data, "data.turns must be above 0 for a file of dialogues, not {}", files.turns);
  LineReader lines(files.tsv);
  Pairs pairs;
  std::vector<Said> dialogue;
  std::string line;
  while (lines.next(line)) {
    const size_t fault = text::utf8_fault(line);
    if (fault == std::string_view::npos && text::is_blank(line)) {
      dialogue.clear();
      continue;
    }
    if (fault != std::string_view::npos) {
      report.drop(Fault::invalid_utf8, lines.number(), fmt::format("byte {}", fault + 1));
      dialogue.clear();  // what follows would be an answer to something else
      continue;
    }
    Said said = said_in(line, dialogue.size(), lines.number());
    if (text::is_blank(said.text)) {
      report.drop(Fault::empty, lines.number(), "nothing is said");
      continue;
    }
    if (!dialogue.empty()) {
      const std::string context = dialogue_context(heard_by(said, dialogue), files.turns);
      std::string wrong = wrong_with(context, files.max_characters);
      if (wrong.empty()) wrong = wrong_with(said.text, files.max_characters);
      if (wrong.empty()) {
        pairs.add(context, said.text, said.line);
        report.keep();
      } else {
        report.drop(Fault::too_long, said.line, std::move(wrong));
      }
    }
    dialogue.push_back(std::move(said));
  }
  return pairs;
}

}  // namespace heed::data
