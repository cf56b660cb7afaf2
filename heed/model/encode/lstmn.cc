// The encoder "lstmn": in both directions, or in one.
#include "heed/model/encode/lstmn.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "heed/attend/all.h"
#include "heed/attend/rows_by_step.h"
#include "heed/attend/watch.h"
#include "heed/base/error.h"
#include "heed/model/encode/all.h"
#include "heed/tensor/op/arrange.h"
#include "heed/tensor/op/dropout.h"

namespace heed::encode {

namespace {

attend::Options look_back(int64_t input, int64_t hidden) {
  attend::Options o;
  o.score = attend::additive_entry.name;
  o.query_width = input + hidden;
  o.key_width = o.hidden = hidden;
  o.value_width = 2 * hidden;
  return o;
}

attend::Weights no_weights(const Offsets& o, Tape& tape) {
  attend::Weights w{o.count, 1, o.longest(), o.longest(), nullptr};
  attend::Watch::expect_room(w);
  w.data = tape.keep<float>(w.batch * w.queries * w.keys);
  std::fill_n(w.data, w.batch * w.queries * w.keys, 0.0f);
  return w;
}

/// h and c of the next step, from the means of those before.
RecurrentState next_state(const Recurrent& cell, Tensor x, const RecurrentState& means) {
  auto* before = x.tape().keep<RecurrentState>(1);
  *before = means;
  return cell.step(x, {before, 1}).states[0];
}

}  // namespace

LstmnReader::LstmnReader(const Scope& scope, int64_t input, int64_t hidden, bool backwards)
    : name_((scope / "attention").prefix()),
      hidden_(hidden),
      backwards_(backwards),
      cell_(scope / "cell", {.kind = RecurrentOptions::Kind::lstm, .input = input, .hidden = hidden}),
      attention_(scope / "attention", look_back(input, hidden)) {}

RecurrentResult LstmnReader::operator()(const Packed& x) const {
  RecurrentResult result;
  attend::Queries queries{.rows = x};
  attend::PreparedMemory memory;
  memory.offsets = x.offsets;
  memory.batch = x.offsets.count;
  attend::Watch::watched(name_, {queries, memory, {}, {}}, [&](const attend::Request& wanted) {
    attend::Attended seen;
    result = run(x, wanted.weights ? &seen.weights : nullptr);
    return seen;
  });
  return result;
}

/// The rows of each sequence in the order in which they are read, or back from it.
std::vector<int64_t> LstmnReader::order(const Offsets& o) const {
  std::vector<int64_t> rows(static_cast<size_t>(o.total()));
  for (int64_t b = 0; b < o.count; ++b)
    for (int64_t i = 0; i < o.length(b); ++i)
      rows[static_cast<size_t>(o.at[b] + i)] = backwards_ ? o.at[b + 1] - 1 - i : o.at[b] + i;
  return rows;
}

RecurrentResult LstmnReader::run(const Packed& x, attend::Weights* weights) const {
  Tape& tape = x.rows.tape();
  const Offsets& o = x.offsets;
  const std::vector<int64_t> turned = order(o);
  const Tensor rows = backwards_ ? gather_rows(x.rows, turned) : x.rows;
  const attend::RowsByStep by_step(o, attend::Ended::last_row, tape);  // ended sequences continue, unused
  if (weights) *weights = no_weights(o, tape);
  attend::PreparedMemory memory = attention_.begin(tape, o.count, std::max<int64_t>(by_step.steps(), 1));
  RecurrentState means{tape.filled(o.count, hidden_, 0.0f), tape.filled(o.count, hidden_, 0.0f)};
  std::vector<Tensor> all_h, all_c;
  for (int64_t t = 0; t < by_step.steps(); ++t) {
    const Packed now = by_step.take(rows, t);
    if (t > 0) {
      const attend::Queries query{.rows = {concat_columns({now.rows, means.h}), now.offsets}};
      const attend::Attended a = attention_.run({query, memory, attend::State(t), {.weights = weights != nullptr}});
      means = {columns(a.context, 0, hidden_), columns(a.context, hidden_, hidden_)};
      if (weights) take(*weights, a.weights, o, t);
    }
    const RecurrentState state = next_state(cell_, now.rows, means);
    all_h.push_back(state.h);
    all_c.push_back(state.c);
    if (t + 1 < by_step.steps())
      memory = attention_.extend(memory, {.rows = {state.h, {}}, .values = concat_columns({state.h, state.c})});
  }
  std::vector<int64_t> last;
  for (int64_t b = 0; b < o.count; ++b) last.push_back(o.at[b + 1] - 1);
  const Tensor h = by_step.put_back(all_h), c = by_step.put_back(all_c);
  return {backwards_ ? gather_rows(h, turned) : h, {gather_rows(h, last), gather_rows(c, last)}};
}

/// Those of step t, where the tokens stand in the text.
void LstmnReader::take(attend::Weights& all, const attend::Weights& step, const Offsets& o, int64_t t) const {
  for (int64_t b = 0; b < o.count; ++b) {
    const int64_t last = o.length(b) - 1;
    if (t > last) continue;
    float* row = all.at(b, 0, backwards_ ? last - t : t);
    for (int64_t j = 0; j < t; ++j) row[backwards_ ? last - j : j] = step.at(b, 0, 0)[j];
  }
}

Tensor LstmnReader::step(Tensor x, Past& past) const {
  expect(!backwards_, "lstmn: a text is not read backwards step by step, because later rows are not known yet");
  Tape& tape = x.tape();
  RecurrentState means{past.mean_h ? past.mean_h : tape.filled(x.rows(), hidden_, 0.0f),
                       tape.filled(x.rows(), hidden_, 0.0f)};
  if (past.states) {
    const int64_t steps = past.states.cols() / (2 * hidden_);
    const Tensor both = reshape(past.states, x.rows() * steps, 2 * hidden_);
    const attend::PreparedMemory memory =
        attention_.prepare({.rows = {columns(both, 0, hidden_), tape.even_offsets(x.rows(), steps)}, .values = both});
    const attend::Queries query{.rows = {concat_columns({x, means.h}), tape.even_offsets(x.rows(), 1)}};
    const Tensor found = attention_.run({query, memory, attend::State(steps), {}}).context;
    means = {columns(found, 0, hidden_), columns(found, hidden_, hidden_)};
  }
  const RecurrentState state = next_state(cell_, x, means);
  const Tensor both = concat_columns({state.h, state.c});
  past.states = past.states ? concat_columns({past.states, both}) : both;
  past.mean_h = means.h;
  return state.h;
}

namespace {

class LstmnEncoder final : public Encoder {
 public:
  LstmnEncoder(const Scope& scope, const StackOptions& o)
      : directions_(o.bidirectional ? 2 : 1),
        width_(o.width * directions_),
        dropout_(o.dropout),
        hands_over_(o.hands_over_blocks()) {
    for (int64_t l = 0; l < o.layers; ++l) {
      const Scope layer = scope / std::to_string(l);
      const int64_t input = l == 0 ? o.width : width_;
      readers_.push_back(std::make_unique<LstmnReader>(layer / "forward", input, o.width, false));
      if (o.bidirectional) readers_.push_back(std::make_unique<LstmnReader>(layer / "backward", input, o.width, true));
    }
  }

