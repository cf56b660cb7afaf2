// Tiny models that write all positions at once.
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "heed/model/parallel_model.h"
#include "tests/model/small.h"

namespace heed::model::test {

struct ParallelWay {
  std::string name;
  std::function<void(Options&)> change = [](Options&) {};

  Options options() const {
    Options o = small("transformer");
    o.decoder = "parallel";
    o.activation = "gelu";  // no kinks
    o.slots = 7;
    change(o);
    return o;
  }
};
inline void PrintTo(const ParallelWay& way, std::ostream* out) { *out << way.name; }
inline std::string name_of_parallel_way(const testing::TestParamInfo<ParallelWay>& info) { return info.param.name; }

inline std::vector<ParallelWay> parallel_ways() {
  using O = Options;
  return {{"plain"},
          {"two_layers", [](O& o) { o.encoder_layers = o.decoder_layers = 2, o.norm = "pre"; }},
          {"same_block", [](O& o) { o.encoder_layers = o.decoder_layers = 2, o.wiring = "same_block"; }},
          {"mix", [](O& o) { o.encoder_layers = 2, o.wiring = "mix", o.norm = "pre"; }},
          {"tied", [](O& o) { o.tied = "all"; }},
          {"learned_positions", [](O& o) { o.positions = "learned"; }},
          {"rotary", [](O& o) { o.positions = "rotary"; }},
          {"slots", [](O& o) { o.length = "slots"; }},
          {"slots_tied", [](O& o) { o.length = "slots", o.tied = "decoder"; }},
          {"rnn_encoder", [](O& o) { o.encoder = "rnn"; }},
          {"convolution_encoder", [](O& o) { o.encoder = "convolution"; }},
          {"additive", [](O& o) { o.attention.score = "additive"; }},
          {"sliding_window", [](O& o) { o.attention.region = "sliding_window"; }}};
}

/// A model with its parameters. What starts at zero gets numbers too: it must be seen to work.
struct MadeParallel {
  Parameters parameters;
  ParallelModel model;

  explicit MadeParallel(const Options& options, uint64_t seed = 5) : parameters(seed), model(parameters, options) {
    std::mt19937_64 random(seed);
    std::normal_distribution<float> normal(0.0f, 0.1f);
    for (Parameter& p : parameters)
      for (float& value : p.value) value += normal(random);
  }
};

/// log softmax, in double.
inline std::vector<double> log_softmax(const float* row, int64_t count) {
  double sum = 0.0;
  for (int64_t v = 0; v < count; ++v) sum += std::exp(static_cast<double>(row[v]));
  std::vector<double> all;
  for (int64_t v = 0; v < count; ++v) all.push_back(row[v] - std::log(sum));
  return all;
}

/// log p(v) of every position of one draft, alone in its batch: [positions][vocabulary].
inline LogProbs one_draft(const ParallelModel& model, const std::vector<int32_t>& source,
                          const std::vector<int32_t>& draft) {
  Tape tape(kQuiet);
  const std::vector<int64_t> offsets = {0, std::ssize(draft)}, of = {0};
  std::vector<int64_t> asked(draft.size());
  std::iota(asked.begin(), asked.end(), 0);
  const ReadSources read = model.read(tape, sources_of({source}));
  LogProbs all;
  if (draft.empty()) return all;
  tape.reset();
  const Tensor logits = model.write(tape, read, {.tokens = draft, .offsets = offsets, .source = of, .asked = asked});
  for (int64_t i = 0; i < logits.rows(); ++i) all.push_back(log_softmax(logits.row(i), logits.cols()));
  return all;
}

}  // namespace heed::model::test
