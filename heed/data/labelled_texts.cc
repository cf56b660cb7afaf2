#include "heed/data/labelled_texts.h"

#include <algorithm>

namespace heed::data {

void LabelledTexts::add(const LabelledText& text) {
  sources_.add(text.source);
  labels_.add(text.labels);
  weight_.push_back(text.weight);
  line_.push_back(text.line);
}

LabelledText LabelledTexts::operator[](int64_t i) const {
  return {
      .source = sources_[i], .labels = labels_[i], .weight = weight_[static_cast<size_t>(i)], .line = line_number(i)};
}

int64_t LabelledTexts::longest_sequence(int64_t i) const {
  const Source source = sources_[i];
  const int64_t longest =
      source.sentences.empty() ? 0 : *std::max_element(source.sentences.begin(), source.sentences.end());
  return std::max({longest, std::ssize(source.sentences), std::ssize(source.second)});
}

std::vector<Indices> LabelledTexts::batches(const BatchOptions& options, int64_t epoch) const {
  Lengths lengths;
  for (int64_t i = 0; i < size(); ++i) {
    lengths.source.push_back(sources_.tokens.length(i) + std::ssize(sources_[i].second));
    lengths.target.push_back(1);
  }
  return make_batches(lengths, options, epoch);
}

Batch LabelledTexts::pack(std::span<const int64_t> examples) const {
  Batch batch{.sources = sources_.pack(examples)};
  batch.targets.are_sets = several_labels_;
  if (several_labels_) batch.of_examples.push_back(0);
  for (const int64_t i : examples) {
    batch.targets.add_labels(labels_[i]);
    batch.targets.weights.push_back(weight_[static_cast<size_t>(i)]);
    if (several_labels_) batch.of_examples.push_back(batch.targets.size());
  }
  return batch;
}

}  // namespace heed::data
