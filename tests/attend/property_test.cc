// What holds whatever the numbers are.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/attend/cases.h"
#include "tests/attend/expect.h"
#include "tests/threads.h"

namespace heed::attend::test {
namespace {

Tensor squares(const Attended& a, Tape&) { return sum_squares(a.context); }

Matrix rows_of(const Matrix& m, int64_t first, int64_t last) { return rows_between(m, first, last); }

// ---------------------------------------------------------------------------------------------------- permuted keys

class Permuted : public testing::TestWithParam<std::string> {};

/// Scores that look at the content of a key and a region that does not look at its place: the order does not matter.
TEST_P(Permuted, KeysChangeNothing) {
  Case c = entry_case(GetParam());
  c.key_lengths = {6, 4};
  c.query_lengths = {3, 5};
  Library library(c);
  const Outcome before = library.run(Run::at_once);
  const std::vector<int64_t> order = {4, 2, 0, 5, 3, 1, 9, 6, 8, 7};  // row n goes to order[n]
  for (const std::string name : {"input.keys", "input.values"}) {
    const Values x = library.values();
    if (!has(x, name)) continue;
    Matrix moved = at(x, name);
    for (int64_t r = 0; r < moved.rows; ++r)
      for (int64_t d = 0; d < moved.cols; ++d) moved(order[r], d) = at(x, name)(r, d);
    library.set_input(name, moved);
  }
  const Outcome after = library.run(Run::at_once);
  EXPECT_TRUE(close("context", after.context.data, before.context.data, {1e-6, 1e-5}));
  for (int64_t b = 0; b < 2; ++b)
    for (int64_t i = 0; i < before.weights.queries; ++i)
      for (int64_t j = 0; j < c.key_lengths[b]; ++j)
        EXPECT_NEAR(after.weights(b, 0, i, order[b * 6 + j] - b * 6), before.weights(b, 0, i, j), 1e-6);
  for (const auto& [name, gradient] : before.gradients) {
    Matrix moved = gradient;
    for (int64_t r = 0; (name == "input.keys" || name == "input.values") && r < moved.rows; ++r)
      for (int64_t d = 0; d < moved.cols; ++d) moved(order[r], d) = gradient(r, d);
    EXPECT_TRUE(close("d_" + name, after.gradients.at(name).data, moved.data, {1e-5, 1e-4}));
  }
}

INSTANTIATE_TEST_SUITE_P(Entry, Permuted,
                         testing::Values("dot", "scaled_dot", "cosine", "general", "additive", "mlp", "projected",
                                         "self_scored", "softmax", "relu", "sigmoid", "identity", "hard", "sparsemax",
                                         "entmax15", "global", "key_value_mode", "cross_attention", "learned_query",
                                         "structured", "feed_forward", "multi_head"),
                         [](const auto& info) { return info.param; });

// ------------------------------------------------------------------------------------------------------ batch mates

class Alone : public testing::TestWithParam<Case> {};

/// A sequence gives the same bits alone and between others.
TEST_P(Alone, OrInABatchIsTheSame) {
  const Case& c = GetParam();
  Library together(c);
  const TapeOptions tape{.recording = true, .training = false};
  const Outcome all = together.run(Run::at_once, tape, squares);
  const Layout& layout = together.layout();
  for (int64_t b = 0; b < layout.batch(); ++b) {
    const Outcome one = together.alone(b)->run(Run::at_once, tape, squares);
    const int64_t rows = one.context.rows;
    const int64_t first = layout.query_offsets.empty() ? b * rows : layout.query_offsets[b];
    EXPECT_EQ(one.context.data, rows_of(all.context, first, first + rows).data) << "sequence " << b;
    for (const std::string name : {"input.keys", "input.values", "input.queries"}) {
      const auto found = one.gradients.find(name);
      if (found == one.gradients.end()) continue;
      const int64_t at = (name == std::string("input.queries") ? layout.query_offsets : layout.key_offsets)[b];
      EXPECT_EQ(found->second.data, rows_of(all.gradients.at(name), at, at + found->second.rows).data)
          << "sequence " << b << " d_" << name;
    }
  }
}

/// Lengths and masks are per batch, and a document is more than one sequence: those are not cut here.
std::vector<Case> of_single_sequences() {
  std::vector<Case> cases;
  for (Case c : entry_cases())
    if (c.options.structure != "hierarchical" && !has_region(c.options, "documents")) {
      c.mask = c.lengths = false;
      cases.push_back(c);
    }
  return cases;
}
INSTANTIATE_TEST_SUITE_P(Entry, Alone, testing::ValuesIn(of_single_sequences()), name_of_case);

// ---------------------------------------------------------------------------------------- what is not seen, is not
// seen

class Future : public testing::TestWithParam<std::string> {};

/// What looks back gives the same bits whatever comes later.
TEST_P(Future, ChangesNothing) {
  Case c = entry_case(GetParam());
  c.key_lengths = c.query_lengths = {6, 6};
  Library library(c);
  const Outcome before = library.run(Run::at_once);
  Matrix keys = at(library.values(), "input.keys");
  for (int64_t d = 0; d < keys.cols; ++d) keys(5, d) += 1.0, keys(11, d) -= 1.0;
  library.set_input("input.keys", keys);
  const Outcome after = library.run(Run::at_once);
  for (const int64_t first : {0, 6})
    EXPECT_EQ(rows_of(after.context, first, first + 5).data, rows_of(before.context, first, first + 5).data);
  EXPECT_NE(after.context.data, before.context.data);
}
INSTANTIATE_TEST_SUITE_P(Entry, Future, testing::Values("causal", "sliding_window", "sinks", "intra", "key_value"),
                         [](const auto& info) { return info.param; });

class Padding : public testing::TestWithParam<Case> {};

/// Keys beyond the lengths take part in nothing: other numbers there change no bit of the context or of a gradient.
TEST_P(Padding, ChangesNothing) {
  Library library(GetParam());
  const TapeOptions tape{.recording = true, .training = true, .seed = 4};
  const Outcome before = library.run(Run::at_once, tape);
  const Layout& layout = library.layout();
  for (const std::string name : {"input.keys", "input.values"}) {
    if (!has(library.values(), name)) continue;
    Matrix rows = at(library.values(), name);
    for (int64_t b = 0; b < layout.batch(); ++b)
      for (int64_t r = layout.key_offsets[b] + layout.counted_keys(b); r < layout.key_offsets[b + 1]; ++r)
        for (int64_t d = 0; d < rows.cols; ++d) rows(r, d) = 3.0 * static_cast<double>(d) - 5.0;
    library.set_input(name, rows);
  }
  const Outcome after = library.run(Run::at_once, tape);
  EXPECT_EQ(after.context.data, before.context.data);
  EXPECT_EQ(after.weights.data, before.weights.data);
  for (const auto& [name, gradient] : before.gradients) EXPECT_EQ(after.gradients.at(name).data, gradient.data) << name;
}

/// Where the keys are also the queries, or go through a GRU, the rows beyond the lengths are themselves asked.
std::vector<Case> with_padding() {
  std::vector<Case> cases;
  for (Case c : entry_cases())
    if (asks_with(c) != Asks::keys && c.options.structure != "hierarchical") {
      c.lengths = true;
      cases.push_back(c);
    }
  return cases;
}
INSTANTIATE_TEST_SUITE_P(Entry, Padding, testing::ValuesIn(with_padding()), name_of_case);

// ---------------------------------------------------------------------------------------------------------- threads

class Threads : public testing::TestWithParam<Case> {};

TEST_P(Threads, GiveTheSameBits) {
  Case c = GetParam();
  c.key_lengths = {70, 130, 101, 99};
  c.query_lengths = {40, 128, 1, 63};
  c.options.max_length = 130;
  Library library(c);
  const auto with = [&](int threads) {
    const heed::test::Threads guard(threads);
    return library.run(Run::at_once);
  };
  const Outcome one = with(1), two = with(2);
  EXPECT_EQ(one.context.data, two.context.data);
  EXPECT_EQ(one.weights.data, two.weights.data);
  for (const auto& [name, gradient] : one.gradients) EXPECT_EQ(gradient.data, two.gradients.at(name).data) << name;
}
INSTANTIATE_TEST_SUITE_P(Entry, Threads, testing::ValuesIn(entry_cases()), name_of_case);

// ---------------------------------------------------------------------------------------------- queries that see
// nothing

class SeesNothing : public testing::TestWithParam<std::string> {};

TEST_P(SeesNothing, GivesZerosAndNoGradient) {
  Case c = entry_case(GetParam());
  c.key_lengths = {4, 0, 3};
  c.query_lengths = {2, 3, 2};
  Library library(c);
  const Outcome got = library.run(Run::at_once);
  for (int64_t row = 2; row < 5; ++row) {
    for (int64_t d = 0; d < got.context.cols; ++d) EXPECT_EQ(got.context(row, d), 0.0);
    const Matrix& d_q = got.gradients.at("input.queries");
    for (int64_t d = 0; d < d_q.cols; ++d) EXPECT_EQ(d_q(row, d), 0.0);
  }
  for (const auto& [name, gradient] : got.gradients)
    for (const double value : gradient.data) EXPECT_TRUE(std::isfinite(value)) << name;
}
INSTANTIATE_TEST_SUITE_P(Entry, SeesNothing,
                         testing::Values("dot", "cosine", "general", "additive", "mlp", "softmax", "relu", "sigmoid",
                                         "identity", "hard", "hard_sampled", "sparsemax", "entmax15", "local_m",
                                         "local_p", "local_h", "not_self", "forced_forward", "guided", "forward_only"),
                         [](const auto& info) { return info.param; });

TEST(FirstRow, OfIntraAttentionIsZero) {
  Library library(entry_case("intra"));
  const Outcome got = library.run(Run::at_once);
  for (const int64_t row : {0, 1, 6})  // the first of each sequence
    for (int64_t d = 0; d < got.context.cols; ++d) EXPECT_EQ(got.context(row, d), 0.0);
}

/// identity: a weight of 0 is more than one of -1, so the position goes to its key and the next row sees both.
TEST(ForwardOnly, AWeightOfZeroWinsAgainstLess) {
  Case c = entry_case("forward_only");
  c.options.normalise = "identity";
  c.key_lengths = {2, 3};
  c.query_lengths = {2, 3};
  Library library(c);
  Matrix keys = at(library.values(), "input.keys"), queries = at(library.values(), "input.queries");
  // Scores of the first sequence: (0, -), then (+, +). Of the second: (-, 0, -), then (-, 0, -), then (+, +, +).
  const auto set = [](Matrix& m, int64_t row, double first, double second) {
    for (int64_t d = 0; d < m.cols; ++d) m(row, d) = d == 0 ? first : d == 1 ? second : 0.0;
  };
  set(keys, 0, 0, 1), set(keys, 1, -1, 2);
  set(keys, 2, -1, 2), set(keys, 3, 0, 1), set(keys, 4, -2, 3);
  set(queries, 0, 1, 0), set(queries, 1, 0, 1);
  set(queries, 2, 1, 0), set(queries, 3, 1, 0), set(queries, 4, 0, 1);
  library.set_input("input.keys", keys);
  library.set_input("input.queries", queries);
  for (const auto how : {test::Run::at_once, test::Run::step_by_step}) {
    const Outcome got = library.run(how);
    const Question ask{&c.options, &library.layout()};
    expect_results(got, reference(ask, library.values()), request_of(c));
    EXPECT_GT(got.weights(0, 0, 1, 0), 0.0) << "the key of weight 0 was passed";
    EXPECT_GT(got.weights(0, 0, 1, 1), 0.0);
    EXPECT_EQ(got.weights(1, 0, 2, 0), 0.0);
    EXPECT_GT(got.weights(1, 0, 2, 1), 0.0);
  }
}

/// A vector of zeros has no direction: score 0, gradient 0.
TEST(Cosine, OfZeroIsZero) {
  Case c = entry_case("cosine");
  Library library(c);
  Matrix keys = at(library.values(), "input.keys"), queries = at(library.values(), "input.queries");
  for (int64_t d = 0; d < keys.cols; ++d) keys(3, d) = queries(4, d) = 0.0;
  library.set_input("input.keys", keys);
  library.set_input("input.queries", queries);
  const Outcome got = library.run(Run::at_once);
  const Question ask{&c.options, &library.layout()};
  expect_results(got, reference(ask, library.values()), request_of(c));
  for (int64_t j = 0; j < 5; ++j) EXPECT_NEAR(got.weights(1, 0, 1, j), 0.2, 1e-6) << "all scores of a zero query are 0";
  for (int64_t d = 0; d < keys.cols; ++d) EXPECT_EQ(got.gradients.at("input.queries")(4, d), 0.0);
}

// ---------------------------------------------------------------------------------------------------------- dropout

TEST(Dropout, IsForTrainingAndRightOnAverage) {
  Case c = entry_case("scaled_dot");
  const Outcome without = Library(c).run(Run::at_once);
  c.options.dropout = 0.4f;
  Library library(c);
  const Outcome at_test = library.run(Run::at_once, {.recording = false, .training = false});
  EXPECT_EQ(at_test.context.data, without.context.data);
  constexpr int kDraws = 3000;
  std::vector<double> mean(without.context.data.size(), 0.0);
  for (int draw = 0; draw < kDraws; ++draw) {
    const Outcome got =
        library.run(Run::at_once, {.recording = false, .training = true, .seed = static_cast<uint64_t>(draw)});
    EXPECT_EQ(got.weights.data, without.weights.data) << "the weights are those before dropout";
    if (draw == 0) {
      EXPECT_NE(got.context.data, without.context.data);
    }
    for (size_t n = 0; n < mean.size(); ++n) mean[n] += got.context.data[n] / kDraws;
  }
  // A kept weight has the deviation sqrt(p / (1 - p)) = 0.82 of itself; values are below 2.5.
  EXPECT_TRUE(close("mean", mean, without.context.data, {5.0 * 0.82 * 2.5 / std::sqrt(kDraws), 0.0}));
}

// ------------------------------------------------------------------------------------------------------------ start

/// What self-attention adds at the start is shorter than what comes in, or a deep model cannot tell its rows apart.
TEST(Start, ProjectionsAreDrawnAsOneMatrix) {
  constexpr int64_t kWidth = 64;
  Parameters parameters;
  const auto attention = make(parameters, options_of("multi_head", {.key_width = kWidth, .heads = 4}));
  const double alone = std::sqrt(6.0 / (2 * kWidth)), as_one = std::sqrt(6.0 / (4 * kWidth));
  const auto largest = [&](std::string_view name) {
    double most = 0.0;
    for (const float w : parameters.at(name).value) most = std::max(most, std::abs(static_cast<double>(w)));
    return most;
  };
  for (const auto name : {"query.weight", "key.weight", "value.weight"})
    EXPECT_NEAR(largest(name), as_one, 0.01 * as_one);
  EXPECT_NEAR(largest("output.weight"), alone, 0.01 * alone);
}

// ----------------------------------------------------------------------------------------------------------- memory

class Memoryless : public testing::TestWithParam<Case> {};

/// After the first steps, a step of the same size asks the system for nothing.
TEST_P(Memoryless, SteadyStep) {
  Library library(GetParam());
  Tape tape;
  for (int step = 0; step < 3; ++step) {
    library.run_on(tape, Run::at_once, squares);
    tape.reset();
  }
  const int64_t before = tape.arena().system_calls();
  for (int step = 0; step < 5; ++step) {
    library.run_on(tape, Run::at_once, squares);
    tape.reset();
  }
  EXPECT_EQ(tape.arena().system_calls(), before);
}
INSTANTIATE_TEST_SUITE_P(Entry, Memoryless, testing::ValuesIn(entry_cases()), name_of_case);

}  // namespace
}  // namespace heed::attend::test
