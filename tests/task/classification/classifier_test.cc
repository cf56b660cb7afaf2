#include "heed/task/classification/classifier.h"
#include "heed/model/encode/convolution.h"

#include "heed/base/error.h"
#include "heed/task/classification/keys.h"
#include "heed/task/classification/labelled_texts.h"
#include "tests/model/slopes.h"

namespace heed::model::test {
namespace {

using task::Classifier;
using task::Judged;

constexpr int64_t kClasses = 3, kClassifierTokens = 9;

struct Kind {
  std::string name;
  std::function<void(Options&)> change;
};

task::LabelKeys& label_keys(Options& o) { return o.own.of<task::LabelKeys>(); }

task::LabelKeys& relate(Options& o, const char* relation) {
  o.two_texts = true;
  label_keys(o).relation = relation;
  return label_keys(o);
}

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
      {"convolution", [](Options& o) { o.kind = "convolution", o.encoder_layers = 2, o.activation = "gelu"; }},
      {"hierarchical_convolution",
       [](Options& o) {
         o.kind = "convolution", o.own.of<encode::ConvolutionKeys>().kernel = 2, o.activation = "gelu",
         o.attention.structure = "hierarchical";
       }},
      {"two_texts", [](Options& o) { o.two_texts = true; }},
      {"two_texts_additive", [](Options& o) { o.two_texts = true, o.attention.score = "additive"; }},
      {"two_texts_mean", [](Options& o) { o.two_texts = true, o.pool = "mean"; }},
      {"compare", [](Options& o) { relate(o, "compare").aggregate = "sum", o.activation = "gelu"; }},
      {"compare_max", [](Options& o) { relate(o, "compare"), o.attention.score = "additive"; }},
      {"compare_vectors",
       [](Options& o) {
         relate(o, "compare").compared = "vectors", label_keys(o).aggregate = "sum", o.attention.score = "cosine";
         o.attention.learned_temperature = true, o.activation = "gelu";
       }},
      {"compare_heads",
       [](Options& o) {
         relate(o, "compare").compared = "both", label_keys(o).aggregate = "sum";
         o.attention.structure = "multi_head", o.attention.heads = 2, o.activation = "gelu";
       }},
      {"word_by_word", [](Options& o) { relate(o, "word_by_word"), o.attention.score = "additive"; }},
      {"word_by_word_dot", [](Options& o) { relate(o, "word_by_word"), o.cell = "lstm"; }},
      {"joined", [](Options& o) { relate(o, "joined"); }},
      {"joined_transformer",
       [](Options& o) {
         relate(o, "joined"), o.kind = "transformer", o.attention.heads = 2, o.activation = "gelu";
         o.positions = "learned", o.max_length = 6;
       }},
      {"hidden", [](Options& o) { label_keys(o).hidden = 5, o.activation = "gelu"; }},
      {"mean", [](Options& o) { o.pool = "mean"; }},
      {"max", [](Options& o) { o.pool = "max"; }},
  };
}

Options classifier_options(const Kind& kind) {
  Options o{.task = "classification", .source_vocabulary = kClassifierTokens, .target_vocabulary = kClasses};
  o.width = 8;
  o.dropout = 0.0f;
  kind.change(o);
  return o;
}

struct Text {
  std::vector<int32_t> tokens, lengths, second, labels;
  float weight = 1.0f;

  void add_to(task::LabelledTexts& all) const {
    all.add({.source = {.tokens = tokens, .sentences = lengths, .second = second},
             .labels = labels,
             .weight = weight,
             .line = all.size() + 1});
  }
};

/// Of 1, 3 and 2 sentences; one of a single token.
std::vector<Text> three_texts() {
  return {
      {{4}, {1}, {6, 5, 4}, {2}}, {{5, 3, 8, 4, 6, 7}, {2, 3, 1}, {3}, {0}}, {{3, 3, 5, 8, 7}, {4, 1}, {7, 5}, {1}}};
}

data::Batch texts(bool several_labels = false) {
  task::LabelledTexts all(several_labels);
  for (const Text& text : three_texts()) text.add_to(all);
  const std::vector<int64_t> order = {0, 1, 2};
  return all.pack(order);
}

/// Without the kinks of max and sparsemax, whose own tests (tensor.pool, attend.gradient) check their gradients.
std::vector<Kind> smooth_kinds() {
  std::vector<Kind> some = kinds();
  std::erase_if(some, [](const Kind& kind) {
    return kind.name == "max" || kind.name == "compare_max" || kind.name == "sparsemax";
  });
  return some;
}

class ClassifierTest : public testing::TestWithParam<Kind> {};
class SmoothClassifierTest : public testing::TestWithParam<Kind> {};

