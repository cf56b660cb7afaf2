#include "heed/train/evaluate.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "heed/data/batches.h"
#include "heed/data/packed_batch.h"
#include "heed/metric/all.h"
#include "heed/search/greedy.h"
#include "heed/text/tokens.h"

namespace heed::train {

namespace {
constexpr TapeOptions kInference{.recording = false, .training = false};
}  // namespace

std::vector<std::string> decode(const model::Seq2Seq& model, const std::vector<std::string>& sources,
                                const Tokenisers& tokenisers, const EvaluateOptions& options) {
  Sequences ids;
  Lengths lengths;
  for (const auto& text : sources) {
    ids.add(tokenisers.source.encode(text));
    lengths.source.push_back(ids.length(ids.size() - 1));
    lengths.target.push_back(lengths.source.back());
  }
  std::vector<std::string> outputs(sources.size());
  Tape tape(kInference);
  for (const Batch& batch : make_batches(lengths, {.max_tokens = options.batch_tokens, .shuffle = false}, 0)) {
    const PackedBatch packed = pack_sources(ids, batch);
    const auto found = search::greedy(model, tape, packed.source, packed.source_offsets,
                                      {.start = kStart, .end = kEnd, .longest = options.longest});
    for (size_t i = 0; i < batch.size(); ++i)
      outputs[static_cast<size_t>(batch[i])] = tokenisers.target.decode(found[i].tokens);
  }
  return outputs;
}

Evaluation evaluate(const model::Seq2Seq& model, const Examples& examples, const References& references,
                    const Tokenisers& tokenisers, const EvaluateOptions& options) {
  Evaluation e;
  int64_t tokens = 0, correct = 0;
  {
    Tape tape(kInference);
    for (const Batch& batch :
         make_batches(lengths_of(examples), {.max_tokens = options.batch_tokens, .shuffle = false}, 0)) {
      const PackedBatch b = pack_batch(examples, batch);
      tape.reset();
      const OutputLoss loss =
          model.loss(tape, {b.source, b.source_offsets, b.target_in, b.target_out, b.target_offsets}, {});
      e.nll += loss.negative_log_likelihood;
      correct += loss.correct;
      tokens += loss.rows;
    }
  }
  e.nll /= static_cast<double>(std::max<int64_t>(tokens, 1));
  e.perplexity = std::exp(e.nll);
  e.token_accuracy = static_cast<double>(correct) / static_cast<double>(std::max<int64_t>(tokens, 1));

  const size_t all = references.source.size();
  const size_t count = options.decode < 0 ? all : std::min(all, static_cast<size_t>(options.decode));
  const std::vector<std::string> sources(references.source.begin(),
                                         references.source.begin() + static_cast<int64_t>(count));
  const std::vector<std::string> outputs = decode(model, sources, tokenisers, options);
  const std::span right(references.targets.data(), count);
  e.exact = metric::exact_match(outputs, right);
  e.characters = metric::character_error_rate(outputs, right);
  if (!options.metric.empty()) e.task = metric::make_metric(options.metric)->score(outputs, right);
  for (size_t i = 0; i < std::min(count, static_cast<size_t>(options.samples)); ++i)
    e.samples.push_back({sources[i], outputs[i], right[i].front()});
  return e;
}

}  // namespace heed::train
