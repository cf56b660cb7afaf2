// An LSTM that looks back: instead of its last state, a step goes on from a mean of all earlier ones, by attention.
// Cheng, Dong and Lapata 2016: Long Short-Term Memory-Networks for Machine Reading
//
//   a_ti = v^T tanh(W_h h_i + [W_x W_~] [x_t; h~_(t-1)] + b)   i < t,      s_t = softmax(a_t)
//   h~_t = sum_i s_ti h_i,   c~_t = sum_i s_ti c_i             0 at the first step
//   h_t, c_t = LSTM(x_t, h~_t, c~_t)
//
// The states so far are a memory that grows, with keys W_h h_i and values [h_i; c_i], and each step is one call of the
// loop: it runs step by step, in training too. In both directions, or in one.
#include <string>
#include <vector>

#include "heed/attend/all.h"
#include "heed/attend/attention.h"
#include "heed/attend/rows_by_step.h"
#include "heed/attend/watch.h"
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

/// One layer in one direction. Parameters: "cell.0.forward.*", those of an LSTM (layer/recurrent.h), and "attention.*".
class Reader {
 public:
  Reader(const Scope& scope, int64_t input, int64_t hidden, bool backwards)
      : name_((scope / "attention").prefix()),
        hidden_(hidden),
        backwards_(backwards),
        cell_(scope / "cell", {.kind = RecurrentOptions::Kind::lstm, .input = input, .hidden = hidden}),
        attention_(scope / "attention", look_back(input, hidden)) {}

  /// x [tokens, input] -> states [tokens, hidden], and the last of each sequence.
  RecurrentResult operator()(const Packed& x) const {
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

 private:
  /// The rows of each sequence in the order in which they are read, or back from it.
  std::vector<int64_t> order(const Offsets& o) const {
    std::vector<int64_t> rows(static_cast<size_t>(o.total()));
    for (int64_t b = 0; b < o.count; ++b)
      for (int64_t i = 0; i < o.length(b); ++i)
        rows[static_cast<size_t>(o.at[b] + i)] = backwards_ ? o.at[b + 1] - 1 - i : o.at[b] + i;
    return rows;
  }

  RecurrentResult run(const Packed& x, attend::Weights* weights) const {
    Tape& tape = x.rows.tape();
    const Offsets& o = x.offsets;
    const std::vector<int64_t> turned = order(o);
    const Tensor rows = backwards_ ? gather_rows(x.rows, turned) : x.rows;
    const attend::RowsByStep by_step(o, attend::Ended::last_row, tape);  // ended sequences continue, unused
    if (weights) make(*weights, o, tape);
    attend::PreparedMemory memory = attention_.begin(tape, o.count, std::max<int64_t>(by_step.steps(), 1));
    Tensor mean_h = tape.filled(o.count, hidden_, 0.0f), mean_c = mean_h;
    std::vector<Tensor> all_h, all_c;
    for (int64_t t = 0; t < by_step.steps(); ++t) {
      const Packed now = by_step.take(rows, t);
      if (t > 0) {
        const Tensor query = concat_columns({now.rows, mean_h});
        const attend::Attended a =
            attention_.run({{{query, now.offsets}}, memory, attend::State(t), {.weights = weights != nullptr}});
        mean_h = columns(a.context, 0, hidden_);
        mean_c = columns(a.context, hidden_, hidden_);
        if (weights) take(*weights, a.weights, o, t);
      }
      auto* before = tape.keep<RecurrentState>(1);
      *before = {mean_h, mean_c};
      const RecurrentState& state = cell_.step(now.rows, {before, 1}).states[0];
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

  static void make(attend::Weights& w, const Offsets& o, Tape& tape) {
    w = {o.count, 1, o.longest(), o.longest(), nullptr};
    attend::Watch::expect_room(w);
    w.data = tape.keep<float>(w.batch * w.queries * w.keys);
    std::fill_n(w.data, w.batch * w.queries * w.keys, 0.0f);
  }

  /// Those of step t, where the tokens stand in the text.
  void take(attend::Weights& all, const attend::Weights& step, const Offsets& o, int64_t t) const {
    for (int64_t b = 0; b < o.count; ++b) {
      const int64_t last = o.length(b) - 1;
      if (t > last) continue;
      float* row = all.at(b, 0, backwards_ ? last - t : t);
      for (int64_t j = 0; j < t; ++j) row[backwards_ ? last - j : j] = step.at(b, 0, 0)[j];
    }
  }

  std::string name_;  // where it is in the model
  int64_t hidden_;
  bool backwards_;
  Recurrent cell_;
  attend::Attention attention_;
};

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
      readers_.push_back(std::make_unique<Reader>(layer / "forward", input, o.width, false));
      if (o.bidirectional) readers_.push_back(std::make_unique<Reader>(layer / "backward", input, o.width, true));
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
  std::vector<std::unique_ptr<Reader>> readers_;  // of layer l and direction d at l * directions + d
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