TEST_P(SmoothClassifierTest, GradientsAreTheSlopesOfTheLoss) {
  Parameters parameters(1);
  const Classifier model(parameters, classifier_options(GetParam()));
  const data::Batch batch = texts();
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
  const Classifier model(parameters, classifier_options(GetParam()));
  const data::Batch batch = texts();
  Tape tape({.recording = false, .training = false});
  const Judged together = model.judge(tape, batch.sources, true);
  ASSERT_EQ(together.logits.rows(), 3);
  ASSERT_EQ(together.logits.cols(), kClasses);
  if (together.tokens.data)
    for (int64_t s = 0; s < together.tokens.batch; ++s)
      for (int64_t r = 0; r < together.tokens.queries; ++r) {
        if (model.reads_two_texts() && r >= std::ssize(three_texts()[static_cast<size_t>(s)].second)) continue;
        const float* weights = together.tokens.at(s, 0, r);
        EXPECT_NEAR(std::accumulate(weights, weights + together.tokens.keys, 0.0), 1.0, 1e-5);
      }
  EXPECT_EQ(together.sentences.data != nullptr, GetParam().name.starts_with("hierarchical"));
  task::LabelledTexts one;
  three_texts()[1].add_to(one);
  const std::vector<int64_t> only = {0};
  Tape other({.recording = false, .training = false});
  const Judged alone = model.judge(other, one.pack(only).sources, false);
  for (int64_t c = 0; c < kClasses; ++c) EXPECT_EQ(alone.logits.row(0)[c], together.logits.row(1)[c]);
}

TEST(Classifier, VectorsAloneNeedNoEncoder) {
  for (const bool vectors : {true, false}) {
    Options o =
        classifier_options({"", [&](Options& all) { relate(all, "compare").compared = vectors ? "vectors" : "both"; }});
    Parameters parameters(1);
    const Classifier model(parameters, o);
    const bool encodes = std::any_of(parameters.begin(), parameters.end(),
                                     [](const Parameter& p) { return p.name.starts_with("text.encoder"); });
    EXPECT_EQ(encodes, !vectors);
  }
}

INSTANTIATE_TEST_SUITE_P(, SmoothClassifierTest, testing::ValuesIn(smooth_kinds()),
                         [](const auto& i) { return i.param.name; });
INSTANTIATE_TEST_SUITE_P(, ClassifierTest, testing::ValuesIn(kinds()), [](const auto& i) { return i.param.name; });

TEST(Classifier, AnUnknownLabelDoesNotCount) {
  Parameters parameters(1);
  const Classifier model(parameters, classifier_options(kinds().front()));
  data::Batch batch = texts();
  Tape tape({.recording = false, .training = false});
  EXPECT_EQ(model.loss(tape, batch, {}).rows, 3);
  batch.targets.out[1] = -1;
  tape.reset();
  EXPECT_EQ(model.loss(tape, batch, {}).rows, 2);
}

TEST(Classifier, SeveralLabels) {
  Parameters parameters(1);
  const Classifier model(parameters, classifier_options(kinds().front()));
  task::LabelledTexts all(/*several_labels=*/true);
  Text text = three_texts()[1];
  for (const std::vector<int32_t>& labels : {std::vector<int32_t>{0, 2}, {}, {0, 1, 2}}) {
    text.labels = labels;
    text.add_to(all);
  }
  const std::vector<int64_t> order = {0, 1, 2};
  const auto packed = all.pack(order);
  Tape tape;
  tape.backward(model.loss(tape, packed, {}).loss);
  expect_slopes(parameters, [&] {
    Tape plain({.recording = false, .training = true});
    return model.loss(plain, packed, {}).negative_log_likelihood;
  });
}

TEST(Classifier, WeightsOfTextsAreInTheLossAlone) {
  Parameters parameters(1);
  const Classifier model(parameters, classifier_options(kinds().front()));
  data::Batch batch = texts();
  const auto loss_of = [&] {
    Tape tape({.recording = false, .training = true});
    const OutputLoss loss = model.loss(tape, batch, {});
    return std::pair(loss.loss.item(), loss.negative_log_likelihood);
  };
  const auto [plain, nll] = loss_of();
  batch.targets.weights = {3, 3, 3};
  const auto [weighted, same] = loss_of();
  EXPECT_NEAR(weighted, 3 * plain, 1e-5);
  EXPECT_EQ(nll, same);
}

TEST(Classifier, TheStructuredPenaltyIsPartOfTheLoss) {
  Options o =
      classifier_options({"", [](Options& m) { m.attention.structure = "structured", m.attention.queries = 2; }});
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
      const Classifier model(fresh, classifier_options({"", change}));
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(refused([](Options& o) { o.attention.structure = "key_value"; }).find("does not turn a text into a vector"),
            std::string::npos);
  EXPECT_NE(refused([](Options& o) { o.attention.time = "static"; }), "");
  EXPECT_NE(refused([](Options& o) { o.pool = "sum"; }).find("pool"), std::string::npos);
  for (const char* structure : {"hierarchical", "structured"})
    EXPECT_NE(refused([=](Options& o) { o.two_texts = true, o.attention.structure = structure; }).find("of its own"),
              std::string::npos);
  EXPECT_NE(refused([](Options& o) { o.two_texts = true, o.attention.normalise = "hard_sampled"; }).find("sampled"),
            std::string::npos);
  EXPECT_NE(refused([](Options& o) { o.target_vocabulary = 0; }).find("label"), std::string::npos);
}

}  // namespace
}  // namespace heed::model::test
