#include "heed/model/writer.h"

#include <algorithm>
#include <numeric>

#include "heed/attend/all.h"
#include "heed/attend/reinforce.h"
#include "heed/decode/all.h"
#include "heed/model/stack_options.h"
#include "heed/tensor/error.h"
#include "heed/tensor/op/arithmetic.h"
#include "heed/tensor/op/arrange.h"
#include "heed/tensor/op/reduce.h"

namespace heed::model {

namespace {

/// The reward of each of `choices`: one per target token, or (static attention) one per sequence, for all its tokens.
std::vector<float> rewards(int64_t choices, const TargetBatch& target, const OutputLoss& loss) {
  std::vector<float> of_tokens, of_sequences;
  for (const float nll : loss.row_nll) of_tokens.push_back(-nll);
  if (choices == static_cast<int64_t>(of_tokens.size())) return of_tokens;
  for (size_t b = 0; b + 1 < target.offsets.size(); ++b)
    of_sequences.push_back(
        std::accumulate(of_tokens.begin() + target.offsets[b], of_tokens.begin() + target.offsets[b + 1], 0.0f));
  return of_sequences;
}

Tensor joined(const std::vector<Tensor>& parts) {
  if (parts.empty()) return {};
  return parts.size() == 1 ? parts[0] : concat_rows(parts);
}

}  // namespace

embed::Embed Writer::vectors(const Scope& root, const Options& o, Parameter* shared) {
  const bool positions = decode::find_decoder(o.decoder_kind()).needs_positions;
  return {root / "target", embedding_options(o, Resolved(o), o.target_vocabulary, positions), shared};
}

Writer::Writer(const Scope& root, const Options& o, const encode::Encoder& encoder, const embed::Embed& target)
    : attention_(o.attention), target_(target) {
  const Resolved words(o);
  const decode::DecoderEntry& decoder = decode::find_decoder(o.decoder_kind());
  expect(decoder.make != nullptr, "model: decoder = \"{}\" does not write step by step, as this task needs it",
         decoder.name);
  decoder_ =
      decoder.make(root / "decoder", stack_options(o, words, o.decoder_layers, decoder.needs_positions), encoder);
  output_ = OutputLayer(root, o, decoder_->width(), target_.table());
  if (attend::draws(o.attention)) {
    baseline_ = &(root / "reinforce").make("baseline", {2}, Initialiser::constant(0.0f));
    baseline_->trainable = false;
  }
}

OutputLoss Writer::loss(const encode::Encoded& source, const TargetBatch& batch,
                        const OutputLossOptions& options) const {
  Tape& tape = source.memory.rows.tape();
  const Packed target = target_(tape, batch.in, tape.offsets(batch.offsets));
  decode::AttentionCosts costs;
  costs.want_entropy = attention_.entropy_weight > 0.0f;
  const Tensor states = decoder_->run(target, source, nullptr, tape.training() ? &costs : nullptr);
  OutputLoss loss = output_.loss(states, batch.out, options);
  if (const Tensor more = attention_costs(costs, batch, loss)) loss.loss = add(loss.loss, scale(more, options.scale));
  return loss;
}

Tensor Writer::attention_costs(const decode::AttentionCosts& costs, const TargetBatch& target,
                               const OutputLoss& loss) const {
  Tensor all;
  const auto also = [&](Tensor cost) { all = all ? add(all, cost) : cost; };
  // Tachibana et al. 2018: the mean of heads and layers, added up over the rows as the loss is.
  for (const Tensor guide : costs.guide)
    also(scale(sum(guide),
               attention_.guide_weight / static_cast<float>(guide.rows() * static_cast<int64_t>(costs.guide.size()))));
  // Williams 1992: a choice is worth the log-probability of the token that it led to. Added up over the rows.
  if (const Tensor log_prob = joined(costs.log_prob)) {
    const attend::Options& o = attention_;
    attend::Reinforce reinforce({.baseline_decay = o.baseline_decay, .entropy_weight = o.entropy_weight});
    float* state = baseline_->value.data();
    reinforce.restore(state[0], state[1] != 0.0f);
    const std::vector<float> worth = rewards(log_prob.cols(), target, loss);
    also(scale(reinforce.loss(log_prob, worth, joined(costs.entropy)), static_cast<float>(log_prob.cols())));
    state[0] = reinforce.baseline();
    state[1] = reinforce.started() ? 1.0f : 0.0f;
  }
  return all;
}

std::unique_ptr<decode::State> Writer::start(const encode::Encoded& source, int64_t longest) const {
  return decoder_->start(source, longest);
}

Tensor Writer::step(std::span<const int32_t> tokens, decode::State& state, Tape& tape,
                    decode::Alignment* alignment) const {
  const auto count = static_cast<int64_t>(tokens.size());
  const Packed x = target_(tape, tokens, tape.even_offsets(count, 1), state.step());
  return output_.logits(decoder_->step(x.rows, state, alignment));
}

int64_t Writer::max_positions() const { return std::min(target_.max_positions(), attend::longest_memory(attention_)); }

}  // namespace heed::model
