// Options::on_text: outputs while they are written, of every kind of model that writes.
#include <map>
#include <mutex>

#include <gtest/gtest.h>

#include "heed/predict/predictor.h"
#include "tests/predict/decided_model.h"
#include "tests/threads.h"

namespace heed::predict {
namespace {

using namespace test;

using Told = std::map<int64_t, std::vector<std::string>>;  // by the number of the line

/// A model, and lines for it.
struct Kind {
  const char* name;
  Predictor predictor;
  std::vector<std::string> lines;
};

trained::TrainedModel from(const std::string& toml, const std::vector<std::string_view>& source,
                           const std::vector<std::string_view>& target, const std::string& tokens) {
  recipe::Recipe recipe = recipe::parse(toml, "small.toml");
  recipe.open.clear();
  const auto words = [&](const std::vector<std::string_view>& of) {
    return text::Tokeniser::train(of, {.kind = tokens});
  };
  trained::TrainedModel made =
      trained::make_model(recipe::describe(recipe), {words(source), words(target)}, recipe.train.seed);
  make_up_its_mind(made, 1);
  return made;
}

/// It writes something.
Predictor talkative(trained::TrainedModel made) {
  made.parameters->at("output.bias").value[text::kEnd] -= 3.0f;
  return Predictor(std::move(made));
}

Predictor running_text() {
  const std::vector<std::string_view> letters = {"abcdefghijklmnopqrstuvwxyz "};
  return talkative(from(
      "[data]\ntext = \"none.txt\"\n[model]\ntask = \"language_model\"\nkind = \"rnn\"\nwidth = 8\ncontext = 32\n"
      "[attention]\nscore = \"dot\"\n[stop]\nsteps = 1\n[validate]\nlongest = 12\n[output]\nfolder = \"nowhere\"\n",
      letters, letters, "characters"));
}

Predictor pictures() {
  return talkative(from(
      "[data]\ntask = \"scene_captions\"\n[model]\ntask = \"picture\"\nkind = \"rnn\"\nwidth = 8\npicture_size = 16\n"
      "picture_layers = 2\nquestions = false\n[stop]\nsteps = 1\n[validate]\nlongest = 12\n[output]\nfolder = "
      "\"nowhere\"\n",
      {"red blue green circle ring"}, {"red blue green circle ring left of"}, "words"));
}

std::vector<Kind> kinds() {
  std::vector<Kind> all;
  all.push_back({"pairs", talkative(decided()), kLines});
  all.push_back({"transformer", talkative(decided(train::test::transformer())), kLines});
  all.push_back({"running text", running_text(), kLines});
  all.push_back({"pictures", pictures(), {"scene:1", "", "scene:2", "scene:3", "scene:4"}});
  return all;
}

/// What is told for each line; nothing else changes. The last text is the output.
Told told_by(const Kind& kind, Options options) {
  options.first_line = 7;
  const std::vector<Prediction> right = kind.predictor.predict_all(kind.lines, options);
  Told told;
  std::mutex one_at_a_time;
  options.on_text = [&](int64_t line, const std::string& text) {
    const std::lock_guard lock(one_at_a_time);
    told[line].push_back(text);
  };
  const std::vector<Prediction> found = kind.predictor.predict_all(kind.lines, options);
  for (size_t i = 0; i < right.size(); ++i) {
    expect_same(found[i], right[i]);
    EXPECT_EQ(right[i].error, "");
    const int64_t line = 7 + static_cast<int64_t>(i);
    EXPECT_FALSE(right[i].nbest.empty() && told.contains(line));
    EXPECT_EQ(told.contains(line) ? told[line].back() : "", right[i].text());
  }
  EXPECT_LE(told.size(), kind.lines.size());
  return told;
}

TEST(OnText, EveryKindOfModelThatWrites) {
  for (const int threads : {1, 3}) {
    const heed::test::Threads some(threads);
    for (const Kind& kind : kinds()) {
      SCOPED_TRACE(kind.name);
      for (const Options& o : {Options{}, Options{.sample = true, .seed = 4}}) {  // these only add
        const Told told = told_by(kind, o);
        EXPECT_GE(told.size(), 3u);
        for (const auto& [line, texts] : told)
          for (size_t t = 1; t < texts.size(); ++t) EXPECT_TRUE(texts[t].starts_with(texts[t - 1])) << texts[t];
      }
      told_by(kind, {.beam = 4, .length_penalty = 0.6});
      told_by(kind, {.beam = 4, .nbest = 3});
    }
  }
}

TEST(OnText, EnsemblesAndWordsThatMustCome) {
  std::vector<trained::TrainedModel> two;
  two.push_back(decided());
  two.push_back(decided(train::test::transformer()));
  const Kind both{"ensemble", Predictor(std::move(two)), kLines};
  told_by(both, {.alignments = false});
  told_by(both, {.beam = 3, .alignments = false});
  const Told told = told_by({"pairs", Predictor(decided()), kLines}, {.must = {"zq"}, .prefix = "w"});
  for (const auto& [line, texts] : told)
    for (const std::string& text : texts) EXPECT_TRUE(text.starts_with("w")) << text;
}

TEST(OnText, ParallelDecodersAfterEachPass) {
  const Kind kind{"parallel",
                  Predictor(decided({"model.kind=transformer", "model.decoder=parallel", "attention.score=scaled_dot",
                                     "attention.heads=2"})),
                  kLines};
  const Told told = told_by(kind, {.iterations = 3, .lengths = 2});
  EXPECT_GE(told.size(), 4u);
  for (const auto& [line, texts] : told) EXPECT_LE(texts.size(), 3u);
}

TEST(OnText, WhatHasNoLeaderIsRefused) {
  const Predictor predictor(decided());
  Options o{.nbest = 2, .sample = true};
  o.on_text = [](int64_t, const std::string&) {};
  expect_in("on_text", error_of([&] { predictor.predict("abc", o); }));
  o = {.mbr = "chrf"};
  o.on_text = [](int64_t, const std::string&) {};
  expect_in("while it is written", error_of([&] { predictor.predict("abc", o); }));
}

}  // namespace
}  // namespace heed::predict
