// As tercom does it (Snover et al. 2006), with the limits and the order of preference of sacreBLEU, on which the
// numbers depend: as long as it lowers the edit distance, make the shift that lowers it most.
#include "heed/metric/ter_edits.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <tuple>
#include <vector>

namespace heed::metric {

namespace {

using Words = std::vector<int32_t>;
using View = std::span<const int32_t>;

constexpr int64_t kLongestShift = 10;      // words
constexpr int64_t kFarthestShift = 50;     // words between where it stands and where the reference has it
constexpr int64_t kMostCandidates = 1000;  // shifts tried per hypothesis
constexpr int64_t kBeam = 25;              // cells before and behind the diagonal
constexpr int32_t kUnreached = std::numeric_limits<int32_t>::max() / 2;

/// Levenshtein's table, rows for words of the hypothesis, columns for those of the reference; of each row only the
/// cells near the diagonal are written. The first `rows` words of a hypothesis decide on the first `rows` rows.
class Table {
 public:
  Table(int64_t hypothesis, View reference)
      : reference_(reference),
        rows_(hypothesis),
        columns_(static_cast<int64_t>(reference.size())),
        cells_(static_cast<size_t>((rows_ + 1) * (columns_ + 1)), kUnreached) {
    for (int64_t j = 0; j <= columns_; ++j) cell(0, j) = static_cast<int32_t>(j);
    // How far the diagonal goes with each row. Where that is more than the beam is wide, a wider beam.
    slope_ = rows_ > 0 ? static_cast<double>(columns_) / static_cast<double>(rows_) : 1.0;
    if (slope_ / 2 > static_cast<double>(kBeam)) beam_ = std::llround(std::ceil(slope_ / 2 + kBeam));
  }

  /// The rows after `known`.
  void fill(View hypothesis, int64_t known) {
    for (int64_t i = known + 1; i <= rows_; ++i) fill_row(hypothesis[static_cast<size_t>(i - 1)], i);
  }

  /// As fill(); the rows up to `known` are those of `other`, and only the last of them is looked at.
  void fill_after(const Table& other, View hypothesis, int64_t known) {
    std::copy_n(other.cells_.begin() + known * (columns_ + 1), columns_ + 1, cells_.begin() + known * (columns_ + 1));
    fill(hypothesis, known);
  }

  int32_t edits() const { return cells_.back(); }
  int32_t at(int64_t i, int64_t j) const { return cells_[static_cast<size_t>(i * (columns_ + 1) + j)]; }
  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }

 private:
  int32_t& cell(int64_t i, int64_t j) { return cells_[static_cast<size_t>(i * (columns_ + 1) + j)]; }

  void fill_row(int32_t word, int64_t i) {
    const auto diagonal = static_cast<int64_t>(std::floor(static_cast<double>(i) * slope_));
    const int64_t begin = std::max<int64_t>(0, diagonal - beam_);
    const int64_t end = i == rows_ ? columns_ + 1 : std::min(columns_ + 1, diagonal + beam_);
    const int32_t* above = &cell(i - 1, 0);
    int32_t* row = &cell(i, 0);
    if (begin == 0) row[0] = above[0] + 1;
    for (int64_t j = std::max<int64_t>(1, begin); j < end; ++j) {
      const int32_t replaced = above[j - 1] + (word == reference_[static_cast<size_t>(j - 1)] ? 0 : 1);
      row[j] = std::min({replaced, above[j] + 1, row[j - 1] + 1});
    }
  }

  View reference_;
  int64_t rows_, columns_;
  std::vector<int32_t> cells_;
  double slope_ = 1;
  int64_t beam_ = kBeam;
};

/// Which words belong together, read from a table.
struct Alignment {
  std::vector<int64_t> place;  // for each word of the reference: where the last word up to it stands, -1: before all
  // How many of the first i words are not right: [words + 1].
  std::vector<int64_t> hypothesis_faults, reference_faults;