  Encoded run(const Packed& x) const override {
    Encoded encoded;
    Packed rows = x;
    auto* states = x.rows.tape().keep<RecurrentState>(std::ssize(readers_));
    for (size_t r = 0; r < readers_.size(); r += directions_) {
      std::vector<Tensor> sides;
      for (size_t d = 0; d < directions_; ++d) {
        const RecurrentResult read = (*readers_[r + d])(rows);
        sides.push_back(read.rows);
        states[r + d] = read.state;
      }
      rows.rows = dropout(sides.size() == 1 ? sides[0] : concat_columns(sides), dropout_);
      if (hands_over_) encoded.blocks.push_back(rows.rows);
    }
    encoded.memory = rows;
    encoded.states = {states, readers_.size()};
    return encoded;
  }
  int64_t width() const override { return width_; }
  int64_t blocks() const override { return hands_over_ ? std::ssize(readers_) / static_cast<int64_t>(directions_) : 0; }

 private:
  size_t directions_;
  int64_t width_;
  float dropout_;
  bool hands_over_;
  std::vector<std::unique_ptr<LstmnReader>> readers_;  // of layer l and direction d at l * directions + d
};

}  // namespace

const EncoderEntry lstmn_encoder = {
    .name = "lstmn",
    .meaning = "an LSTM whose steps go on from earlier states by attention, in both directions or in one",
    .keys = "bidirectional",
    .make = [](const Scope& scope, const StackOptions& o) -> std::unique_ptr<Encoder> {
      return std::make_unique<LstmnEncoder>(scope, o);
    },
};

}  // namespace heed::encode
