// As tercom does it (Snover et al. 2006), with the limits and the order of preference of sacreBLEU, on which the
// numbers depend: as long as it lowers the edit distance, make the shift that lowers it most.
#include "heed/text/metric/ter_edits.h"

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
constexpr int64_t kFarthestShift = 50;     // words between its position and that in the reference
constexpr int64_t kMostCandidates = 1000;  // shifts tried per hypothesis
constexpr int64_t kBeam = 25;              // cells before and after the diagonal
constexpr int32_t kOutsideBand = std::numeric_limits<int32_t>::max() / 2;

/// Levenshtein's table, rows for words of the hypothesis, columns for those of the reference. (edit_distance.h finds
/// the smallest distance and keeps no table. Here the path through the table is needed, and TER's band, which may miss
/// the smallest distance, is part of its definition.) Of each row only the cells near the diagonal exist, so that the
/// memory grows with the length of the texts and not with its square; of the first and the last row there are more.
class TerTable {
 public:
  TerTable(int64_t hypothesis, View reference)
      : reference_(reference), rows_(hypothesis), columns_(static_cast<int64_t>(reference.size())) {
    // How far the diagonal goes with each row. Where that is more than the beam is wide, a wider beam.
    slope_ = rows_ > 0 ? static_cast<double>(columns_) / static_cast<double>(rows_) : 1.0;
    if (slope_ / 2 > static_cast<double>(kBeam)) beam_ = std::llround(std::ceil(slope_ / 2 + kBeam));
    begins_.reserve(static_cast<size_t>(rows_) + 2);
    begins_.push_back(0);
    bands_.push_back({0, columns_ + 1});
    for (int64_t i = 1; i <= rows_; ++i) {
      const auto diagonal = static_cast<int64_t>(std::floor(static_cast<double>(i) * slope_));
      begins_.push_back(begins_.back() + bands_.back().end - bands_.back().begin);
      bands_.push_back({std::max<int64_t>(0, diagonal - beam_),
                        i == rows_ ? columns_ + 1 : std::min(columns_ + 1, diagonal + beam_)});
    }
    cells_.assign(static_cast<size_t>(begins_.back() + bands_.back().end - bands_.back().begin), kOutsideBand);
    for (int64_t j = 0; j <= columns_; ++j) cells_[static_cast<size_t>(j)] = static_cast<int32_t>(j);
  }

  /// The rows after `known`.
  void fill(View hypothesis, int64_t known) {
    for (int64_t i = known + 1; i <= rows_; ++i) fill_row(hypothesis[static_cast<size_t>(i - 1)], i);
  }

  /// The edits of a hypothesis that differs from that of `other` in its words [known, same) alone. The contents of this
  /// table are undefined afterwards.
  int32_t edits_after(const TerTable& other, View hypothesis, int64_t known, int64_t same) {
    constexpr int64_t kBetweenLooks = 16;
    std::copy_n(other.row(known), width(known), row(known));
    for (int64_t i = known + 1; i <= rows_; ++i) {
      fill_row(hypothesis[static_cast<size_t>(i - 1)], i);
      // Rows that differ by a constant stay so as long as the words are the same.
      if (i < same || (i - same) % kBetweenLooks != 0) continue;
      if (const std::optional<int32_t> ahead = ahead_of(other, i)) return other.edits() + *ahead;
    }
    return edits();
  }

  int32_t edits() const { return cells_.back(); }
  int32_t at(int64_t i, int64_t j) const {
    const Band& band = bands_[static_cast<size_t>(i)];
    return j < band.begin || j >= band.end ? kOutsideBand : row(i)[j - band.begin];
  }
  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }

 private:
  struct Band {
    int64_t begin = 0, end = 0;  // columns
  };

  int64_t width(int64_t i) const { return bands_[static_cast<size_t>(i)].end - bands_[static_cast<size_t>(i)].begin; }
  const int32_t* row(int64_t i) const { return &cells_[static_cast<size_t>(begins_[static_cast<size_t>(i)])]; }
  int32_t* row(int64_t i) { return &cells_[static_cast<size_t>(begins_[static_cast<size_t>(i)])]; }

  void fill_row(int32_t word, int64_t i) {
    const Band band = bands_[static_cast<size_t>(i)], before = bands_[static_cast<size_t>(i - 1)];
    const int32_t* above = row(i - 1);
    int32_t* here = row(i);
    const auto above_at = [&](int64_t j) {
      return j < before.begin || j >= before.end ? kOutsideBand : above[j - before.begin];
    };
    int32_t left = kOutsideBand;
    for (int64_t j = band.begin; j < band.end; ++j) {
      int32_t best = std::min(above_at(j), left) + 1;
      if (j > 0) best = std::min(best, above_at(j - 1) + (word == reference_[static_cast<size_t>(j - 1)] ? 0 : 1));
      *here++ = left = best;
    }
  }

  /// By how many edits every cell of a row is more than in another table; none where that differs from cell to cell.
  std::optional<int32_t> ahead_of(const TerTable& other, int64_t i) const {
    const int32_t* mine = row(i);
    const int32_t* its = other.row(i);
    std::optional<int32_t> ahead;
    for (int64_t n = 0; n < width(i); ++n) {
      if (mine[n] >= kOutsideBand && its[n] >= kOutsideBand) continue;
      if (!ahead) ahead = mine[n] - its[n];
      if (mine[n] - its[n] != *ahead) return {};
    }
    return ahead;
  }

  View reference_;
  int64_t rows_, columns_;
  std::vector<Band> bands_;      // of each row
  std::vector<int64_t> begins_;  // of each row in cells_
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

/// From end to start; in a tie: keep or replace, then remove, then add.
Alignment alignment_of(const TerTable& table, View hypothesis, View reference) {
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

/// Moves `length` words from `from` to before the word that is now at `to`.
struct Shift {
  int64_t gain = 0;  // edits that it saves
  int64_t length = 0, from = 0, to = 0;

  /// More gain is better, then a longer one, then from further left, then to further left.
  bool operator>(const Shift& other) const {
    return std::tuple(gain, length, -from, -to) > std::tuple(other.gain, other.length, -other.from, -other.to);
  }
  /// Of `words` in all, those before first_change() and from end_of_change() on stay where they are.
  int64_t first_change() const { return std::min(from, to); }
  int64_t end_of_change(int64_t words) const {
    if (to < from) return from + length;
    // A target inside the run itself means over as many of the words after it.
    return std::min(to > from + length ? to : to + length, words);
  }
};

void make(const Shift& shift, Words& words) {
  const auto begin = words.begin() + shift.from, end = begin + shift.length;
  if (shift.to < shift.from)
    std::rotate(words.begin() + shift.to, begin, end);
  else
    std::rotate(begin, end, words.begin() + shift.end_of_change(static_cast<int64_t>(words.size())));
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
      shift.gain = table_.edits() - trial_table_.edits_after(table_, trial_, shift.first_change(),
                                                             shift.end_of_change(std::ssize(words_)));
      ++tried_;
      if (!best || shift > *best) best = shift;
    }
  }

  Words words_, trial_;
  View reference_;
  TerTable table_, trial_table_;
  int64_t tried_ = 0;
};

}  // namespace

int64_t ter_edits(std::span<const int32_t> hypothesis, std::span<const int32_t> reference) {
  if (reference.empty()) return static_cast<int64_t>(hypothesis.size());
  return Search(hypothesis, reference).edits();
}

}  // namespace heed::metric
