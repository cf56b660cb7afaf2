#include <numeric>

#include "heed/attend/all.h"
#include "heed/attend/rows_by_step.h"
#include "heed/base/error.h"
#include "heed/base/fields.h"
#include "heed/layer/linear.h"
#include "heed/model/decode/all.h"
#include "heed/model/decode/wiring.h"
#include "heed/model/encode/attention_options.h"
#include "heed/model/encode/recurrent_keys.h"
#include "heed/tensor/op/activation.h"
#include "heed/tensor/op/arrange.h"
#include "heed/tensor/op/dropout.h"
#include "heed/tensor/op/pool.h"

namespace heed::decode {

namespace {

/// The state between steps, on a tape.
struct Moving {
  RecurrentStates states;
  Tensor out;  // the last attentional vector, for input feeding
};

class RecurrentDecoder final : public Decoder {
 public:
  RecurrentDecoder(const Scope& scope, const RecurrentDecoderOptions& o, const encode::Encoder& encoder,
                   bool copies_states = false)
      : options_(o),
        recurrent_(scope / "recurrent", with_feeding(o)),
        attention_(make_source_attention(scope / "attention", o, encoder.width())),
        past_(make_past_attention(scope / "self", o)),
        combine_(scope / "combine",
                 attention_->context_width() + o.recurrent.hidden + (past_ ? past_->context_width() : 0),
                 o.recurrent.hidden) {
    expect(
        o.wiring != encode::Wiring::same_block,
        "model: wiring = \"same_block\" needs a decoder whose blocks each attend to the source, as a transformer; an "
        "rnn attends once, after its last layer: use last or mix");
    wiring_ = SourceWiring(scope / "attention", o.wiring, 1, encoder);
    expect(!copies_states || encoder.width() == o.recurrent.hidden,
           "model: bridge = \"copy\" needs an encoder whose states are as wide as the decoder's, {}, but they have {} "
           "(both directions); set model.encoder_hidden",
           o.recurrent.hidden, encoder.width());
    for (int64_t l = 0; l < o.recurrent.layers && !copies_states; ++l)
      bridge_.emplace_back(scope / "bridge" / std::to_string(l), encoder.width(), o.recurrent.hidden);
  }

  Tensor run(const Packed& x, const encode::Encoded& source, Alignment* alignment,
             AttentionCosts* costs) const override {
    if (options_.input_feeding) return run_by_steps(x, source, alignment, costs);
    const attend::PreparedMemory prepared = attention_->prepare(wiring_.memory_for(*attention_, 0, source));
    const RecurrentOutput s = recurrent_.run(x, first_states(source));
    const bool wanted = alignment != nullptr;
    const attend::Request request = costs ? costs->request(wanted) : attend::Request{.weights = wanted};
    const attend::Attended a = attention_->attend({{s.rows, x.offsets}}, prepared, {}, request);
    if (alignment) alignment->layers = {a.weights};
    if (costs) costs->add(a);
    const Packed states{s.rows, x.offsets};
    const Tensor past = past_ ? past_->attend({states}, past_->prepare({states})).context : Tensor();
    return combined(a.context, s.rows, past);
  }

  std::unique_ptr<State> start(const encode::Encoded& source, int64_t longest) const override {
    auto state = std::make_unique<State>(source.memory.offsets, longest);
    state->add_source_attention(*attention_, wiring_.memory_for(*attention_, 0, source));
    if (past_) state->add_self_attention(*past_);
    const Moving m = begin(source);
    for (const RecurrentState& layer : m.states) {
      state->add_matrix(layer.h);
      state->add_matrix(layer.c);
    }
    state->add_matrix(m.out);
    return state;
  }

