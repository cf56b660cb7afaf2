#include "heed/metric/edit_distance.h"

#include <vector>

namespace heed::metric {

namespace {

/// Fewer edits are better; of as many, more substitutions.
bool better(const Edits& a, const Edits& b) {
  return a.total() != b.total() ? a.total() < b.total() : a.substitutions > b.substitutions;
}

template <class Token>
Edits distance(std::span<const Token> reference, std::span<const Token> hypothesis) {
  // row[j]: from the first i tokens of the reference to the first j of the hypothesis.
  std::vector<Edits> row(hypothesis.size() + 1);
  for (size_t j = 0; j < row.size(); ++j) row[j].insertions = static_cast<int64_t>(j);
  for (size_t i = 1; i <= reference.size(); ++i) {
    Edits diagonal = row[0];
    row[0].deletions = static_cast<int64_t>(i);
    for (size_t j = 1; j < row.size(); ++j) {
      Edits best = diagonal;
      if (reference[i - 1] != hypothesis[j - 1]) ++best.substitutions;
      Edits deleted = row[j];
      ++deleted.deletions;
      Edits inserted = row[j - 1];
      ++inserted.insertions;
      if (better(deleted, best)) best = deleted;
      if (better(inserted, best)) best = inserted;
      diagonal = row[j];
      row[j] = best;
    }
  }
  return row.back();
}

}  // namespace

Edits& Edits::operator+=(const Edits& other) {
  substitutions += other.substitutions;
  insertions += other.insertions;
  deletions += other.deletions;
  return *this;
}

Edits edit_distance(std::span<const int32_t> reference, std::span<const int32_t> hypothesis) {
  return distance(reference, hypothesis);
}

Edits edit_distance(std::span<const std::string_view> reference, std::span<const std::string_view> hypothesis) {
  return distance(reference, hypothesis);
}

}  // namespace heed::metric
