#include "heed/attend/all.h"
#include "heed/decode/decoder.h"
#include "heed/decode/source_attention.h"
#include "heed/encode/attention_options.h"
#include "heed/layer/linear.h"
#include "heed/tensor/error.h"
#include "heed/tensor/op/activation.h"
#include "heed/tensor/op/arrange.h"
#include "heed/tensor/op/dropout.h"

namespace heed::decode {

namespace {

/// What goes from step to step, on a tape.
struct Moving {
  RecurrentStates states;
  Tensor out;  // the last attentional vector, which input feeding feeds
};

/// The same kept outside of it.
struct RecurrentDecoderState final : State {
  Groups groups;
  std::vector<Kept> h, c;  // of each layer [rows, hidden]; c empty but for an LSTM
  Kept out;                // empty without input feeding
  SourceAttention source;

  RecurrentDecoderState(const attend::Mechanism& attention, const Packed& memory)
      : groups(memory.offsets), source(attention, memory) {}

  void select(std::span<const int64_t> rows) override {
    const Selection chosen = groups.select(rows);  // first: it refuses rows that do not exist
    for (auto* layers : {&h, &c})
      for (Kept& layer : *layers) layer.select(rows);
    out.select(rows);
    source.select(chosen);
  }

  Moving on(Tape& tape) const {
    auto* states = tape.keep<RecurrentState>(std::ssize(h));
    for (size_t l = 0; l < h.size(); ++l) states[l] = {h[l].on(tape), c[l].empty() ? Tensor() : c[l].on(tape)};
    return {{states, h.size()}, out.empty() ? Tensor() : out.on(tape)};
  }
  void take(const Moving& m, bool with_out) {
    h.resize(m.states.size());
    c.resize(m.states.size());
    for (size_t l = 0; l < m.states.size(); ++l) {
      h[l].take(m.states[l].h);
      if (m.states[l].c) c[l].take(m.states[l].c);
    }
    if (with_out) out.take(m.out);
  }
};

class RecurrentDecoder final : public Decoder {
 public:
  RecurrentDecoder(const Scope& scope, const RecurrentDecoderOptions& o, const encode::Encoder& encoder)
      : options_(o),
        recurrent_(scope / "recurrent", with_feeding(o)),
        attention_(attend::make(scope / "attention",
                                encode::source_attention(o.attention, o.recurrent.hidden, encoder.width()))),
        combine_(scope / "combine", attention_->context_width() + o.recurrent.hidden, o.recurrent.hidden) {
    for (int64_t l = 0; l < o.recurrent.layers; ++l)
      bridge_.emplace_back(scope / "bridge" / std::to_string(l), encoder.width(), o.recurrent.hidden);
  }

  Tensor run(const Packed& x, const encode::Encoded& source, Alignment* alignment,
             AttentionCosts* costs) const override {
    expect(!alignment || !options_.input_feeding, "decoder: with input feeding, ask step() for the alignment");
    if (options_.input_feeding) return run_by_steps(x, source, costs);
    const attend::Prepared prepared = attention_->prepare({source.memory});
    const RecurrentOutput s = recurrent_.run(x, first_states(source));
    const bool wanted = alignment != nullptr;
    const attend::Request request = costs ? costs->request(wanted) : attend::Request{.weights = wanted};
    const attend::Attended a = attention_->attend({{s.rows, x.offsets}}, prepared, {}, request);
    if (alignment) alignment->layers = {a.weights};
    if (costs) costs->add(a);
    return combined(a.context, s.rows);
  }

  std::unique_ptr<State> start(const encode::Encoded& source, int64_t) const override {
    auto state = std::make_unique<RecurrentDecoderState>(*attention_, source.memory);
    state->take(begin(source), options_.input_feeding);
    return state;
  }

  Tensor step(Tensor x, State& any, Alignment* alignment) const override {
    auto& state = static_cast<RecurrentDecoderState&>(any);
    if (alignment) alignment->layers.resize(1);
    Moving m = state.on(x.tape());
    advance(x, m, [&](Tensor s) {
      return state.source.attend(s, state.groups, alignment ? &alignment->layers[0] : nullptr);
    });
    state.take(m, options_.input_feeding);
    return m.out;
  }

  int64_t width() const override { return options_.recurrent.hidden; }

 private:
  static RecurrentOptions with_feeding(const RecurrentDecoderOptions& o) {
    RecurrentOptions r = o.recurrent;
    r.bidirectional = false;
    if (o.input_feeding) r.input += r.hidden;
    return r;
  }

  Moving begin(const encode::Encoded& source) const {
    const Offsets& o = source.memory.offsets;
    return {first_states(source),
            options_.input_feeding ? source.memory.rows.tape().filled(o.count, width(), 0.0f) : Tensor()};
  }

