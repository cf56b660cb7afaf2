#include "heed/search/greedy.h"

#include <algorithm>
#include <cmath>

#include "heed/tensor/error.h"

namespace heed::search {

namespace {

struct Best {
  int32_t token;
  double log_probability;
};

Best best(const float* logits, int64_t count) {
  const auto token = static_cast<int32_t>(std::max_element(logits, logits + count) - logits);
  double sum = 0.0;
  for (int64_t i = 0; i < count; ++i) sum += std::exp(static_cast<double>(logits[i]) - logits[token]);
  return {token, -std::log(sum)};
}

/// Row b of the last layer's weights, averaged over its heads.
std::vector<float> row_of(const attend::Weights& w, int64_t b, int64_t length) {
  std::vector<float> row(static_cast<size_t>(length), 0.0f);
  for (int64_t h = 0; h < w.heads; ++h)
    for (int64_t j = 0; j < length; ++j) row[static_cast<size_t>(j)] += w.at(b, h, 0)[j] / static_cast<float>(w.heads);
  return row;
}

}  // namespace

std::vector<Hypothesis> greedy(const model::Seq2Seq& model, Tape& tape, std::span<const int32_t> source,
                               std::span<const int64_t> offsets, const GreedyOptions& o) {
  expect(!tape.recording(), "greedy: the tape must not be recording");
  tape.reset();
  const auto batch = static_cast<int64_t>(offsets.size()) - 1;
  std::vector<Hypothesis> found(static_cast<size_t>(batch));
  const encode::Encoded encoded = model.encode(tape, source, offsets);
  const auto state = model.start(encoded, o.longest);
  std::vector<int32_t> tokens(static_cast<size_t>(batch), o.start);
  decode::Alignment alignment;
  for (int64_t t = 0; t < o.longest; ++t) {
    const Tensor logits = model.step(tokens, t, *state, tape, o.alignment ? &alignment : nullptr);
    bool open = false;
    for (int64_t b = 0; b < batch; ++b) {
      Hypothesis& h = found[static_cast<size_t>(b)];
      if (h.finished) continue;
      const Best next = best(logits.row(b), logits.cols());
      h.log_probability += next.log_probability;
      if (o.alignment)
        h.alignment.push_back(
            row_of(alignment.layers.back(), b, offsets[static_cast<size_t>(b) + 1] - offsets[static_cast<size_t>(b)]));
      h.finished = next.token == o.end;
      if (!h.finished) h.tokens.push_back(next.token);
      tokens[static_cast<size_t>(b)] = next.token;
      open |= !h.finished;
    }
    if (!open) break;
  }
  return found;
}

}  // namespace heed::search
