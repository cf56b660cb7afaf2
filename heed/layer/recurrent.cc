#include "heed/layer/recurrent.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "heed/base/error.h"
#include "heed/tensor/op/arrange.h"
#include "heed/tensor/op/dropout.h"

namespace heed {

Recurrent::Recurrent(const Scope& scope, const RecurrentOptions& options) : options_(options) {
  expect(options.input > 0 && options.hidden > 0 && options.layers > 0,
         "recurrent '{}': input, hidden and layers must be positive, not {}, {} and {}", scope.prefix(), options.input,
         options.hidden, options.layers);
  for (int64_t layer = 0; layer < options.layers; ++layer) {
    const Scope here = scope / std::to_string(layer);
    const int64_t input = layer == 0 ? options.input : options.width();
    cells_.push_back(make_cell(here / "forward", input));
    if (options.bidirectional) cells_.push_back(make_cell(here / "backward", input));
  }
}

Recurrent::Cell Recurrent::make_cell(const Scope& scope, int64_t input) const {
  const int64_t hidden = options_.hidden;
  const int64_t gates = is_lstm() ? 4 : 3;
  const int64_t rows = gates * hidden;
  // The gates share one matrix only so that one product computes them. Each is a separate map from `input` to `hidden`
  // and gets Xavier's range for that; the height of the whole matrix would make it too small.
  const float gain = std::sqrt(static_cast<float>(rows + input) / static_cast<float>(hidden + input));
  Cell cell = {&scope.make_weight("input.weight", {rows, input}, Initialiser::xavier(gain)),
               &scope.make_weight("state.weight", {rows, hidden}, Initialiser::orthogonal()),
               &scope.make("input.bias", {rows}, Initialiser::constant(0.0f)),
               &scope.make("state.bias", {rows}, Initialiser::constant(0.0f))};
  // An LSTM that starts by remembering learns faster than one that starts by forgetting.  Jozefowicz et al. 2015
  // (One that is loaded next has no numbers yet.)
  if (is_lstm() && !cell.input_bias->value.empty()) std::fill_n(cell.input_bias->value.begin() + hidden, hidden, 1.0f);
  return cell;
}

RecurrentWeights Recurrent::Cell::on(Tape& tape) const {
  return {tape.parameter(*input_weight), tape.parameter(*state_weight), tape.parameter(*input_bias),
          tape.parameter(*state_bias)};
}

void Recurrent::check_states(std::string_view what, RecurrentStates states, int64_t batch) const {
  expect(states.size() == cells_.size(), "recurrent {}: needs {} states (layers times directions), not {}", what,
         cells_.size(), states.size());
  const auto fits = [&](Tensor t) { return t && t.rows() == batch && t.cols() == options_.hidden; };
  for (size_t i = 0; i < states.size(); ++i)
    expect(fits(states[i].h) && (!is_lstm() || fits(states[i].c)),
           "recurrent {}: states[{}] must have h{} of shape [{}, {}]", what, i, is_lstm() ? " and c" : "", batch,
           options_.hidden);
}

RecurrentOutput Recurrent::run(const Packed& x, RecurrentStates start) const {
  if (!start.empty()) check_states("run", start, x.offsets.count);
  Tape& tape = x.rows.tape();
  const int64_t directions = options_.directions();
  RecurrentState* states = tape.keep<RecurrentState>(static_cast<int64_t>(cells_.size()));
  Tensor* layers = tape.keep<Tensor>(options_.layers);
  Packed rows = x;
  for (int64_t layer = 0; layer < options_.layers; ++layer) {
    if (layer > 0) rows.rows = dropout(rows.rows, options_.dropout);
    Tensor out[2];
    for (int64_t d = 0; d < directions; ++d) {
      const int64_t at = layer * directions + d;
      const RecurrentWeights weights = cells_[at].on(tape);
      const RecurrentState first = start.empty() ? RecurrentState() : start[at];
      const RecurrentResult result = (is_lstm() ? lstm : gru)(rows, weights, first, d == 1);
      out[d] = result.rows;
      states[at] = result.state;
    }
    rows.rows = options_.bidirectional ? concat_columns({out[0], out[1]}) : out[0];
    layers[layer] = rows.rows;
  }
  return {rows.rows, {states, cells_.size()}, {layers, static_cast<size_t>(options_.layers)}};
}

RecurrentOutput Recurrent::step(Tensor x, RecurrentStates states) const {
  expect(!options_.bidirectional,
         "recurrent step: a bidirectional layer cannot run step by step, because later rows are not known yet");
  check_states("step", states, x.rows());
  Tape& tape = x.tape();
  RecurrentState* next = tape.keep<RecurrentState>(options_.layers);
  for (int64_t layer = 0; layer < options_.layers; ++layer) {
    if (layer > 0) x = dropout(x, options_.dropout);
    next[layer] = (is_lstm() ? lstm_step : gru_step)(x, cells_[layer].on(tape), states[layer]);
    x = next[layer].h;
  }
  return {x, {next, cells_.size()}};
}

RecurrentStates Recurrent::zero_states(Tape& tape, int64_t batch) const {
  RecurrentState* states = tape.keep<RecurrentState>(static_cast<int64_t>(cells_.size()));
  for (size_t i = 0; i < cells_.size(); ++i) {
    states[i].h = tape.filled(batch, options_.hidden, 0.0f);
    states[i].c = is_lstm() ? tape.filled(batch, options_.hidden, 0.0f) : Tensor();
  }
  return {states, cells_.size()};
}

}  // namespace heed
