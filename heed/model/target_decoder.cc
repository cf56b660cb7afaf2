#include "heed/model/target_decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "heed/attend/all.h"
#include "heed/attend/census.h"
#include "heed/attend/choices.h"
#include "heed/attend/decay.h"
#include "heed/attend/given_alignments.h"
#include "heed/attend/reinforce.h"
#include "heed/attend/watch.h"
#include "heed/base/error.h"
#include "heed/model/decode/all.h"
#include "heed/model/stack_options.h"
#include "heed/tensor/op/arithmetic.h"
#include "heed/tensor/op/arrange.h"
#include "heed/tensor/op/reduce.h"

namespace heed::model {

namespace {

/// The reward of each of `choices`: one per target token, or (static attention) one per sequence, for all its tokens.
std::vector<float> rewards(int64_t choices, const data::Targets& target, std::span<const float> row_nll) {
  std::vector<float> of_tokens, of_sequences;
  for (const float nll : row_nll) of_tokens.push_back(-nll);
  if (choices == static_cast<int64_t>(of_tokens.size())) return of_tokens;
  for (size_t b = 0; b + 1 < target.offsets.size(); ++b)
    of_sequences.push_back(
        std::accumulate(of_tokens.begin() + target.offsets[b], of_tokens.begin() + target.offsets[b + 1], 0.0f));
  return of_sequences;
}

/// Of the attentions to the source, the first that has a cost of this kind; its options are those of all that have one.
const attend::Made* with_cost(const std::vector<attend::Made>& all, bool (*has_cost)(const attend::Options&),
                              std::initializer_list<const char*> settings) {
  const attend::Made* first = nullptr;
  const auto setting = [](const attend::Options& o, std::string_view name) {
    std::string value;
    attend::each_option(o, [&](std::string_view each, const auto& v) {
      if (each == name) value = fmt::format("{}", v);
    });
    return value;
  };
  for (const attend::Made& each : all) {
    if (!has_cost(each.options)) continue;
    if (!first) first = &each;
    for (const char* name : settings)
      expect(setting(each.options, name) == setting(first->options, name),
             "model: attention.source: {} is {} in layer {} and {} in layer {}, but the loss has one for all layers",
             name, setting(first->options, name), first->layer, setting(each.options, name), each.layer);
  }
  return first;
}

bool guides(const attend::Options& o) { return attend::resolve(o).time->guides; }

Tensor joined(const std::vector<Tensor>& parts) {
  if (parts.empty()) return {};
  return parts.size() == 1 ? parts[0] : concat_rows(parts);
}

}  // namespace

std::optional<attend::Options> guided_of(const std::vector<attend::Made>& to_source) {
  const attend::Made* guided = with_cost(to_source, guides, {"guide_weight", "guide_schedule", "guide_steps"});
  return guided ? std::optional(guided->options) : std::nullopt;
}

// Tachibana et al. 2018: the mean of heads and layers.
Tensor guide_cost(std::span<const Tensor> of_layers, const attend::Options& o, int64_t updates_before) {
  const float weight = attend::decayed(o.guide_weight, o.guide_schedule, o.guide_steps, updates_before);
  Tensor all;
  for (const Tensor& guide : of_layers) {
    const Tensor cost = scale(sum(guide), weight / static_cast<float>(guide.rows() * std::ssize(of_layers)));
    all = all ? add(all, cost) : cost;
  }
  return all;
}

SelfCriticalBaseline::SelfCriticalBaseline(bool needed, const std::function<OutputLoss(Tape&)>& loss) {
  if (!needed) return;
  tape_.emplace(TapeOptions{.recording = false, .training = false});
  row_nll_ = loss(*tape_).row_nll;
}

embed::Embed TargetDecoder::vectors(const Scope& root, const Options& o, Parameter* shared) {
  const bool positions = decode::find_decoder(o.decoder_kind()).needs_positions;
  return {root / "target", embedding_options(o, Resolved(o), o.target_vocabulary, positions), shared};
}

TargetDecoder::TargetDecoder(const Scope& root, const Options& o, const encode::Encoder& encoder,
                             const embed::Embed& target)
    : align_(o.align), target_(target) {
  const Resolved words(o);
  const decode::DecoderEntry& decoder = decode::find_decoder(o.decoder_kind());
  expect(decoder.make != nullptr, "model: decoder = \"{}\" does not write step by step, as this task needs it",
         decoder.name);
  const attend::Census census;
  decoder_ =
      decoder.make(root / "decoder", stack_options(o, words, o.decoder_layers, decoder.needs_positions), encoder);
  longest_memory_ = census.longest_memory();
  const std::vector<attend::Made> to_source = census.at(encode::kSourcePlace);
  guided_ = guided_of(to_source);
  if (const attend::Made* drawn =
          with_cost(to_source, attend::draws,
                    {"baseline", "baseline_decay", "entropy_weight", "entropy_schedule", "entropy_steps"}))
    drawn_ = drawn->options;
  output_ = OutputLayer(root, o, decoder_->width(), target_.table());
  check_alignment_options();
  copying_ = Copying(root, o, decoder_->width(), decoder_->source_heads());
  if (drawn_) {
    baseline_ = &(root / "reinforce").make("baseline", {2}, Initialiser::constant(0.0f));
    baseline_->trainable = false;
  }
}

void TargetDecoder::check_alignment_options() const {
  const std::vector<int64_t> heads = decoder_->source_heads();
  expect(align_.layer < std::ssize(heads),
         "model: train.align_layer is {}, but the decoder has {} layers that attend to the source, from 0",
         align_.layer, heads.size());
  for (const int64_t count : heads)
    expect(align_.head < count, "model: train.align_head is {}, but the attention to the source has {} heads, from 0",
           align_.head, count);
}

Loss TargetDecoder::loss(const encode::Encoded& source, const data::Batch& batch, const OutputLossOptions& options,
                         std::span<const float> undrawn_nll) const {
  Tape& tape = source.memory.rows.tape();
  const data::Targets& targets = batch.targets;
  expect(targets.size() == source.memory.offsets.count && targets.in.size() == targets.out.size(),
         "model: expected a batch of sources, each with a target to write");
  const Packed target = target_(tape, copying_ ? copying_.readable(targets.in, tape) : std::span(targets.in),
                                tape.offsets(targets.offsets));
  decode::AttentionCosts costs;
  costs.want_entropy = drawn_ && drawn_->entropy_weight > 0.0f;
  const attend::GivenAlignments links{targets.offsets, targets.aligned_offsets, targets.aligned_sources};
  if (tape.training() && !targets.aligned_offsets.empty()) costs.links = &links;
  if (copying_) return copied_loss(target, source, batch, costs, options);
  const Tensor states = decoder_->run(target, source, nullptr, tape.training() ? &costs : nullptr);
  Loss loss = output_.loss(states, targets.out, options);
  if (const Tensor more = attention_costs(costs, batch, loss, undrawn_nll))
    loss.loss = add(loss.loss, scale(more, options.scale));
  return loss;
}

/// The attention is asked what it says about the targets' words also where nothing is learned.
Loss TargetDecoder::copied_loss(const Packed& target, const encode::Encoded& source, const data::Batch& batch,
                                decode::AttentionCosts& costs, const OutputLossOptions& options) const {
  expect(!costs.links, "model.copy and data.alignments cannot be combined: one attention cannot learn from both");
  const Tape& tape = target.rows.tape();
  const CopyLinks links(batch);
  const attend::GivenAlignments copies = links.view();
  copying_.ask(costs, copies);
  costs.want_guide = tape.training();
  decode::Alignment seen;
  const bool shown = attend::Watch::wants(Copying::kWatched);
  const Tensor states = decoder_->run(target, source, shown ? &seen : nullptr, &costs);
  Loss loss = copying_.loss(output_, states, costs, batch, options);
  if (shown) copying_.show(states, seen, target.offsets, source.memory.offsets);
  costs.links = nullptr;  // those were no given alignments, which cost something of their own
  if (tape.training())
    if (const Tensor more = attention_costs(costs, batch, loss, {}))
      loss.loss = add(loss.loss, scale(more, options.scale));
  return loss;
}

Tensor TargetDecoder::attention_costs(const decode::AttentionCosts& costs, const data::Batch& batch, Loss& loss,
                                      std::span<const float> undrawn_nll) const {
  Tensor all;
  const auto also = [&](Tensor cost) { all = all ? add(all, cost) : cost; };
  if (const Tensor guide = guided_ ? guide_cost(costs.guide, *guided_, batch.updates_before) : Tensor()) also(guide);
  if (costs.links) also(alignment_cost(costs, batch));
  // Williams 1992: a choice is worth the log-probability of the token that it led to. Added up over the rows.
  if (const Tensor log_prob = joined(costs.log_prob)) {
    const attend::Options& o = *drawn_;
    const float entropy_weight =
        attend::decayed(o.entropy_weight, o.entropy_schedule, o.entropy_steps, batch.updates_before);
    attend::Reinforce reinforce({.baseline_decay = o.baseline_decay, .entropy_weight = entropy_weight});
    const ParameterStorage& state = std::as_const(baseline_->value);
    reinforce.restore(state[0], state[1] != 0.0f);
    std::vector<float> worth = rewards(log_prob.cols(), batch.targets, loss.row_nll);
    if (!undrawn_nll.empty()) {  // what is left is compared with its moving average, which is near 0
      const std::vector<float> baseline = rewards(log_prob.cols(), batch.targets, undrawn_nll);
      for (size_t i = 0; i < worth.size(); ++i) worth[i] -= baseline[i];
    }
    also(scale(reinforce.loss(log_prob, worth, joined(costs.entropy)), static_cast<float>(log_prob.cols())));
    loss.baseline = {.baseline = baseline_, .rewards = attend::sum_of(worth), .decay = o.baseline_decay};
  }
  return all;
}

/// A row with links costs - log of its weight on them: Liu et al. 2016, Garg et al. 2019, with the links of a row as
/// one.
Tensor TargetDecoder::alignment_cost(const decode::AttentionCosts& costs, const data::Batch& batch) const {
  const data::Targets& target = batch.targets;
  const int64_t rows = target.offsets.back();
  bool of_all_rows = !costs.aligned_weight.empty();  // static attention has one choice for all rows of a target
  for (const Tensor& on_links : costs.aligned_weight) of_all_rows &= on_links.cols() == rows;
  expect(of_all_rows,
         "model: this attention cannot learn from given alignments: leave out data.alignments, or use a time other "
         "than guided and static, and structure single or multi_head");
  const float weight = attend::decayed(align_.weight, align_.schedule, align_.steps, batch.updates_before);
  const auto layers = std::ssize(costs.aligned_weight);
  Tensor all;
  for (int64_t l = 0; l < layers; ++l) {
    if (align_.layer >= 0 && l != align_.layer) continue;
    const Tensor on_links = costs.aligned_weight[static_cast<size_t>(l)];  // [H, rows]
    const int64_t heads = on_links.rows();
    const auto sharing = static_cast<float>((align_.layer >= 0 ? 1 : layers) * (align_.head >= 0 ? 1 : heads));
    float* weights = on_links.tape().keep<float>(on_links.size());
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t r = 0; r < rows; ++r) {
        const bool linked =
            target.aligned_offsets[static_cast<size_t>(r)] < target.aligned_offsets[static_cast<size_t>(r) + 1];
        weights[h * rows + r] = linked && (align_.head < 0 || h == align_.head) ? -weight / sharing : 0.0f;
      }
    const Tensor cost = weighted_log_sum(on_links, weights);
    all = all ? add(all, cost) : cost;
  }
  return all;
}