  Tensor step(Tensor x, State& state, Alignment* alignment) const override {
    if (alignment) alignment->layers.resize(1);
    Moving m = moving(state, x.tape());
    advance(
        x, m, [&](Tensor s) { return state.attend_to_source(0, s, alignment ? &alignment->layers[0] : nullptr); },
        [&](Tensor s) { return state.attend_to_self(0, s); });
    for (size_t l = 0; l < m.states.size(); ++l) {
      state.matrix(2 * l).take(m.states[l].h);
      state.matrix(2 * l + 1).take(m.states[l].c);
    }
    if (options_.input_feeding) state.matrix(2 * m.states.size()).take(m.out);
    state.advance();
    return m.out;
  }

  int64_t width() const override { return options_.recurrent.hidden; }
  std::vector<int64_t> source_heads() const override { return {attention_->traits().heads}; }

 private:
  static std::unique_ptr<attend::Mechanism> make_source_attention(const Scope& scope, const RecurrentDecoderOptions& o,
                                                                  int64_t memory_width) {
    const encode::AttentionChanges& places = o.places;
    const encode::Chosen named = encode::chosen(o.attention, places, encode::kSourcePlace, 0);
    return encode::make_attention(scope, places, encode::kSourcePlace, 0,
                                  encode::source_attention(named, o.recurrent.hidden, memory_width));
  }
  /// Null: nothing is said about it.
  static std::unique_ptr<attend::Mechanism> make_past_attention(const Scope& scope, const RecurrentDecoderOptions& o) {
    if (!encode::is_chosen(o.places, encode::kDecoderPlace)) return nullptr;
    return encode::make_attention(
        scope, o.places, encode::kDecoderPlace, 0,
        encode::past_attention_beside_source({.attention = o.attention, .places = o.places}, o.recurrent.hidden));
  }

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

  /// What a state holds: h and c of each layer, c empty but for an LSTM, and out, empty without input feeding.
  Moving moving(State& state, Tape& tape) const {
    const int64_t layers = options_.recurrent.layers;
    auto* states = tape.keep<RecurrentState>(layers);
    for (int64_t l = 0; l < layers; ++l)
      states[l] = {state.matrix(static_cast<size_t>(2 * l)).on(tape),
                   state.matrix(static_cast<size_t>(2 * l + 1)).on(tape)};
    return {{states, static_cast<size_t>(layers)}, state.matrix(static_cast<size_t>(2 * layers)).on(tape)};
  }

  /// One step of every row, x [rows, width]. `attend` gives the contexts of the states [rows, hidden], and `look_back`
  /// what they find among those before them.
  template <class Attend, class LookBack>
  void advance(Tensor x, Moving& m, const Attend& attend, const LookBack& look_back) const {
    if (options_.input_feeding) x = concat_columns({x, m.out});
    const RecurrentOutput s = recurrent_.step(x, m.states);
    m.states = s.states;
    const Tensor context = attend(s.rows);
    m.out = combined(context, s.rows, past_ ? look_back(s.rows) : Tensor());
  }

  Tensor combined(Tensor context, Tensor s, Tensor past) const {
    const Tensor all = past ? concat_columns({context, s, past}) : concat_columns({context, s});
    return dropout(tanh(combine_(all)), options_.dropout);
  }

  /// What the newest of `states`, each [B, hidden], find among those before them. The steps are computed one by one, so
  /// their memory is put together anew for each.
  Tensor look_back(const std::vector<Tensor>& states, const Offsets& rows) const {
    const auto steps = std::ssize(states);
    const int64_t batch = states.back().rows();
    std::vector<int64_t> order;
    for (int64_t b = 0; b < batch; ++b)
      for (int64_t t = 0; t < steps; ++t) order.push_back(t * batch + b);
    const Tensor all = steps == 1 ? states[0] : gather_rows(concat_rows(states), order);
    const attend::PreparedMemory memory = past_->prepare({{all, all.tape().even_offsets(batch, steps)}});
    return past_->attend({{states.back(), rows}}, memory, attend::State(steps - 1)).context;
  }

