// [attention.PLACE] in recipes: what it says is done there and nowhere else, it survives files, and what a model lacks
// is refused by name.
#include <map>

#include "heed/attend/all.h"
#include "heed/task/all.h"
#include "heed/task/description.h"
#include "heed/task/version_1.h"
#include "heed/train/without_effect.h"
#include "tests/train/attention/kinds.h"

namespace heed::train::test {
namespace {

using heed::test::TemporaryFolder;

Kind kind_called(const std::string& name) {
  for (const Kind& kind : kinds())
    if (kind.name == name) return kind;
  throw Error("no kind " + name);
}

class Places : public testing::Test {
 protected:
  void SetUp() override { write_data(folder_); }
  recipe::Recipe recipe(const std::string& kind, const Settings& more) {
    return recipe_of(kind_called(kind), folder_, more);
  }
  std::map<std::string, attend::Options> made(const std::string& kind, const Settings& more) {
    std::map<std::string, attend::Options> all;
    for (const attend::Made& each : attentions_of(recipe(kind, more))) all[each.name] = each.options;
    return all;
  }
  std::string refusal(const std::string& kind, const Settings& more) {
    try {
      check_model(recipe(kind, more));
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  TemporaryFolder folder_;
};

void expect_in(const std::string& part, const std::string& whole) {
  EXPECT_NE(whole.find(part), std::string::npos) << "'" << part << "' is not in: " << whole;
}

TEST_F(Places, AreChangedAlone) {
  const Settings deep = {"model.encoder_layers=2", "model.decoder_layers=2", "attention.heads=2"};
  const auto with = [&](Settings more) {
    more.insert(more.end(), deep.begin(), deep.end());
    return made("pairs_transformer", more);
  };
  auto all = with({"attention.source.region=local_m", "attention.source.window=2"});
  EXPECT_EQ(all.at("decoder.0.source").region, "local_m");
  EXPECT_EQ(all.at("decoder.1.source").window, 2);
  EXPECT_EQ(all.at("decoder.0.self").region, "causal");
  EXPECT_EQ(all.at("encoder.0.self").region, "global");
  all = with({"attention.decoder.strict=true"});
  EXPECT_TRUE(all.at("decoder.0.self").strict);
  EXPECT_EQ(all.at("encoder.0.self").region, "global");
  all = with({"attention.source.normalise=hard"});
  EXPECT_EQ(all.at("decoder.0.source").normalise, "hard");
  EXPECT_EQ(all.at("encoder.0.self").normalise, "softmax");
  all = with({"attention.encoder.score=synthesizer_dense"});
  EXPECT_EQ(all.at("encoder.1.self").score, "synthesizer_dense");
  EXPECT_EQ(all.at("decoder.1.self").score, "scaled_dot");
  all = with({"attention.score=dot", "attention.source.score=concat"});
  EXPECT_EQ(all.at("decoder.0.source").score, "additive");
  EXPECT_EQ(all.at("decoder.0.self").score, "dot");
  all = with({"attention.encoder.layer.1.score=additive", "attention.decoder.layer.0.normalise=relu"});
  EXPECT_EQ(all.at("encoder.0.self").score, "scaled_dot");
  EXPECT_EQ(all.at("encoder.1.self").score, "additive");
  EXPECT_EQ(all.at("decoder.0.self").normalise, "relu");
  EXPECT_EQ(all.at("decoder.1.self").normalise, "softmax");
}

/// Paulus et al. 2018: intra attention in the decoder, temporal attention to the source.
TEST_F(Places, ARecurrentDecoderLooksBack) {
  const auto all = made("pairs_rnn", {"attention.time=forced_forward", "attention.decoder.score=intra"});
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all.at("decoder.self").score, "intra");
  EXPECT_EQ(all.at("decoder.self").time, "dynamic");
  EXPECT_EQ(all.at("decoder.self").region, "causal");
  EXPECT_TRUE(all.at("decoder.self").strict);
  EXPECT_EQ(all.at("decoder.attention").time, "forced_forward");
  EXPECT_EQ(made("pairs_rnn", {}).size(), 1u);
  EXPECT_EQ(made("pairs_rnn", {"attention.encoder.score=general"}).count("encoder.self"), 1u);
}

TEST_F(Places, AreRefusedWhereTheyAreNot) {
  expect_in("may have encoder, decoder, source", refusal("pairs_rnn", {"attention.memory.score=dot"}));
  expect_in("may have decoder", refusal("text_transformer", {"attention.source.score=dot"}));
  expect_in("may have encoder, pool, other", refusal("label_rnn", {"attention.decoder.score=dot"}));
  expect_in("there are decoder, decoder.layer.0", refusal("text_transformer", {"attention.decoder.layer.5.score=dot"}));
  expect_in("[attention.other] this model has no attention at 'other'",
            refusal("label_rnn", {"attention.other.score=dot"}));
  expect_in("did you mean 'attention.source.score'", refusal("pairs_rnn", {"attention.source.scor=dot"}));
  expect_in("decoder.layer.N", refusal("pairs_rnn", {"attention.decoder.1.score=dot"}));
  expect_in("attention.source.score must be one of", refusal("pairs_rnn", {"attention.source.score=dott"}));
  expect_in("window is an option of", refusal("pairs_transformer", {"attention.source.window=3"}));
  expect_in("[attention.decoder] time = \"guided\"", refusal("pairs_transformer", {"attention.decoder.time=guided"}));
}

TEST_F(Places, NothingIsIgnored) {
  expect_in("sliding_window+sinks", refusal("pairs_rnn", {"attention.region=sinks", "attention.sinks=2"}));
  expect_in("no mask", refusal("pairs_rnn", {"attention.region=masked"}));
  expect_in("model.head_width", refusal("pairs_transformer", {"attention.width=32"}));
  expect_in("time = \"guided\" has no effect", refusal("text_transformer", {"attention.time=guided"}));
  expect_in("project_bias has no effect without project",
            refusal("pairs_rnn", {"attention.project_bias=false", "model.bidirectional=false"}));
  expect_in("heads = 4 has no effect", refusal("label_rnn", {"attention.heads=4"}));
  expect_in("has its own score", refusal("label_rnn", {"attention.structure=hierarchical", "attention.score=dot"}));
}

TEST_F(Places, NoProjectionIsWhatWasAskedFor) {
  for (const char* kind : {"pairs_transformer", "pairs_parallel", "text_transformer", "masked"}) {
    for (const auto& [name, o] : made(kind, {"attention.heads=2"})) EXPECT_TRUE(o.project && o.project_output) << name;
    for (const auto& [name, o] : made(kind, {"attention.heads=2", "attention.project=false"}))
      EXPECT_TRUE(!o.project && !o.project_output) << name;
    for (const auto& [name, o] : made(kind, {"attention.heads=2", "attention.project_output=false"}))
      EXPECT_TRUE(o.project && !o.project_output) << name;
  }
  const auto shared = made("pairs_transformer", {"attention.project=false", "attention.heads=2", "attention.kv_heads=1",
                                                 "attention.score=general"});
  EXPECT_TRUE(shared.at("decoder.0.source").project_output) << "two contexts as wide as the source";
}

TEST_F(Places, SurviveFiles) {
  const recipe::Recipe before =
      recipe("pairs_transformer", {"attention.project_output=false", "attention.source.score=additive",
                                   "attention.decoder.layer.0.dropout=0.25", "attention.encoder.heads=2"});
  const recipe::Recipe after = recipe::parse(recipe::text_of(before), "again.toml");
  EXPECT_EQ(recipe::text_of(after), recipe::text_of(before));
  EXPECT_TRUE(recipe::differences(after, before).empty());
  const task::Description described = recipe::describe(before);
  const std::string text = task::text_of(described);
  expect_in("[attention.source]", text);
  expect_in("[attention.decoder.layer.0]", text);
  const task::Description read = task::parse_description(text, "model.toml");
  EXPECT_EQ(task::difference(read, described), "");
  EXPECT_FALSE(read.model.places.at(encode::kAllPlaces).to.project_output);
  recipe::Recipe other = recipe("pairs_transformer", {"attention.encoder.heads=2"});
  expect_in("attention.source.score is not set, was \"additive\"", recipe::difference(other, before));
}

/// Every file of an earlier release says project = false, whatever its model does.
TEST_F(Places, FilesOfEarlierReleasesAreAsTheyWere) {
  const std::string old =
      "# projected\n[attention]\nscore = \"dot\"\nproject = false\nproject_output = false\n[train]\n";
  EXPECT_EQ(task::without_former_projections(old), "# projected\n[attention]\nscore = \"dot\"\n[train]\n");
  const task::Description read = task::parse_description(
      "version = 2\n[model]\ntask = \"seq2seq\"\nkind = \"transformer\"\n[attention]\nproject = false\n", "model.toml");
  EXPECT_TRUE(read.model.places.empty());
  const task::Description projects =
      task::parse_description("version = 2\n[model]\ntask = \"seq2seq\"\n[attention]\nproject = true\n", "model.toml");
  EXPECT_TRUE(projects.model.places.at(encode::kAllPlaces).to.project);
}

/// A value that was chosen never contradicts one that was given.
TEST_F(Places, WhatIsChosenFits) {
  for (const char* score : {"additive", "mlp", "self_scored", "synthesizer_dense", "synthesizer_random"})
    for (const char* kind : {"text_transformer", "masked"}) {
      const Outcome outcome = outcome_of(kind_called(kind), folder_, {std::string("attention.score=") + score});
      EXPECT_EQ(outcome.refusal, "") << kind << " " << score;
    }
  for (const char* kind : {"label_rnn", "label_transformer"})
    EXPECT_EQ(outcome_of(kind_called(kind), folder_, {"attention.structure=feed_forward"}).refusal, "") << kind;
}

TEST_F(Places, AreToldInWords) {
  attend::Options o;
  o.region = "causal";
  o.strict = true;
  o.heads = 2;
  EXPECT_EQ(description_of(o),
            "score = \"scaled_dot\", heads = 2, normalise = \"softmax\", region = \"causal\", "
            "strict = true");
}

}  // namespace
}  // namespace heed::train::test
