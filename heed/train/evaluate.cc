#include "heed/train/evaluate.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "heed/data/batches.h"
#include "heed/data/packed_batch.h"
#include "heed/metric/all.h"
#include "heed/search/batches.h"
#include "heed/text/tokens.h"

namespace heed::train {

namespace {
constexpr TapeOptions kInference{.recording = false, .training = false};
}  // namespace

std::vector<std::string> decode(const model::Seq2Seq& model, const std::vector<std::string>& sources,
                                const Tokenisers& tokenisers, const EvaluateOptions& options) {
  std::vector<int32_t> ids;
  std::vector<int64_t> offsets = {0};
  for (const auto& text : sources) {
    const std::vector<int32_t> tokens = tokenisers.source.encode(text);
    ids.insert(ids.end(), tokens.begin(), tokens.end());
    offsets.push_back(std::ssize(ids));
  }
  search::Tapes tapes;
  const search::Options greedy{.start = kStart, .end = kEnd, .longest = options.longest};
  std::vector<std::string> outputs;
  for (const search::Result& found : search::search_all(model, tapes, {ids, offsets}, greedy))
    outputs.push_back(tokenisers.target.decode(found.best().tokens));
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
  // A model whose numbers are none says nothing; the training notices by itself.
  const std::vector<std::string> outputs =
      std::isfinite(e.nll) ? decode(model, sources, tokenisers, options) : std::vector<std::string>(count);
  const std::span right(references.targets.data(), count);
  e.exact = metric::exact_match(outputs, right);
  e.characters = metric::character_error_rate(outputs, right);
  if (!options.metric.empty()) e.task = metric::make_metric(options.metric)->score(outputs, right);
  for (size_t i = 0; i < std::min(count, static_cast<size_t>(options.samples)); ++i)
    e.samples.push_back({sources[i], outputs[i], right[i].front()});
  return e;
}

}  // namespace heed::train
