// State goes from call to call: off the tape, and from sequence to sequence as a search selects its hypotheses.
#include "heed/attend/state.h"

#include <gtest/gtest.h>

#include "heed/attend/rows_by_step.h"

namespace heed::attend::test {
namespace {

/// Two rows of columns: 10 * sequence + number of the row, and the same negated.
State state_of(Tape& tape, const Offsets& memory, float more) {
  Tensor columns = tape.filled(2, memory.total(), 0.0f);
  for (int64_t b = 0; b < memory.count; ++b)
    for (int64_t j = 0; j < memory.length(b); ++j) {
      columns.row(0)[memory.at[b] + j] = more + static_cast<float>(10 * b + j);
      columns.row(1)[memory.at[b] + j] = -columns.row(0)[memory.at[b] + j];
    }
  State state(4);
  state.set_columns(columns);
  std::vector<int32_t> numbers;
  for (int64_t b = 0; b < memory.count; ++b) numbers.push_back(static_cast<int32_t>(more) + static_cast<int32_t>(b));
  state.set_numbers(numbers);
  state.set_context(tape.filled(memory.count, 3, more), {});
  return state;
}

TEST(State, OutlivesTheTape) {
  Tape tape({.recording = false, .training = false});
  const std::vector<int64_t> at = {0, 2, 3};
  const Offsets memory{at.data(), 2};
  State state = state_of(tape, memory, 0.0f);
  state.leave_tape();
  tape.reset();
  tape.filled(2, 3, 99.0f);  // where the columns were
  EXPECT_EQ(state.step(), 4);
  const Tensor columns = state.columns(tape);
  EXPECT_EQ(std::vector<float>(columns.data(), columns.data() + columns.size()),
            (std::vector<float>{0, 1, 10, -0.0f, -1, -10}));
  EXPECT_EQ(state.context(tape).rows(), 2);
  EXPECT_FALSE(state.weights(tape));
}

TEST(State, SelectsSequencesOfSeveral) {
  Tape tape({.recording = false, .training = false});
  const std::vector<int64_t> at = {0, 2, 3, 6};
  const Offsets memory{at.data(), 3};
  State a = state_of(tape, memory, 0.0f), b = state_of(tape, memory, 100.0f);
  a.leave_tape();
  b.leave_tape();
  const std::vector<State::Origin> origins = {{&b, 2}, {nullptr, 1}, {&a, 0}};
  const State next = State::select(origins, memory);
  const Tensor columns = next.columns(tape);
  ASSERT_EQ(columns.cols(), 6);
  EXPECT_EQ(std::vector<float>(columns.data(), columns.data() + 6), (std::vector<float>{120, 121, 122, 0, 0, 1}));
  EXPECT_EQ(columns.row(1)[2], -122.0f);
  const auto numbers = next.numbers();
  EXPECT_EQ(std::vector<int32_t>(numbers.begin(), numbers.end()), (std::vector<int32_t>{102, 0, 0}));
  EXPECT_FALSE(next.context(tape)) << "computed again for other sequences";

  const std::vector<State::Origin> same = {{&a, 0}, {&a, 1}, {&a, 2}};
  EXPECT_TRUE(State::select(same, memory).context(tape));
}

TEST(RowsByStep, ComeBackInOrder) {
  Tape tape({.recording = false, .training = false});
  const Offsets all = tape.offsets(std::vector<int64_t>{0, 3, 3, 4, 6});
  Tensor x = tape.filled(6, 2, 0.0f);
  for (int64_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<float>(i);
  const RowsByStep steps(all, Ended::no_row, tape);
  ASSERT_EQ(steps.steps(), 3);
  std::vector<Tensor> taken;
  for (int64_t t = 0; t < 3; ++t) {
    const Packed rows = steps.take(x, t);
    EXPECT_EQ(rows.offsets.count, 4);
    EXPECT_EQ(rows.offsets.total(), rows.rows.rows());
    taken.push_back(rows.rows);
  }
  EXPECT_EQ(taken[1].rows(), 2);
  EXPECT_EQ(taken[1].row(1)[0], x.row(5)[0]);
  const Tensor back = steps.put_back(taken);
  EXPECT_EQ(std::vector<float>(back.data(), back.data() + back.size()),
            std::vector<float>(x.data(), x.data() + x.size()));
}

TEST(RowsByStep, GoOnWithTheLastRow) {
  Tape tape({.recording = false, .training = false});
  const Offsets all = tape.offsets(std::vector<int64_t>{0, 3, 4});
  Tensor x = tape.filled(4, 1, 0.0f);
  for (int64_t i = 0; i < 4; ++i) x.data()[i] = static_cast<float>(i);
  const RowsByStep steps(all, Ended::last_row, tape);
  std::vector<Tensor> taken;
  for (int64_t t = 0; t < steps.steps(); ++t) taken.push_back(steps.take(x, t).rows);
  for (const Tensor& step : taken) EXPECT_EQ(step.row(1)[0], 3.0f);
  const Tensor back = steps.put_back(taken);
  EXPECT_EQ(std::vector<float>(back.data(), back.data() + 4), (std::vector<float>{0, 1, 2, 3}));
}

}  // namespace
}  // namespace heed::attend::test