  /// h_0 of layer l = tanh(W_l [final state of the encoder's last layer, both directions]), or tanh(W_l [mean of the
  /// memory]) for an encoder without states; c_0 of an LSTM = 0.
  /// Without a layer between them: those of the same layer of the encoder, both directions side by side.
  RecurrentStates first_states(const encode::Encoded& source) const {
    if (bridge_.empty()) return copied_states(source);
    Tape& tape = source.memory.rows.tape();
    const auto layers = static_cast<int64_t>(bridge_.size());
    RecurrentStates zero = recurrent_.zero_states(tape, source.memory.offsets.count);
    const Tensor end = source.states.empty() ? mean_of_sequences(source.memory) : end_of(source.states);
    auto* states = tape.keep<RecurrentState>(layers);
    for (int64_t l = 0; l < layers; ++l)
      states[l] = {tanh(bridge_[static_cast<size_t>(l)](end)), zero[static_cast<size_t>(l)].c};
    return {states, static_cast<size_t>(layers)};
  }

  RecurrentStates copied_states(const encode::Encoded& source) const {
    const auto layers = static_cast<size_t>(options_.recurrent.layers);
    expect(!source.states.empty() && source.states.size() % layers == 0 &&
               source.states.size() / layers * static_cast<size_t>(source.states[0].h.cols()) ==
                   static_cast<size_t>(options_.recurrent.hidden),
           "model: bridge = \"copy\" needs an encoder of the kind rnn with as many layers as the decoder, {}", layers);
    const size_t directions = source.states.size() / layers;
    auto* states = source.memory.rows.tape().keep<RecurrentState>(options_.recurrent.layers);
    const auto beside = [&](size_t layer, Tensor RecurrentState::*which) {
      std::vector<Tensor> all;
      for (size_t d = 0; d < directions; ++d) all.push_back(source.states[layer * directions + d].*which);
      return all.size() == 1 || !all[0] ? all[0] : concat_columns(all);
    };
    for (size_t l = 0; l < layers; ++l) states[l] = {beside(l, &RecurrentState::h), beside(l, &RecurrentState::c)};
    return {states, layers};
  }

  /// The states of the last layer are at the end: one, or one per direction.
  Tensor end_of(const RecurrentStates& states) const {
    const auto directions = static_cast<size_t>(bridge_[0].weight->cols() / states.back().h.cols());
    std::vector<Tensor> ends;
    for (size_t d = 0; d < directions; ++d) ends.push_back(states[states.size() - directions + d].h);
    return ends.size() == 1 ? ends[0] : concat_columns(ends);
  }

  /// With input feeding each step needs the previous one, so the steps cannot be computed at once.
  Tensor run_by_steps(const Packed& x, const encode::Encoded& source, Alignment* alignment,
                      AttentionCosts* costs) const {
    Tape& tape = x.rows.tape();
    const Offsets& o = x.offsets;
    const attend::PreparedMemory prepared = attention_->prepare(wiring_.memory_for(*attention_, 0, source));
    Moving m = begin(source);
    attend::State seen;
    auto* lengths = tape.keep<int32_t>(o.count);
    for (int64_t b = 0; b < o.count; ++b) lengths[b] = static_cast<int32_t>(o.length(b));
    seen.set_target_lengths(lengths);

    const attend::Request request =
        costs ? costs->request(alignment != nullptr) : attend::Request{.weights = alignment != nullptr};
    std::vector<attend::Weights> weights;
    std::vector<Tensor> outs, states, guides, log_probs, entropies, aligned_weights, matrices;  // of each step
    const attend::RowsByStep by_step(o, attend::Ended::last_row, tape);  // ended sequences continue, unused
    for (int64_t t = 0; t < by_step.steps(); ++t) {
      const Packed rows = by_step.take(x.rows, t);
      attend::Attended a;
      advance(
          rows.rows, m,
          [&](Tensor s) {
            a = attention_->attend({{s, rows.offsets}}, prepared, seen, request);
            return a.context;
          },
          [&](Tensor s) {
            states.push_back(s);
            return look_back(states, rows.offsets);
          });
      seen = a.state;
      outs.push_back(m.out);
      if (alignment) weights.push_back(a.weights);
      if (a.guide_cost) guides.push_back(a.guide_cost);
      if (a.log_prob) log_probs.push_back(a.log_prob);
      if (a.log_prob && a.entropy) entropies.push_back(a.entropy);
      if (a.aligned_weight) aligned_weights.push_back(a.aligned_weight);
      if (a.matrix) matrices.push_back(a.matrix);
    }
    if (alignment) alignment->layers = {by_step.put_back_weights(weights)};
    if (costs && !aligned_weights.empty()) costs->aligned_weight.push_back(by_step.put_back_columns(aligned_weights));
    if (costs && !matrices.empty()) costs->matrix.push_back(of_targets(matrices, by_step, o.count));
    if (costs && !guides.empty()) costs->guide.push_back(by_step.put_back_columns(guides));
    const auto choices = [&](const std::vector<Tensor>& steps) {  // a static choice is made once
      return steps.size() == outs.size() ? by_step.put_back_columns(steps) : steps.front();
    };
    if (costs && !log_probs.empty()) costs->log_prob.push_back(choices(log_probs));
    if (costs && !entropies.empty()) costs->entropy.push_back(choices(entropies));
    return by_step.put_back(outs);
  }