bool TargetDecoder::needs_self_critical_baseline(const Tape& tape) const {
  return tape.training() && baseline_ &&
         value_of(attend::kBaselines, drawn_->baseline) == attend::Baseline::self_critical;
}

void TargetDecoder::each_logits(const encode::Encoded& source, const data::Sources& sources, const PackedIds& inputs,
                                const std::function<void(int64_t first, Tensor logits)>& visit) const {
  constexpr int64_t kRows = 256;  // whose logits exist at once, as in output_loss()
  Tape& tape = source.memory.rows.tape();
  decode::Alignment looked;
  std::vector<Copying::Row> copied;
  if (copying_)
    for (int64_t b = 0; b + 1 < std::ssize(inputs.offsets); ++b)
      for (int64_t i = 0; i < inputs.offsets[static_cast<size_t>(b) + 1] - inputs.offsets[static_cast<size_t>(b)]; ++i)
        copied.push_back({b, i, sources.copies[b]});
  const Tensor states = decoder_->run(
      target_(tape, copying_ ? copying_.readable(inputs.ids, tape) : inputs.ids, tape.offsets(inputs.offsets)), source,
      copying_ ? &looked : nullptr);
  const int64_t columns = copying_ ? copying_.columns(sources.copies) : 0;
  for (int64_t first = 0; first < states.rows(); first += kRows) {
    const int64_t count = std::min(kRows, states.rows() - first);
    const Tensor rows = tape.input(states.row(first), count, states.cols());
    tape.only_result([&] {
      const Tensor logits = output_.logits(rows);
      const auto from = static_cast<size_t>(first);
      visit(first, copying_
                       ? copying_.distribution(rows, logits, looked,
                                               std::span(copied).subspan(from, static_cast<size_t>(count)), columns)
                       : logits);
      return rows;
    });
  }
}