  /// One step of every row, x [rows, width]. `attend` gives the contexts of the states [rows, hidden].
  template <class Attend>
  void advance(Tensor x, Moving& m, const Attend& attend) const {
    if (options_.input_feeding) x = concat_columns({x, m.out});
    const RecurrentOutput s = recurrent_.step(x, m.states);
    m.states = s.states;
    m.out = combined(attend(s.rows), s.rows);
  }

  Tensor combined(Tensor context, Tensor s) const {
    return dropout(tanh(combine_(concat_columns({context, s}))), options_.dropout);
  }

  /// h_0 of layer l = tanh(W_l [where the encoder's last layer ended, both directions]); c_0 of an LSTM = 0.
  RecurrentStates first_states(const encode::Encoded& source) const {
    Tape& tape = source.memory.rows.tape();
    const auto layers = static_cast<int64_t>(bridge_.size());
    RecurrentStates zero = recurrent_.zero_states(tape, source.memory.offsets.count);
    if (source.states.empty()) return zero;
    // The states of the last layer stand at the end: one, or one per direction.
    const int64_t end_width = source.states.back().h.cols();
    const auto directions = static_cast<size_t>(bridge_[0].weight->cols() / end_width);
    std::vector<Tensor> ends;
    for (size_t d = 0; d < directions; ++d) ends.push_back(source.states[source.states.size() - directions + d].h);
    const Tensor end = ends.size() == 1 ? ends[0] : concat_columns(ends);
    auto* states = tape.keep<RecurrentState>(layers);
    for (int64_t l = 0; l < layers; ++l)
      states[l] = {tanh(bridge_[static_cast<size_t>(l)](end)), zero[static_cast<size_t>(l)].c};
    return {states, static_cast<size_t>(layers)};
  }

  /// Input feeding goes from step to step, so the steps cannot be done at once.
  Tensor run_by_steps(const Packed& x, const encode::Encoded& source, AttentionCosts* costs) const {
    Tape& tape = x.rows.tape();
    const Offsets& o = x.offsets;
    const attend::Prepared prepared = attention_->prepare({source.memory});
    const Offsets one = tape.even_offsets(o.count, 1);
    Moving m = begin(source);
    attend::State seen;
    auto* lengths = tape.keep<int32_t>(o.count);
    for (int64_t b = 0; b < o.count; ++b) lengths[b] = static_cast<int32_t>(o.length(b));
    seen.target_lengths = lengths;

    const attend::Request request = costs ? costs->request(false) : attend::Request{};
    std::vector<Tensor> outs, guides, log_probs, entropies;  // of each step, [B, ..]
    for (int64_t t = 0; t < o.longest(); ++t) {  // a sequence that has ended goes on with its last token, unread
      int64_t* rows = tape.keep<int64_t>(o.count);
      for (int64_t b = 0; b < o.count; ++b) rows[b] = o.at[b] + std::min(t, o.length(b) - 1);
      attend::Attended a;
      advance(gather_rows(x.rows, {rows, static_cast<size_t>(o.count)}), m, [&](Tensor s) {
        a = attention_->attend({{s, one}}, prepared, seen, request);
        return a.context;
      });
      seen = a.state;
      outs.push_back(m.out);
      if (a.guide_cost) guides.push_back(transpose(a.guide_cost));
      if (a.log_prob) log_probs.push_back(transpose(a.log_prob));
      if (a.log_prob && a.entropy) entropies.push_back(transpose(a.entropy));
    }

    int64_t* place = tape.keep<int64_t>(o.total());
    for (int64_t b = 0; b < o.count; ++b)
      for (int64_t t = 0; t < o.length(b); ++t) place[o.at[b] + t] = t * o.count + b;
    const auto ordered = [&](const std::vector<Tensor>& steps) {
      return gather_rows(concat_rows(steps), {place, static_cast<size_t>(o.total())});
    };
    if (costs && !guides.empty()) costs->guide.push_back(transpose(ordered(guides)));
    const auto choices = [&](const std::vector<Tensor>& steps) {  // a static choice is made once
      return transpose(steps.size() == outs.size() ? ordered(steps) : steps.front());
    };
    if (costs && !log_probs.empty()) costs->log_prob.push_back(choices(log_probs));
    if (costs && !entropies.empty()) costs->entropy.push_back(choices(entropies));
    return ordered(outs);
  }

  RecurrentDecoderOptions options_;
  Recurrent recurrent_;
  std::unique_ptr<attend::Mechanism> attention_;
  Linear combine_;
  std::vector<Linear> bridge_;
};

}  // namespace

std::unique_ptr<Decoder> recurrent(const Scope& scope, const RecurrentDecoderOptions& options,
                                   const encode::Encoder& encoder) {
  return std::make_unique<RecurrentDecoder>(scope, options, encoder);
}

}  // namespace heed::decode
