#include "heed/decode/groups.h"

#include "heed/tensor/error.h"

namespace heed::decode {

Groups::Groups(const Offsets& memory) : memory_(memory.at, memory.at + memory.count + 1) {
  for (int64_t b = 1; b <= memory.count; ++b) rows_.push_back(b);
}

Selection Groups::select(std::span<const int64_t> rows) {
  std::vector<int64_t> sentence_of;
  for (int64_t g = 0; g < sentences(); ++g) sentence_of.insert(sentence_of.end(), rows_[g + 1] - rows_[g], g);

  Selection s;
  s.rows = rows;
  s.row_offsets = rows_;
  s.memory_offsets = memory_;
  s.next_memory_offsets = {0};
  for (size_t i = 0; i < rows.size(); ++i) {
    expect(rows[i] >= 0 && rows[i] < row_count(), "select: row {} of {}", rows[i], row_count());
    const int64_t sentence = sentence_of[static_cast<size_t>(rows[i])];
    if (!s.sentences.empty() && s.sentences.back() == sentence) continue;
    s.sentences.push_back(sentence);
    s.next_row_offsets.push_back(static_cast<int64_t>(i));
    s.next_memory_offsets.push_back(s.next_memory_offsets.back() + memory_[sentence + 1] - memory_[sentence]);
  }
  s.next_row_offsets.push_back(static_cast<int64_t>(rows.size()));
  s.same_sentences = static_cast<int64_t>(s.sentences.size()) == sentences();
  for (size_t g = 0; g < s.sentences.size(); ++g) s.same_sentences &= s.sentences[g] == static_cast<int64_t>(g);
  if (!s.same_sentences)
    for (const int64_t sentence : s.sentences)
      for (int64_t t = memory_[sentence]; t < memory_[sentence + 1]; ++t) s.tokens.push_back(t);
  rows_ = s.next_row_offsets;
  memory_ = s.next_memory_offsets;
  return s;
}

}  // namespace heed::decode
