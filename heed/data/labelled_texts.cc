#include "heed/data/labelled_texts.h"

#include <algorithm>

namespace heed::data {

void LabelledTexts::add(std::span<const int32_t> tokens, std::span<const int32_t> lengths, int32_t label,
                        int64_t line) {
  tokens_.add(tokens);
  lengths_.add(lengths);
  label_.push_back(label);
  line_.push_back(line);
}

int64_t LabelledTexts::longest_sequence(int64_t i) const {
  const std::span<const int32_t> lengths = sentence_lengths(i);
  const int64_t longest = lengths.empty() ? 0 : *std::max_element(lengths.begin(), lengths.end());
  return std::max(longest, std::ssize(lengths));
}

std::vector<Batch> LabelledTexts::batches(const BatchOptions& options, int64_t epoch) const {
  Lengths lengths;
  for (int64_t i = 0; i < size(); ++i) {
    lengths.source.push_back(tokens_.length(i));
    lengths.target.push_back(1);
  }
  return make_batches(lengths, options, epoch);
}

std::unique_ptr<PackedBatch> LabelledTexts::pack(std::span<const int64_t> examples) const {
  auto batch = std::make_unique<PackedTexts>();
  for (const int64_t i : examples) {
    batch->tokens.insert(batch->tokens.end(), tokens_[i].begin(), tokens_[i].end());
    for (const int32_t length : sentence_lengths(i)) batch->sentences.push_back(batch->sentences.back() + length);
    batch->texts.push_back(std::ssize(batch->sentences) - 1);
    batch->labels.push_back(label(i));
    batch->predictions.push_back(std::ssize(batch->labels));
  }
  return batch;
}

}  // namespace heed::data