std::unique_ptr<decode::State> TargetDecoder::start(const encode::Encoded& source, const data::Sources& sources,
                                                    int64_t longest) const {
  std::unique_ptr<decode::State> state = decoder_->start(source, longest);
  if (copying_) {
    expect(sources.copies.size() == sources.size(),
           "model: to copy, the model needs what the words of each source are");
    state->add_copies(sources.copies);
  }
  return state;
}

Tensor TargetDecoder::step(std::span<const int32_t> tokens, decode::State& state, Tape& tape,
                           decode::Alignment* alignment) const {
  const auto count = static_cast<int64_t>(tokens.size());
  const Packed x =
      target_(tape, copying_ ? copying_.readable(tokens, tape) : tokens, tape.even_offsets(count, 1), state.step());
  if (!copying_) return output_.logits(decoder_->step(x.rows, state, alignment));
  decode::Alignment own;
  decode::Alignment& looked = alignment ? *alignment : own;
  const Tensor states = decoder_->step(x.rows, state, &looked);
  std::vector<Copying::Row> rows;
  for (int64_t r = 0; r < count; ++r) rows.push_back({r, 0, state.copies_of(r)});
  return copying_.distribution(states, output_.logits(states), looked, rows, copying_.columns(state.copies()));
}

int64_t TargetDecoder::max_positions() const { return std::min(target_.max_positions(), longest_memory_); }

}  // namespace heed::model