  static bool any(const std::vector<int64_t>& faults, int64_t begin, int64_t length) {
    return faults[static_cast<size_t>(begin + length)] > faults[static_cast<size_t>(begin)];
  }
};

/// From the end to the beginning; of ways with as many edits: keep or replace, then remove, then add.
Alignment alignment_of(const Table& table, View hypothesis, View reference) {
  Alignment a;
  a.place.resize(reference.size());
  a.hypothesis_faults.assign(hypothesis.size() + 1, 0);
  a.reference_faults.assign(reference.size() + 1, 0);
  for (int64_t i = table.rows(), j = table.columns(); i > 0 || j > 0;) {
    const auto h = static_cast<size_t>(i), r = static_cast<size_t>(j);
    const int32_t here = table.at(i, j);
    const int32_t differs = i > 0 && j > 0 && hypothesis[h - 1] != reference[r - 1] ? 1 : 0;
    if (i > 0 && j > 0 && table.at(i - 1, j - 1) + differs == here) {
      a.place[r - 1] = i - 1;
      a.hypothesis_faults[h] = a.reference_faults[r] = differs;
      --i, --j;
    } else if (i > 0 && (j == 0 || table.at(i - 1, j) + 1 == here)) {
      a.hypothesis_faults[h] = 1;
      --i;
    } else {
      a.place[r - 1] = i - 1;
      a.reference_faults[r] = 1;
      --j;
    }
  }
  for (auto* faults : {&a.hypothesis_faults, &a.reference_faults})
    for (size_t i = 1; i < faults->size(); ++i) (*faults)[i] += (*faults)[i - 1];
  return a;
}

/// `length` words from `from` stand then before the word that is at `to` now.
struct Shift {
  int64_t gain = 0;  // edits that it saves
  int64_t length = 0, from = 0, to = 0;

  /// More gain is better, then a longer one, then from further left, then to further left.
  bool operator>(const Shift& other) const {
    return std::tuple(gain, length, -from, -to) > std::tuple(other.gain, other.length, -other.from, -other.to);
  }
  int64_t first_change() const { return std::min(from, to); }
};

void make(const Shift& shift, Words& words) {
  const auto begin = words.begin() + shift.from, end = begin + shift.length;
  if (shift.to < shift.from) {
    std::rotate(words.begin() + shift.to, begin, end);
    return;
  }
  // To a place inside itself means over as many of the words behind it.
  const int64_t to = shift.to > shift.from + shift.length ? shift.to : shift.to + shift.length;
  std::rotate(begin, end, words.begin() + std::min(to, static_cast<int64_t>(words.size())));
}

class Search {
 public:
  Search(View hypothesis, View reference)
      : words_(hypothesis.begin(), hypothesis.end()),
        reference_(reference),
        table_(static_cast<int64_t>(hypothesis.size()), reference),
        trial_table_(table_) {
    table_.fill(words_, 0);
  }

  int64_t edits() {
    int64_t shifts = 0;
    while (true) {
      const std::optional<Shift> best = best_shift();
      if (tried_ >= kMostCandidates || !best || best->gain <= 0) break;
      make(*best, words_);
      table_.fill(words_, best->first_change());
      ++shifts;
    }
    return shifts + table_.edits();
  }

 private:
  /// All runs that both have, where the hypothesis is wrong here and the reference is not met there.
  std::optional<Shift> best_shift() {
    const Alignment alignment = alignment_of(table_, words_, reference_);
    const auto said = static_cast<int64_t>(words_.size()), right = static_cast<int64_t>(reference_.size());
    std::optional<Shift> best;
    for (int64_t h = 0; h < said; ++h) {
      const int64_t end = std::min(right, h + kFarthestShift + 1);
      for (int64_t r = std::max<int64_t>(0, h - kFarthestShift); r < end; ++r) {
        const int64_t longest = std::min({kLongestShift, said - h, right - r});
        for (int64_t length = 1; length <= longest && same(h + length - 1, r + length - 1); ++length) {
          if (!Alignment::any(alignment.hypothesis_faults, h, length)) continue;
          if (!Alignment::any(alignment.reference_faults, r, length)) continue;
          const int64_t place = alignment.place[static_cast<size_t>(r)];
          if (place >= h && place < h + length) continue;  // would move inside itself
          try_places({.gain = 0, .length = length, .from = h, .to = 0}, r, alignment, best);
          if (tried_ >= kMostCandidates) return best;
        }
      }
    }
    return best;
  }

  bool same(int64_t h, int64_t r) const { return words_[static_cast<size_t>(h)] == reference_[static_cast<size_t>(r)]; }

  /// Behind what is aligned with the word before the run in the reference, or with any word of the run.
  void try_places(Shift shift, int64_t r, const Alignment& alignment, std::optional<Shift>& best) {
    int64_t last = -1;
    for (int64_t k = r - 1; k < r + shift.length; ++k) {
      shift.to = k < 0 ? 0 : alignment.place[static_cast<size_t>(k)] + 1;
      if (shift.to == last) continue;
      last = shift.to;
      trial_ = words_;
      make(shift, trial_);
      trial_table_.fill_after(table_, trial_, shift.first_change());
      shift.gain = table_.edits() - trial_table_.edits();
      ++tried_;
      if (!best || shift > *best) best = shift;
    }
  }

  Words words_, trial_;
  View reference_;
  Table table_, trial_table_;
  int64_t tried_ = 0;
};

}  // namespace

int64_t ter_edits(std::span<const int32_t> hypothesis, std::span<const int32_t> reference) {
  if (reference.empty()) return static_cast<int64_t>(hypothesis.size());
  return Search(hypothesis, reference).edits();
}

}  // namespace heed::metric
