// Impossible problems are refused with every reason, in words that name the field.
#include <string>

#include <gtest/gtest.h>

#include "tests/kernels/library.h"

namespace heed::kernels::test {
namespace {

constexpr Shape kCheckShape = {.batch = 1, .heads = 2, .queries = 4, .keys = 5, .dim = 3, .value_dim = 2};

/// Refused, and every word is found in some reason.
testing::AssertionResult refused(const Status& status, const std::vector<std::string>& words) {
  if (status.ok()) return testing::AssertionFailure() << "was accepted";
  for (const std::string& word : words)
    if (status.message().find(word) == std::string::npos)
      return testing::AssertionFailure() << "no reason names " << word << ":\n" << status.message();
  return testing::AssertionSuccess();
}

template <class Break>
Status broken(Break change, Case c = Case(kCheckShape)) {
  c.fill(1);
  Library library(c);
  change(library);
  Status status = kernels::forward(library.problem, library.inputs, library.outputs);
  EXPECT_EQ(status.reasons(), check(library.problem, library.inputs, library.outputs).reasons());
  return status;
}

TEST(Check, PossibleIsAccepted) {
  const Status status = broken([](Library&) {});
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(status.message(), "");
}

TEST(Check, AllReasonsAtOnce) {
  const Status status = broken([](Library& l) {
    l.problem.shape.kv_heads = 3;
    l.problem.shape.queries = -4;
    l.inputs.q.data = nullptr;
    l.problem.dropout.p = 1.5f;
  });
  EXPECT_TRUE(refused(status, {"kv_heads", "queries", "q", "dropout"}));
  EXPECT_GE(status.reasons().size(), 4u);
}

TEST(Check, EachFieldIsNamed) {
  const auto change = [](auto f) { return broken(f); };
  EXPECT_TRUE(refused(change([](Library& l) { l.problem.shape.batch = -1; }), {"batch"}));
  EXPECT_TRUE(refused(change([](Library& l) { l.problem.shape.heads = 0; }), {"heads"}));
  EXPECT_TRUE(refused(change([](Library& l) { l.problem.shape.keys = -1; }), {"keys"}));
  EXPECT_TRUE(refused(change([](Library& l) { l.problem.shape.dim = -1; }), {"dim"}));
  EXPECT_TRUE(refused(change([](Library& l) { l.problem.shape.value_dim = -2; }), {"value_dim"}));
  EXPECT_TRUE(refused(change([](Library& l) { l.inputs.k.data = nullptr; }), {"k"}));
  EXPECT_TRUE(refused(change([](Library& l) { l.inputs.v.data = nullptr; }), {"v"}));
  EXPECT_TRUE(refused(change([](Library& l) { l.outputs.out.data = nullptr; }), {"out"}));
  EXPECT_TRUE(refused(change([](Library& l) { l.problem.score.kind = ScoreKind::tanh_sum; }), {"score.v"}));
  EXPECT_TRUE(refused(change([](Library& l) { l.problem.score.kind = ScoreKind::custom; }), {"custom"}));
  EXPECT_TRUE(refused(change([](Library& l) { l.problem.score.softcap = -1.0f; }), {"softcap"}));
  EXPECT_TRUE(refused(change([](Library& l) { l.problem.dropout.p = -0.1f; }), {"dropout"}));
  EXPECT_TRUE(refused(change([](Library& l) { l.problem.dropout.p = 1.0f; }), {"dropout"}));
  EXPECT_TRUE(refused(change([](Library& l) { l.problem.threads = -1; }), {"threads"}));
  EXPECT_TRUE(refused(change([](Library& l) { l.problem.region.window_left = -7; }), {"window_left"}));
}

TEST(Check, CombinationsThatMeanNothing) {
  Case sink(kCheckShape);
  sink.with_sink();
  EXPECT_TRUE(
      refused(broken([](Library& l) { l.problem.normalise.kind = Normaliser::sigmoid; }, sink), {"sink", "softmax"}));
  Case forced(kCheckShape);
  forced.with_forced_forward();
  EXPECT_TRUE(refused(broken([](Library& l) { l.problem.normalise.kind = Normaliser::sparsemax; }, forced),
                      {"forced_forward", "softmax"}));
  EXPECT_TRUE(
      refused(broken([](Library& l) { l.problem.forced_forward.on = true; }, sink), {"sink", "forced_forward"}));
  EXPECT_TRUE(refused(broken([](Library& l) { l.problem.normalise.divide_by_visible = true; }), {"divide_by_visible"}));
  Case documents(kCheckShape);
  documents.with_documents(2);
  EXPECT_TRUE(refused(broken([](Library& l) { l.problem.region.key_documents = nullptr; }, documents), {"documents"}));
  Case mlp(kCheckShape);
  mlp.with_mlp(MlpActivation::tanh, {4, 5});
  EXPECT_TRUE(
      refused(broken([](Library& l) { const_cast<MlpLayer*>(l.problem.score.layers)[1].in = 9; }, mlp), {"layers"}));
  Case ragged({.heads = 1, .dim = 2, .value_dim = 2});
  ragged.with_ragged({2, 3}, {2, 3});
  const int64_t falling[] = {0, 4, 2};
  EXPECT_TRUE(refused(broken([&](Library& l) { l.problem.ragged.key_offsets = falling; }, ragged), {"key_offsets"}));
}

TEST(Check, PackedTensorsNeedPackedQueries) {
  const Status status =
      broken([](Library& l) { l.problem.bias.packed = l.problem.guide.packed = l.problem.region.mask_packed = true; });
  EXPECT_TRUE(refused(status, {"bias.packed", "guide.packed", "region.mask_packed", "ragged.query_offsets"}));
  EXPECT_EQ(status.reasons().size(), 3u);
  Case keys({.heads = 1, .queries = 4, .dim = 2, .value_dim = 2});  // ragged keys are not enough
  keys.with_ragged({}, {2, 3});
  EXPECT_TRUE(refused(broken([](Library& l) { l.problem.bias.packed = true; }, keys), {"bias.packed"}));
}

TEST(Check, TheStatesGradientNeedsAState) {
  Case c(kCheckShape);
  c.with_forced_forward().fill(1);
  Library library(c);
  ASSERT_TRUE(library.forward().ok());
  std::vector<float> d_state(c.columns());
  BackwardInputs from;
  from.saved = library.saved.data();
  from.forced_saved = library.forced_saved.data();
  from.out = from.d_out = contiguous<const float>(library.results.out.data(), 2, 4, 2);
  from.d_column_lse = d_state.data();
  Gradients to;
  to.d_column_lse = d_state.data();
  Problem p = library.problem;
  EXPECT_TRUE(check(p, library.inputs, from, to).ok());
  p.forced_forward.column_lse = nullptr;
  EXPECT_TRUE(refused(check(p, library.inputs, from, to), {"backward.d_column_lse", "gradients.d_column_lse"}));
  p.forced_forward = {.on = false, .column_lse = d_state.data()};
  EXPECT_TRUE(refused(check(p, library.inputs, from, to), {"backward.d_column_lse", "gradients.d_column_lse"}));
}

TEST(Check, LseNeedsASoftmax) {
  Case c(kCheckShape);
  c.problem.normalise.kind = Normaliser::relu;
  std::vector<float> lse(8);
  EXPECT_TRUE(refused(broken([&](Library& l) { l.outputs.lse = lse.data(); }, c), {"lse"}));
}

TEST(Check, BackwardNeedsWhatTheForwardLeft) {
  Case c(kCheckShape);
  c.fill(1);
  Library library(c);
  ASSERT_TRUE(library.forward().ok());
  std::vector<float> d_q(2 * 4 * 3);
  Gradients to;
  to.d_q = contiguous(d_q.data(), 2, 4, 3);
  const Status status = backward(library.problem, library.inputs, {}, to);
  EXPECT_TRUE(refused(status, {"d_out", "saved", "out"}));
  EXPECT_GE(status.reasons().size(), 3u);
}

TEST(Isa, UnknownIsRefusedNamingWhatThereIs) {
  const std::string before = isa();
  const Status status = use_isa("nonsense");
  EXPECT_TRUE(refused(status, {"nonsense"}));
  for (const std::string& name : available_isas()) EXPECT_TRUE(refused(status, {name}));
  EXPECT_EQ(isa(), before);
  for (const std::string& name : available_isas()) {
    ASSERT_TRUE(use_isa(name).ok());
    EXPECT_EQ(isa(), name);
  }
  ASSERT_TRUE(use_isa("").ok());
}

}  // namespace
}  // namespace heed::kernels::test
