// Cells of the table on one antidiagonal do not depend on each other, so several are computed at once; only three
// antidiagonals are kept. Of these only a band around the main diagonal is looked at, as wide as the edits that are
// allowed (Ukkonen 1985): more are allowed until that is enough, so texts that are nearly the same take little time.
#include "heed/text/metric/edit_distance.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <unordered_map>
#include <vector>

namespace heed::metric {

namespace {

// Fewer edits are better; of as many, fewer insertions and deletions, which is more substitutions. As one number, exact
// up to 2^26 tokens (a line has at most 2^26 bytes). A double, since every CPU has a minimum of several of them.
constexpr double kGap = 1.0;               // an insertion or a deletion, beside being an edit
constexpr double kEdit = double{1 << 26};  // more than all gaps together
constexpr double kUnreached = 1e300;

/// Cells of an antidiagonal from the two before it, and the tokens that meet in each.
struct DiagonalCells {
  int64_t count;
  double* cells;
  const double* replaced;  // of the antidiagonal two before: one token stands for the other
  const double* gaps;      // of the one before, and one cell more: an insertion or a deletion
  const double* reference;
  const double* hypothesis;
};

void fill(const DiagonalCells& d) {
  double* __restrict cells = d.cells;
  const double* __restrict replaced = d.replaced;
  const double* __restrict gaps = d.gaps;
  const double* __restrict reference = d.reference;
  const double* __restrict hypothesis = d.hypothesis;
  const int64_t count = d.count;
#pragma omp simd
  for (int64_t n = 0; n < count; ++n) {
    const double diagonal = replaced[n] + (reference[n] == hypothesis[n] ? 0.0 : kEdit);
    const double gap = std::min(gaps[n], gaps[n + 1]) + (kEdit + kGap);
    cells[n] = std::min(diagonal, gap);
  }
}

/// The cell of the first i tokens of the reference and the first j of the hypothesis is on antidiagonal i + j, at i.
class Table {
 public:
  /// The hypothesis is stored in reverse: on an antidiagonal, i and j move in opposite directions.
  Table(std::span<const double> reference, std::span<const double> reversed_hypothesis)
      : reference_(reference), hypothesis_(reversed_hypothesis) {}

  /// The lowest cost with at most `most` edits; if there is none, a cost of more edits than that.
  double cost(int64_t most) {
    const int64_t rows = std::ssize(reference_), columns = std::ssize(hypothesis_);
    // What one text is longer than the other is the difference of the two.
    const int64_t insertions = (most + columns - rows) / 2, deletions = (most + rows - columns) / 2;
    for (std::vector<double>& diagonal : diagonals_) diagonal.assign(static_cast<size_t>(rows) + 3, kUnreached);
    for (int64_t d = 0; d <= rows + columns; ++d) {
      int64_t first = std::max({int64_t{0}, d - columns, (d - insertions + 1) / 2});
      int64_t last = std::min({rows, d, (d + deletions) / 2});
      double* cells = diagonal(d);
      const double *before = diagonal(d + 2), *before_that = diagonal(d + 1);  // d - 1 and d - 2, of three
      // Next to the band there are still values of antidiagonal d - 3.
      cells[first - 1] = cells[last + 1] = kUnreached;
      const double only_gaps = static_cast<double>(d) * (kEdit + kGap);
      if (first == 0) cells[first++] = only_gaps;
      if (last == d && last >= first) cells[last--] = only_gaps;
      if (first <= last)
        fill({.count = last - first + 1,
              .cells = cells + first,
              .replaced = before_that + first - 1,
              .gaps = before + first - 1,
              .reference = reference_.data() + first - 1,
              .hypothesis = hypothesis_.data() + (columns - d + first)});
    }
    return diagonal(rows + columns)[rows];
  }

 private:
  double* diagonal(int64_t d) { return diagonals_[static_cast<size_t>(d % 3)].data() + 1; }

  std::span<const double> reference_, hypothesis_;
  std::array<std::vector<double>, 3> diagonals_;
};

/// Tokens as numbers.
Edits distance(std::span<const double> reference, std::span<const double> hypothesis) {
  // A common prefix and suffix can always be kept.
  while (!reference.empty() && !hypothesis.empty() && reference.front() == hypothesis.front())
    reference = reference.subspan(1), hypothesis = hypothesis.subspan(1);
  while (!reference.empty() && !hypothesis.empty() && reference.back() == hypothesis.back())
    reference = reference.first(reference.size() - 1), hypothesis = hypothesis.first(hypothesis.size() - 1);
  const int64_t rows = std::ssize(reference), columns = std::ssize(hypothesis);
  const int64_t longer = columns - rows, longest = std::max(rows, columns);
  if (rows == 0) return {0, columns, 0};
  if (columns == 0) return {0, 0, rows};

  const std::vector<double> reversed(hypothesis.rbegin(), hypothesis.rend());
  Table table(reference, reversed);
  constexpr int64_t kFirst = 64, kFactor = 4;
  for (int64_t most = std::max(kFirst, std::abs(longer));; most *= kFactor) {
    most = std::min(most, longest);  // always enough
    const double cost = table.cost(most);
    const auto edits = static_cast<int64_t>(cost / kEdit);
    if (edits > most) continue;
    const auto gaps = static_cast<int64_t>(cost - static_cast<double>(edits) * kEdit);
    return {edits - gaps, (gaps + longer) / 2, (gaps - longer) / 2};
  }
}

}  // namespace

Edits& Edits::operator+=(const Edits& other) {
  substitutions += other.substitutions;
  insertions += other.insertions;
  deletions += other.deletions;
  return *this;
}

Edits edit_distance(std::span<const int32_t> reference, std::span<const int32_t> hypothesis) {
  return distance(std::vector<double>(reference.begin(), reference.end()),
                  std::vector<double>(hypothesis.begin(), hypothesis.end()));
}

Edits edit_distance(std::span<const std::string_view> reference, std::span<const std::string_view> hypothesis) {
  std::unordered_map<std::string_view, double> numbers;
  const auto numbered = [&](std::span<const std::string_view> tokens) {
    std::vector<double> all;
    all.reserve(tokens.size());
    for (const std::string_view token : tokens)
      all.push_back(numbers.try_emplace(token, static_cast<double>(numbers.size())).first->second);
    return all;
  };
  const std::vector<double> wanted = numbered(reference), said = numbered(hypothesis);
  return distance(wanted, said);
}

}  // namespace heed::metric
