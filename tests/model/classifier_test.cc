#include "heed/model/classifier.h"

#include "heed/tensor/error.h"
#include "tests/model/slopes.h"

namespace heed::model::test {
namespace {

constexpr int64_t kClasses = 3, kVocabulary = 9;

struct Kind {
  std::string name;
  std::function<void(Options&)> change;
};

std::vector<Kind> kinds() {
  return {
      {"learned_query", [](Options&) {}},
      {"additive", [](Options& o) { o.attention.score = "additive"; }},
      {"sparsemax", [](Options& o) { o.attention.normalise = "sparsemax"; }},
      {"structured", [](Options& o) { o.attention.structure = "structured", o.attention.queries = 3; }},
      {"feed_forward",
       [](Options& o) {
         o.attention.structure = "feed_forward", o.attention.score = "self_scored", o.attention.form = "linear";
       }},
      {"self_scored", [](Options& o) { o.attention.score = "self_scored"; }},
      {"hierarchical", [](Options& o) { o.attention.structure = "hierarchical"; }},
      {"hierarchical_lstm", [](Options& o) { o.attention.structure = "hierarchical", o.cell = "lstm"; }},
      {"hierarchical_transformer",
       [](Options& o) {
         o.attention.structure = "hierarchical", o.kind = "transformer", o.attention.heads = 2, o.activation = "gelu";
         o.bidirectional = false;
       }},
      {"transformer", [](Options& o) { o.kind = "transformer", o.attention.heads = 2, o.activation = "gelu"; }},
      {"mean", [](Options& o) { o.pool = "mean"; }},
      {"max", [](Options& o) { o.pool = "max"; }},
  };
}

Options options_of(const Kind& kind) {
  Options o{.task = "label", .source_vocabulary = kVocabulary, .target_vocabulary = kClasses};
  o.width = 8;
  o.dropout = 0.0f;
  kind.change(o);
  return o;
}

/// Three texts of 1, 3 and 2 sentences; one of a single token.
data::PackedTexts texts() {
  data::LabelledTexts all;
  all.add(std::vector<int32_t>{4}, std::vector<int32_t>{1}, 2, 1);
  all.add(std::vector<int32_t>{5, 3, 8, 4, 6, 7}, std::vector<int32_t>{2, 3, 1}, 0, 2);
  all.add(std::vector<int32_t>{3, 3, 5, 8, 7}, std::vector<int32_t>{4, 1}, 1, 3);
  const std::vector<int64_t> order = {0, 1, 2};
  const auto packed = all.pack(order);
  return static_cast<const data::PackedTexts&>(*packed);
}

/// Without the kinks of max and sparsemax, whose own tests (tensor.pool, attend.gradient) check their gradients.
std::vector<Kind> smooth_kinds() {
  std::vector<Kind> some = kinds();
  std::erase_if(some, [](const Kind& kind) { return kind.name == "max" || kind.name == "sparsemax"; });
  return some;
}

class ClassifierTest : public testing::TestWithParam<Kind> {};
class SmoothClassifierTest : public testing::TestWithParam<Kind> {};

TEST_P(SmoothClassifierTest, GradientsAreTheSlopesOfTheLoss) {
  Parameters parameters(1);
  const Classifier model(parameters, options_of(GetParam()));
  const data::PackedTexts batch = texts();
  Tape tape;
  tape.backward(model.loss(tape, batch, {}).loss);
  expect_slopes(parameters, [&] {
    Tape plain({.recording = false, .training = true});
    return model.loss(plain, batch, {}).negative_log_likelihood;
  });
}

// A text is judged the same alone and with others; the weights of a sequence sum to 1 and stand on its tokens alone.
TEST_P(ClassifierTest, ATextIsJudgedTheSameAloneAndInABatch) {
  Parameters parameters(1);
  const Classifier model(parameters, options_of(GetParam()));
  const data::PackedTexts batch = texts();
  Tape tape({.recording = false, .training = false});
  const Judged together = model.judge(tape, batch, true);
  ASSERT_EQ(together.logits.rows(), 3);
  ASSERT_EQ(together.logits.cols(), kClasses);
  if (together.tokens.data)
    for (int64_t s = 0; s < together.tokens.batch; ++s)
      for (int64_t r = 0; r < together.tokens.queries; ++r) {
        const float* weights = together.tokens.at(s, 0, r);
        EXPECT_NEAR(std::accumulate(weights, weights + together.tokens.keys, 0.0), 1.0, 1e-5);
      }
  EXPECT_EQ(together.sentences.data != nullptr, GetParam().name.starts_with("hierarchical"));
  data::LabelledTexts one;
  one.add(std::vector<int32_t>{5, 3, 8, 4, 6, 7}, std::vector<int32_t>{2, 3, 1}, 0, 2);
  const std::vector<int64_t> only = {0};
  const auto packed = one.pack(only);
  Tape other({.recording = false, .training = false});
  const Judged alone = model.judge(other, static_cast<const data::PackedTexts&>(*packed), false);
  for (int64_t c = 0; c < kClasses; ++c) EXPECT_EQ(alone.logits.row(0)[c], together.logits.row(1)[c]);
}

INSTANTIATE_TEST_SUITE_P(, SmoothClassifierTest, testing::ValuesIn(smooth_kinds()),
                         [](const auto& i) { return i.param.name; });
INSTANTIATE_TEST_SUITE_P(, ClassifierTest, testing::ValuesIn(kinds()), [](const auto& i) { return i.param.name; });

TEST(Classifier, AnUnknownLabelDoesNotCount) {
  Parameters parameters(1);
  const Classifier model(parameters, options_of(kinds().front()));
  data::PackedTexts batch = texts();
  Tape tape({.recording = false, .training = false});
  EXPECT_EQ(model.loss(tape, batch, {}).rows, 3);
  batch.labels[1] = -1;
  tape.reset();
  EXPECT_EQ(model.loss(tape, batch, {}).rows, 2);
}

TEST(Classifier, TheStructuredPenaltyIsPartOfTheLoss) {
  Options o = options_of({"", [](Options& m) { m.attention.structure = "structured", m.attention.queries = 2; }});
  const auto loss_of = [&](float penalty) {
    o.penalty = penalty;
    Parameters parameters(1);
    const Classifier model(parameters, o);
    Tape tape;
    return model.loss(tape, texts(), {}).loss.item();
  };
  const float plain = loss_of(0), once = loss_of(0.5f), twice = loss_of(1.0f);
  EXPECT_GT(once, plain);
  EXPECT_NEAR(twice - plain, 2 * (once - plain), 1e-4);
}

TEST(Classifier, WhatPoolsNothingIsRefused) {
  Parameters parameters(1);
  const auto refused = [&](const std::function<void(Options&)>& change) -> std::string {
    try {
      Parameters fresh(1);
      const Classifier model(fresh, options_of({"", change}));
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(refused([](Options& o) { o.attention.structure = "key_value"; }).find("does not turn a text into a vector"),
            std::string::npos);
  EXPECT_NE(refused([](Options& o) { o.attention.time = "static"; }), "");
  EXPECT_NE(refused([](Options& o) { o.pool = "sum"; }).find("pool"), std::string::npos);
  EXPECT_NE(refused([](Options& o) { o.target_vocabulary = 0; }).find("label"), std::string::npos);
}

}  // namespace
}  // namespace heed::model::test