  /// Of each step [H * sequences, keys] -> [H * rows, keys], head by head.
  static Tensor of_targets(const std::vector<Tensor>& steps, const attend::RowsByStep& by_step, int64_t sequences) {
    std::vector<Tensor> heads;
    for (int64_t h = 0; h < steps[0].rows() / sequences; ++h) {
      std::vector<int64_t> rows(static_cast<size_t>(sequences));
      std::iota(rows.begin(), rows.end(), h * sequences);
      std::vector<Tensor> of_head;
      of_head.reserve(steps.size());
      for (const Tensor& step : steps) of_head.push_back(gather_rows(step, rows));
      heads.push_back(by_step.put_back(of_head));
    }
    return concat_rows(heads);
  }

  RecurrentDecoderOptions options_;
  Recurrent recurrent_;
  std::unique_ptr<attend::Mechanism> attention_;
  std::unique_ptr<attend::Mechanism> past_;  // null: it does not look at its own past
  SourceWiring wiring_;
  Linear combine_;
  std::vector<Linear> bridge_;
};

}  // namespace

std::unique_ptr<Decoder> recurrent(const Scope& scope, const RecurrentDecoderOptions& options,
                                   const encode::Encoder& encoder) {
  return std::make_unique<RecurrentDecoder>(scope, options, encoder);
}

const DecoderEntry recurrent_decoder = {
    .name = "rnn",
    .meaning = "a GRU or LSTM whose states attend to the source",
    .keys = "cell input_feeding bridge",
    .add_keys =
        [](file::Fields& fields, encode::OwnOptions& options) {
          fields.add(
              "model.bridge", options.of<encode::RecurrentDecoderKeys>().bridge,
              "rnn: how the states of the decoder begin: tanh of a layer on the encoder's last ones, or those of "
              "each layer as they are, both directions side by side (copy)",
              file::Limit::one_of(words_of(encode::kBridges)));
        },
    .make = [](const Scope& scope, const encode::StackOptions& o,
               const encode::Encoder& encoder) -> std::unique_ptr<Decoder> {
      const RecurrentDecoderOptions options{.recurrent = o.recurrent(false),
                                            .input_feeding = o.input_feeding,
                                            .dropout = o.dropout,
                                            .attention = o.attention,
                                            .wiring = o.wiring,
                                            .places = o.places};
      const std::string& bridge = o.own.of<encode::RecurrentDecoderKeys>().bridge;
      return std::make_unique<RecurrentDecoder>(scope, options, encoder,
                                                value_of(encode::kBridges, bridge, "model: bridge"));
    },
};

}  // namespace heed::decode
