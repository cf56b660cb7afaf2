// Parameters and their names, dropout, what is refused, and the costs that attention adds to the loss.
#include <functional>
#include <set>

#include "heed/base/error.h"
#include "tests/model/small.h"

namespace heed::model::test {
namespace {

std::set<std::string> names_of(const Parameters& parameters) {
  std::set<std::string> names;
  for (const Parameter& p : parameters) names.insert(p.name);
  return names;
}

std::string message_of(const Options& options) {
  try {
    Parameters parameters;
    Seq2Seq(parameters, options);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

double loss_with(const Made& made, const TapeOptions& options) {
  const Batch batch(ragged());
  Tape tape(options);
  return made.model.loss(tape, batch, {}).loss.item();
}

// ---------------------------------------------------------------------------------------------------- tied embeddings

TEST(Tied, SharesTables) {
  for (const char* kind : {"rnn", "transformer"}) {
    SCOPED_TRACE(kind);
    Options o = small(kind);
    const int64_t table = kVocabulary * o.width;
    Parameters none, decoder, all;
    const Seq2Seq a(none, o);
    o.tied = "decoder";
    const Seq2Seq b(decoder, o);
    o.tied = "all";
    const Seq2Seq c(all, o);
    std::set<std::string> names = names_of(none);
    EXPECT_TRUE(names.count("source.weight") && names.count("target.weight") && names.count("output.weight"));
    EXPECT_TRUE(names.count("output.bias"));
    names.erase("output.weight");
    EXPECT_EQ(names_of(decoder), names);
    EXPECT_EQ(decoder.count(), none.count() - table);
    names.erase("target.weight");
    EXPECT_EQ(names_of(all), names);
    EXPECT_EQ(all.count(), none.count() - 2 * table);
  }
}

TEST(Tied, AllNeedsOneVocabulary) {
  Options o = small("rnn");
  o.tied = "all";
  o.source_vocabulary = kVocabulary + 1;
  EXPECT_NE(message_of(o).find("one vocabulary"), std::string::npos) << message_of(o);
}

// ------------------------------------------------------------------------------------------------------------ dropout

TEST(Dropout, FollowsTheSeedAndIsOffOutsideTraining) {
  for (const char* kind : {"rnn", "transformer"})
    for (const bool on_weights : {false, true}) {
      SCOPED_TRACE(std::string(kind) + (on_weights ? ", of the weights" : ""));
      Options o = small(kind);
      const double without = loss_with(Made(o), {});
      (on_weights ? o.attention.dropout : o.dropout) = 0.3f;
      const Made made(o);
      EXPECT_EQ(loss_with(made, {.seed = 1}), loss_with(made, {.seed = 1}));
      EXPECT_NE(loss_with(made, {.seed = 1}), loss_with(made, {.seed = 2}));
      EXPECT_NE(loss_with(made, {.seed = 1}), without);
      for (const uint64_t seed : {1, 2})
        // Inference has products of its own, so the last bits may differ.
        EXPECT_NEAR(loss_with(made, {.recording = false, .training = false, .seed = seed}), without, 1e-6 * without);
    }
}

// ------------------------------------------------------------------------------------------------------------ refusals

TEST(Refused, WordsThatDoNotExist) {
  const std::vector<std::pair<std::string, std::function<void(Options&)>>> wrong = {
      {"no encoder 'perceptron'", [](auto& o) { o.kind = "perceptron"; }},
      {"no decoder 'perceptron'", [](auto& o) { o.decoder = "perceptron"; }},
      {"tied", [](auto& o) { o.tied = "some"; }},
      {"cell", [](auto& o) { o.cell = "elman"; }},
      {"norm", [](auto& o) { o.norm = "both"; }},
      {"positions", [](auto& o) { o.positions = "relative"; }},
      {"activation", [](auto& o) { o.kind = "transformer", o.activation = "softsign"; }},
      {"vocabularies", [](auto& o) { o.target_vocabulary = 0; }},
      {"decoder_layers", [](auto& o) { o.decoder_layers = 0; }},
  };
  for (const auto& [says, change] : wrong) {
    Options o = small("rnn");
    change(o);
    EXPECT_NE(message_of(o).find(says), std::string::npos) << says << ": '" << message_of(o) << "'";
  }
}

TEST(Refused, RotaryHeadsThatCannotTurn) {
  Options o = small("transformer");
  o.positions = "rotary";
  EXPECT_EQ(message_of(o), "");
  o.attention.heads = 8;  // of width 1
  EXPECT_NE(message_of(o).find("must be even"), std::string::npos) << message_of(o);
  o.attention.heads = 2;
  o.attention.score = "additive";
  EXPECT_NE(message_of(o).find("additive does not multiply"), std::string::npos) << message_of(o);
  o.attention.score = "scaled_dot";
  o.attention.position = "alibi";
  EXPECT_NE(message_of(o).find("set one of them to none"), std::string::npos) << message_of(o);
}

TEST(Refused, AllReasonsAtOnce) {
  Options o = small("rnn");
  o.attention.region = "documents";
  o.attention.value_width = 4;
  EXPECT_NE(message_of(o).find("document id for every token"), std::string::npos) << message_of(o);
  EXPECT_NE(message_of(o).find("value_width = 4"), std::string::npos) << message_of(o);
}

// ------------------------------------------------------------------------------ what attention adds to the loss

/// loss = scale * (nll + weight * mean of heads and layers of the cost, added up over the rows)
TEST(Guided, CostIsPartOfTheLossWhileTraining) {
  const Batch batch(ragged());
  for (const char* kind : {"rnn", "transformer"})
    for (const bool feeding : {false, true}) {
      Options o = small(kind);
      o.decoder_layers = o.kind == "rnn" ? 1 : 2;
      o.input_feeding = feeding;
      o.attention.time = "guided";
      const auto cost_with = [&](float weight, bool training) {
        o.attention.guide_weight = weight;
        const Made made(o);
        Tape tape({.training = training});
        const OutputLoss loss = made.model.loss(tape, batch, {.scale = 0.5f});
        return loss.loss.item() / 0.5 - loss.negative_log_likelihood;
      };
      const double cost = cost_with(1.0f, true);
      EXPECT_GT(cost, 0.05);  // a cost of a row lies between 0 and 1
      EXPECT_LT(cost, static_cast<double>(batch.rows()));
      EXPECT_NEAR(cost_with(3.0f, true), 3.0 * cost, 1e-4);
      EXPECT_NEAR(cost_with(0.0f, true), 0.0, 1e-4);
      EXPECT_NEAR(cost_with(1.0f, false), 0.0, 1e-4);
    }
}

TEST(Guided, InputFeedingCountsTheSameRows) {
  // With W of the fed vector at zero, feeding changes nothing, and the costs must agree.
  const Batch batch(ragged());
  const auto loss_of = [&](bool feeding) {
    Options o = small("rnn");
    o.attention.time = "guided";
    o.input_feeding = feeding;
    Parameters parameters;
    const Seq2Seq model(parameters, o);
    Parameter& in = parameters.at("decoder.recurrent.0.forward.input.weight");
    for (int64_t r = 0; r < in.rows(); ++r)
      for (int64_t c = 0; c < in.cols(); ++c)
        in.value[static_cast<size_t>(r * in.cols() + c)] = c < o.width ? 0.1f * static_cast<float>((r + c) % 5) : 0.0f;
    Tape tape;
    return model.loss(tape, batch, {}).loss.item();
  };
  EXPECT_NEAR(loss_of(true), loss_of(false), 1e-4);
}

/// What is drawn has no gradient of its own: it comes by the reward.
TEST(HardSampled, ScoresLearnByTheReward) {
  const Batch batch(ragged());
  for (const char* kind : {"rnn", "transformer"})
    for (const char* time : {"dynamic", "static"})
      for (const bool feeding : {false, true}) {
        SCOPED_TRACE(std::string(kind) + " " + time);
        Options o = small(kind);
        o.attention.normalise = "hard_sampled";
        o.attention.samples = 3;
        o.attention.score = "additive";
        o.attention.time = time;
        o.input_feeding = feeding;
        Made made(o);
        Tape tape({.seed = 4});
        tape.backward(made.model.loss(tape, batch, {}).loss);
        const std::string where = std::string(kind) == "rnn" ? "decoder.attention" : "decoder.0.source";
        const Parameter& v = made.parameters.at(where + ".score.v");
        ASSERT_TRUE(v.has_gradient);
        double most = 0.0;
        for (const float g : v.gradient) most = std::max(most, std::abs(static_cast<double>(g)));
        EXPECT_GT(most, 1e-5);
        EXPECT_LT(most, 100.0);
      }
}

/// The baseline is saved with the parameters. A loss leaves it as it is, and says how it moves; outside training it
/// rests.
TEST(HardSampled, TheBaselineIsAMovingAverage) {
  const Batch batch(ragged());
  Options o = small("rnn");
  o.attention.normalise = "hard_sampled";
  o.attention.baseline_decay = 0.5f;
  Made made(o);
  Parameter& drawn = made.parameters.at("reinforce.baseline");
  drawn.value = std::vector<float>{0.0f, 0.0f};  // as a new model has it; all parameters of a Made are drawn
  const Parameter& state = drawn;
  EXPECT_FALSE(state.trainable);
  const auto mean_reward = [&](uint64_t seed, bool training) {
    Tape tape({.training = training, .seed = seed});
    const std::vector<float> before = state.value;
    const Loss loss = made.model.loss(tape, batch, {});
    EXPECT_EQ(state.value, before);
    EXPECT_EQ(loss.baseline.baseline, training ? &drawn : nullptr);
    apply_change(loss.baseline);
    return -loss.negative_log_likelihood / static_cast<double>(batch.rows());
  };
  mean_reward(3, false);
  EXPECT_EQ(state.value[1], 0.0f);
  const double first = mean_reward(4, true);
  EXPECT_NEAR(state.value[0], first, 1e-5);
  EXPECT_EQ(state.value[1], 1.0f);
  const double second = mean_reward(5, true);
  EXPECT_NEAR(state.value[0], 0.5 * first + 0.5 * second, 1e-5);
  const float before = state.value[0];
  mean_reward(6, false);
  EXPECT_EQ(state.value[0], before);
  // Batches of one update: their rewards together.
  Tape one({.seed = 7}), other({.seed = 8});
  BaselineChange both;
  double total = 0.0;
  for (Tape* tape : {&one, &other}) {
    const Loss loss = made.model.loss(*tape, batch, {});
    total -= loss.negative_log_likelihood;
    add_change(both, loss.baseline);
  }
  apply_change(both);
  EXPECT_NEAR(state.value[0], 0.5 * before + 0.5 * total / static_cast<double>(2 * batch.rows()), 1e-5);
  EXPECT_EQ(Made(small("rnn")).parameters.find("reinforce.baseline"), nullptr);
}

/// A bonus for choices that stay open: less loss, and more the more weight it has.
TEST(HardSampled, EntropyIsPartOfTheLoss) {
  const Batch batch(ragged());
  for (const char* kind : {"rnn", "transformer"})
    for (const char* time : {"dynamic", "static"})
      for (const bool feeding : {false, true}) {
        SCOPED_TRACE(std::string(kind) + " " + time);
        Options o = small(kind);
        o.input_feeding = feeding;
        o.attention.normalise = "hard_sampled";
        o.attention.time = time;
        const auto loss_with_weight = [&](float weight) {
          o.attention.entropy_weight = weight;
          const Made made(o);
          Tape tape({.seed = 4});
          return made.model.loss(tape, batch, {}).loss.item();
        };
        const double none = loss_with_weight(0.0f), some = loss_with_weight(0.25f), more = loss_with_weight(0.75f);
        EXPECT_LT(some, none - 0.01);
        EXPECT_NEAR(more - none, 3.0 * (some - none), 1e-3);
      }
}

}  // namespace
}  // namespace heed::model::test
