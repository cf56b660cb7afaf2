#include "heed/data/labelled_texts.h"

#include <algorithm>

namespace heed::data {

namespace {

/// One more sequence at the end of packed ones.
void append(std::span<const int32_t> ids, std::vector<int32_t>& all, std::vector<int64_t>& offsets) {
  all.insert(all.end(), ids.begin(), ids.end());
  offsets.push_back(std::ssize(all));
}

}  // namespace

void LabelledTexts::add(const LabelledText& text) {
  tokens_.add(text.tokens);
  lengths_.add(text.lengths);
  second_.add(text.second);
  labels_.add(text.labels);
  weight_.push_back(text.weight);
  line_.push_back(text.line);
}

LabelledText LabelledTexts::operator[](int64_t i) const {
  return {.tokens = tokens_[i],
          .lengths = lengths_[i],
          .second = second_[i],
          .labels = labels_[i],
          .weight = weight_[static_cast<size_t>(i)],
          .line = line_number(i)};
}

int64_t LabelledTexts::longest_sequence(int64_t i) const {
  const std::span<const int32_t> lengths = lengths_[i];
  const int64_t longest = lengths.empty() ? 0 : *std::max_element(lengths.begin(), lengths.end());
  return std::max({longest, std::ssize(lengths), second_.length(i)});
}

std::vector<Batch> LabelledTexts::batches(const BatchOptions& options, int64_t epoch) const {
  Lengths lengths;
  for (int64_t i = 0; i < size(); ++i) {
    lengths.source.push_back(tokens_.length(i) + second_.length(i));
    lengths.target.push_back(1);
  }
  return make_batches(lengths, options, epoch);
}

std::unique_ptr<PackedBatch> LabelledTexts::pack(std::span<const int64_t> examples) const {
  auto batch = std::make_unique<PackedTexts>();
  batch->several_labels = several_labels_;
  for (const int64_t i : examples) {
    const LabelledText text = (*this)[i];
    batch->tokens.insert(batch->tokens.end(), text.tokens.begin(), text.tokens.end());
    for (const int32_t length : text.lengths) batch->sentences.push_back(batch->sentences.back() + length);
    batch->texts.push_back(std::ssize(batch->sentences) - 1);
    append(text.second, batch->second, batch->seconds);
    append(text.labels, batch->labels, batch->label_sets);
    batch->weights.push_back(text.weight);
    batch->predictions.push_back(batch->size());
  }
  return batch;
}

}  // namespace heed::data
