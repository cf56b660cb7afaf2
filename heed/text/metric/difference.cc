// The way from one text to the other follows from edit_distance() of what is left of both: an edit is on a shortest way
// if one edit fewer is left behind it. That asks again for every edit, and keeps no table.
#include "heed/text/metric/difference.h"

#include <algorithm>
#include <span>
#include <unordered_map>

#include "heed/text/graphemes.h"
#include "heed/text/metric/edit_distance.h"

namespace heed::metric {

namespace {

/// Letters times edits times edits: about what the way costs. A line of 1000 letters that are all wrong is below it.
constexpr double kMostWork = 1e9;

using Letters = std::vector<std::string_view>;
using LettersLeft = std::span<const int32_t>;

struct BothTexts {
  Letters output, reference;
  std::vector<int32_t> output_ids, reference_ids;  // the same letter, the same number

  BothTexts(std::string_view o, std::string_view r) : output(text::graphemes_of(o)), reference(text::graphemes_of(r)) {
    std::unordered_map<std::string_view, int32_t> ids;
    for (auto [letters, numbers] : {std::pair{&output, &output_ids}, std::pair{&reference, &reference_ids}})
      for (const std::string_view letter : *letters)
        numbers->push_back(ids.try_emplace(letter, static_cast<int32_t>(ids.size())).first->second);
  }
};

int64_t edits_left(LettersLeft reference, LettersLeft output) { return edit_distance(reference, output).total(); }

/// Joins what belongs together.
class Parts {
 public:
  void keep(std::string_view letter) {
    if (all_.empty() || all_.back().same.empty()) all_.emplace_back();
    all_.back().same += letter;
  }
  void too_much(std::string_view letter) { edited().too_much += letter; }
  void missing(std::string_view letter) { edited().missing += letter; }
  std::vector<DifferencePart> take() { return std::move(all_); }

 private:
  DifferencePart& edited() {
    if (all_.empty() || !all_.back().same.empty()) all_.emplace_back();
    return all_.back();
  }
  std::vector<DifferencePart> all_;
};

}  // namespace

int64_t letter_edits(std::string_view output, std::string_view reference) {
  const BothTexts t(output, reference);
  return edits_left(t.reference_ids, t.output_ids);
}

std::vector<DifferencePart> difference_of(std::string_view output, std::string_view reference) {
  const BothTexts t(output, reference);
  const LettersLeft said = t.output_ids, wanted = t.reference_ids;
  int64_t left = edits_left(wanted, said);
  const auto length = static_cast<double>(std::max(said.size(), wanted.size()));
  const bool too_long = length * static_cast<double>(left) * static_cast<double>(left) > kMostWork;
  Parts parts;
  size_t o = 0, r = 0;
  for (; o < said.size() && r < wanted.size();) {
    if (said[o] == wanted[r]) {  // to keep it is always on a shortest way
      parts.keep(t.output[o++]);
      ++r;
      continue;
    }
    if (too_long) break;
    const auto leads_on = [&](size_t more_r, size_t more_o) {
      return edits_left(wanted.subspan(r + more_r), said.subspan(o + more_o)) == left - 1;
    };
    const bool replaced = leads_on(1, 1);
    const bool added = replaced || leads_on(0, 1);
    if (added) parts.too_much(t.output[o++]);
    if (replaced || !added) parts.missing(t.reference[r++]);
    --left;
  }
  size_t o_end = said.size(), r_end = wanted.size();
  while (o_end > o && r_end > r && said[o_end - 1] == wanted[r_end - 1]) --o_end, --r_end;
  for (; o < o_end; ++o) parts.too_much(t.output[o]);
  for (; r < r_end; ++r) parts.missing(t.reference[r]);
  for (; o < said.size(); ++o) parts.keep(t.output[o]);
  return parts.take();
}

std::string marked_difference(std::string_view output, std::string_view reference) {
  std::string text;
  for (const DifferencePart& part : difference_of(output, reference)) {
    text += part.same;
    if (!part.too_much.empty()) text.append("[-").append(part.too_much).append("-]");
    if (!part.missing.empty()) text.append("{+").append(part.missing).append("+}");
  }
  return text;
}

}  // namespace heed::metric
