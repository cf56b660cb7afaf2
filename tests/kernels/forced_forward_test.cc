// Forced-forward attention in steps: the state that one call hands to the next, and the gradient that comes back.
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "tests/kernels/combinations.h"
#include "tests/kernels/expect.h"

namespace heed::kernels::test {
namespace {

/// What all calls together give: rows put back in their places, everything else added up.
struct Steps {
  std::vector<float> out, column_lse;
  Values<float> grad;
};

std::vector<double> first_state(const Case& c) {
  return c.x.column_lse.empty() ? std::vector<double>(c.columns(), -INFINITY) : c.x.column_lse;
}

/// The queries [cuts[n], cuts[n + 1]) of `c`, which stand where they stood, from the state `before`.
Case step(const Case& c, const std::vector<int64_t>& cuts, size_t n, const std::vector<double>& before) {
  Case part = some_queries(c, cuts[n], cuts[n + 1] - cuts[n]);
  part.problem.region.align = Align::offset;
  part.problem.region.query_offset = cuts[n];
  part.x.column_lse = before;
  return part;
}

/// Rows of [B, H, count, width] into [B, H, Tq, width], from query `first` on.
void put_rows(const Case& c, int64_t first, const std::vector<float>& rows, std::vector<float>& all) {
  const int64_t heads = c.shape().batch * c.shape().heads;
  const auto one = static_cast<int64_t>(rows.size()) / heads, whole = static_cast<int64_t>(all.size()) / heads;
  const int64_t width = whole / c.shape().queries;
  for (int64_t bh = 0; bh < heads; ++bh)
    std::copy_n(rows.begin() + bh * one, one, all.begin() + bh * whole + first * width);
}

/// One call for the queries between each two cuts: forward from the first to the last, backward from the last to the
/// first.
void run_steps(const Case& c, const std::vector<int64_t>& cuts, Steps& all) {
  std::vector<std::vector<double>> states = {first_state(c)};
  all.out = unwritten(c.rows() * c.shape().value_dim);
  for (size_t n = 0; n + 1 < cuts.size(); ++n) {
    const Case part = step(c, cuts, n, states[n]);
    Library library(part, {}, 1);
    ASSERT_TRUE(library.forward().ok());
    put_rows(c, cuts[n], library.results.out, all.out);
    states.push_back(convert<double>(library.results.column_lse));
  }
  all.column_lse = convert<float>(states.back());

  std::vector<double> d_state = c.up.d_column_lse;
  Values<double> sums = zeros_like(c.x);
  std::vector<float> d_q = unwritten(c.x.q.size());
  for (size_t n = cuts.size() - 1; n-- > 0;) {
    Case part = step(c, cuts, n, states[n]);
    part.up.d_column_lse = d_state;
    Library library(part, {}, 1);
    ASSERT_TRUE(library.forward().ok() && library.backward().ok());
    d_state = convert<double>(library.grad.column_lse);
    put_rows(c, cuts[n], library.grad.q, d_q);
    library.grad.q.clear();
    library.grad.column_lse.clear();
    const Named<double> to = sums.named();
    const Named<float> from = library.grad.named();
    for (size_t t = 0; t < to.size(); ++t)
      for (size_t e = 0; e < from[t].second->size(); ++e)
        (*to[t].second)[e] += static_cast<double>((*from[t].second)[e]);
  }
  all.grad = convert<float>(sums);
  all.grad.q = d_q;
  for (size_t e = 0; e < d_state.size(); ++e)  // nothing depends on an empty state
    EXPECT_TRUE(states[0][e] != -INFINITY || d_state[e] == 0.0) << "column " << e;
  if (!c.x.column_lse.empty()) all.grad.column_lse = convert<float>(d_state);
}

void expect_like_one_call(const Case& c, const std::vector<std::vector<int64_t>>& ways) {
  Expected expected(c, true);
  on_every_isa([&] {
    for (const std::vector<int64_t>& cuts : ways) {
      SCOPED_TRACE(testing::Message() << cuts.size() - 1 << " calls");
      Steps steps;
      run_steps(c, cuts, steps);
      EXPECT_TRUE(expected.result_close("out", steps.out));
      EXPECT_TRUE(expected.result_close("column_lse", steps.column_lse));
      expected.compare_gradients(steps.grad);
    }
  });
}

std::vector<int64_t> one_by_one(int64_t queries) {
  std::vector<int64_t> cuts;
  for (int64_t t = 0; t <= queries; ++t) cuts.push_back(t);
  return cuts;
}

class ForcedForwardSteps : public testing::TestWithParam<std::tuple<Part, bool>> {};

// Causal: later keys are first seen by later calls, and the last ones by none. Lengths: the first sequence's last keys
// never are.
TEST_P(ForcedForwardSteps, GiveWhatOneCallGives) {
  for (const bool causal : {false, true}) {
    SCOPED_TRACE(testing::Message() << "causal " << causal);
    Case c({.batch = 2, .heads = 2, .kv_heads = 1, .queries = 25, .keys = 33, .dim = 6, .value_dim = 5});
    std::get<0>(GetParam()).apply(c);
    c.with_forced_forward(std::get<1>(GetParam())).with_key_lengths({20, 33});
    c.problem.region.causal = causal;
    ASSERT_TRUE(fill_smooth(c, 2, 1e-6));
    expect_like_one_call(c, {{0, 25}, {0, 7, 25}, one_by_one(25)});
  }
}

std::vector<Part> scores_of_pairs() {
  std::vector<Part> scores;
  for (const Part& part : all_scores())
    if (part.name == "inner" || part.name == "inner_softcap" || part.name == "tanh_sum" || part.name == "mlp2_gelu" ||
        part.name == "custom")
      scores.push_back(part);
  return scores;
}

INSTANTIATE_TEST_SUITE_P(All, ForcedForwardSteps,
                         testing::Combine(testing::ValuesIn(scores_of_pairs()), testing::Bool()), [](const auto& info) {
                           return std::get<0>(info.param).name + (std::get<1>(info.param) ? "_from_a_state" : "");
                         });

// Several query blocks and key blocks in a call.
TEST(ForcedForward, LongStepsGiveWhatOneCallGives) {
  Case c({.batch = 1, .heads = 2, .queries = 230, .keys = 260, .dim = 8, .value_dim = 7});
  c.with_forced_forward(true);
  c.problem.region.causal = true;
  c.problem.region.window_left = 150;
  c.fill(3);
  expect_like_one_call(c, {{0, 230}, {0, 101, 230}});
}

}  // namespace
}  // namespace heed::kernels::test
