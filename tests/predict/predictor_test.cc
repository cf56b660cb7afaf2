#include "heed/predict/predictor.h"

#include <cmath>
#include <limits>
#include <thread>

#include <gtest/gtest.h>

#include "heed/model/search/search.h"
#include "heed/tensor/parameter.h"
#include "heed/tensor/tape.h"
#include "tests/predict/decided_model.h"

namespace heed::predict {
namespace {

using namespace test;

/// It is the search, and nothing else.
TEST(Predictor, SaysWhatTheSearchFinds) {
  const Predictor predictor(decided());
  const Prediction got = predictor.predict("hello", {.beam = 4, .nbest = 3, .length_penalty = 0.6});
  const std::vector<int32_t> ids = predictor.source().encode("hello");
  const data::Sources sources = data::Sources::of(ids);
  Tape tape({.recording = false, .training = false});
  const search::Options options{
      .start = text::kStart, .end = text::kEnd, .longest = 25, .beam = 4, .nbest = 3, .alpha = 0.6, .alignment = true};
  const search::Result right =
      search::search(*predictor.model().model->generator(), tape, {.sources = sources}, options).front();
  ASSERT_EQ(got.nbest.size(), 3u);
  EXPECT_EQ(got.source_tokens, (std::vector<std::string>{"h", "e", "l", "l", "o"}));
  EXPECT_EQ(got.text(), got.nbest.front().text);
  for (size_t n = 0; n < 3; ++n) {
    const Output& output = got.nbest[n];
    const search::Hypothesis& h = right.hypotheses[n];
    EXPECT_EQ(output.text, predictor.target().decode(h.tokens));
    EXPECT_EQ(output.score, h.score);
    EXPECT_EQ(output.log_probability, h.log_probability);
    EXPECT_EQ(output.finished, h.finished);
    EXPECT_EQ(output.token_log_probabilities, h.token_log_probabilities);
    ASSERT_EQ(output.tokens.size(), h.tokens.size());
    ASSERT_EQ(output.alignment.size(), h.tokens.size());
    for (size_t t = 0; t < h.tokens.size(); ++t) {
      EXPECT_EQ(output.tokens[t], predictor.target().token(h.tokens[t]));
      EXPECT_EQ(output.alignment[t], h.alignment[t]);
    }
  }
}

TEST(Predictor, LinksAreTheLargestWeights) {
  const Output output{.tokens = {"x", "y", "z"}, .alignment = {{0.1f, 0.9f}, {0.5f, 0.5f}, {0.2f, 0.8f}}};
  EXPECT_EQ(output.links(), (std::vector<Link>{{1, 0}, {0, 1}, {1, 2}}));
  EXPECT_EQ(pharaoh(output), "1-0 0-1 1-2");
  EXPECT_EQ(pharaoh({}), "");
  EXPECT_TRUE(Output{}.links().empty());
}

TEST(Predictor, AlignmentsHaveARowForEachToken) {
  const Predictor predictor(decided());
  std::vector<Prediction> all = predictor.predict_all(kLines, {.nbest = 4});
  for (Prediction& p : predictor.predict_all(kLines, {.max_length = 1})) all.push_back(std::move(p));
  size_t rows = 0, finished = 0, outputs = 0;
  for (const Prediction& p : all)
    for (const Output& output : p.nbest) {
      finished += output.finished;
      ++outputs;
      EXPECT_EQ(output.token_log_probabilities.size(), output.tokens.size() + output.finished);
      ASSERT_EQ(output.alignment.size(), output.tokens.size());
      EXPECT_EQ(output.links().size(), output.tokens.size());
      for (const std::vector<float>& row : output.alignment) {
        ASSERT_EQ(row.size(), p.source_tokens.size());
        double sum = 0;
        for (const float weight : row) sum += weight;
        EXPECT_NEAR(sum, 1.0, 1e-5);
        ++rows;
      }
    }
  EXPECT_GT(rows, 10u);
  EXPECT_GT(finished, 0u);
  EXPECT_LT(finished, outputs);
  for (const Prediction& p : predictor.predict_all(kLines, {.alignments = false}))
    for (const Output& output : p.nbest) EXPECT_TRUE(output.alignment.empty());
}

TEST(Predictor, LinesDoNotMatterToEachOther) {
  for (const Options& options : {Options{}, Options{.beam = 3, .nbest = 2}, Options{.sample = true, .seed = 4}}) {
    const Predictor predictor(decided());
    const std::vector<Prediction> together = predictor.predict_all(kLines, options);
    ASSERT_EQ(together.size(), kLines.size());
    for (size_t i = 0; i < kLines.size(); ++i) {
      Options alone = options;
      alone.first_line = static_cast<int64_t>(i) + 1;
      expect_same(together[i], predictor.predict(kLines[i], alone));
    }
  }
}

TEST(Predictor, SamplesFollowFromTheSeedAndTheNumberOfTheLine) {
  const Predictor predictor(decided());
  const Options drawn{.sample = true, .seed = 1};
  const std::vector<std::string> same(5, "hello");
  std::vector<std::string> texts;
  for (const Prediction& p : predictor.predict_all(same, drawn)) texts.push_back(p.text());
  EXPECT_NE(texts[0], texts[1]);
  EXPECT_EQ(predictor.predict("hello", {.sample = true, .seed = 1, .first_line = 2}).text(), texts[1]);
  EXPECT_NE(predictor.predict("hello", {.sample = true, .seed = 2}).text(), texts[0]);
  EXPECT_EQ(predictor.predict("hello", {.nbest = 4, .sample = true}).nbest.size(), 4u);
}

TEST(Predictor, ALineWithoutTokensHasNoOutput) {
  const Predictor predictor(decided());
  for (const char* line : {"", "\n", "\r\n"}) {
    const Prediction p = predictor.predict(line);
    EXPECT_TRUE(p.nbest.empty() && p.error.empty() && p.source_tokens.empty());
    EXPECT_EQ(p.text(), "");
  }
  EXPECT_TRUE(predictor.predict_all({}).empty());
}

TEST(Predictor, TheEndOfALineDoesNotCount) {
  const Predictor predictor(decided());
  for (const char* line : {"hello\n", "hello\r\n", "hello\r"})
    expect_same(predictor.predict(line), predictor.predict("hello"));
  EXPECT_EQ(predictor.predict("a\nb\n").source_tokens.size(), 3u);
}

TEST(Predictor, WhatIsWrongWithALineIsSaidAndTheOthersAreAnswered) {
  const Predictor predictor(
      decided({"model.kind=transformer", "attention.score=dot", "model.positions=learned", "model.max_length=6"}));
  const std::vector<std::string> lines = {"abc", "b\xff", "seven..", "deed"};
  const std::vector<Prediction> got = predictor.predict_all(lines);
  EXPECT_EQ(got[1].error, "byte 2 is not valid UTF-8");
  EXPECT_EQ(got[2].error, "7 tokens are too many: the model has positions for 6");
  EXPECT_TRUE(got[1].nbest.empty() && got[2].nbest.empty());
  for (const size_t i : {0u, 3u}) {
    EXPECT_EQ(got[i].nbest.size(), 1u);
    expect_same(got[i], predictor.predict(lines[i]));
  }
  expect_in("max_length 7: the model has positions for 6",
            error_of([&] { predictor.predict("a", {.max_length = 7}); }));
}

TEST(Predictor, NumbersThatAreNoneTakeNoOtherLineWithThem) {
  trained::TrainedModel trained = decided();
  const int32_t q = trained.vocabularies.source->encode("q").front();
  for (Parameter& p : *trained.parameters)
    if (p.rows() == trained.vocabularies.source->size() && p.name.find("source") != std::string::npos)
      p.value[static_cast<size_t>(q * p.cols())] = std::numeric_limits<float>::quiet_NaN();
  const Predictor predictor(std::move(trained));
  const std::vector<std::string> lines = {"abc", "q", "deed"};
  const std::vector<Prediction> got = predictor.predict_all(lines);
  EXPECT_NE(got[1].error, "");
  EXPECT_TRUE(got[1].nbest.empty());
  for (const size_t i : {0u, 2u}) EXPECT_TRUE(got[i].error.empty() && got[i].nbest.size() == 1);
}

TEST(Predictor, WhatTheVocabularyDoesNotHoldIsTold) {
  const Predictor predictor(decided());
  EXPECT_TRUE(predictor.predict("hello").unknown.empty());
  const Prediction p = predictor.predict("\u00dfe\u03a9\u00df\n");
  EXPECT_EQ(p.unknown, (std::vector<std::string>{"\u00df", "\u03a9"}));
  EXPECT_EQ(p.source_tokens, (std::vector<std::string>{"<unk>", "e", "<unk>", "<unk>"}));
  EXPECT_EQ(p.nbest.size(), 1u);
}

TEST(Predictor, UnknownOutputsAreCopiedFromTheSource) {
  trained::TrainedModel trained = decided();
  trained.parameters->at("output.bias").value[text::kUnknown] += 4.0f;  // it writes little else
  const Predictor predictor(std::move(trained));
  const std::string line = "q\u00dfz";
  const std::vector<std::string> source = {"q", "\u00df", "z"};
  for (const bool beam : {false, true}) {
    Options options{.beam = beam ? 4 : 1, .nbest = beam ? 3 : 1};
    for (const Output& output : predictor.predict(line, options).nbest)
      for (const int32_t id : output.ids) EXPECT_GE(id, text::kSpecials);
    options.allow_unknown = true;
    const Prediction plain = predictor.predict(line, options);
    options.allow_unknown = false;
    options.copy_unknown = true;
    const Prediction copied = predictor.predict(line, options);
    options.alignments = false;
    const Prediction bare = predictor.predict(line, options);
    ASSERT_EQ(copied.nbest.size(), plain.nbest.size());
    size_t unknown = 0;
    for (size_t n = 0; n < plain.nbest.size(); ++n) {
      std::string right;
      for (const Link& link : plain.nbest[n].links()) {
        const std::string& token = plain.nbest[n].tokens[static_cast<size_t>(link.target)];
        unknown += token == "<unk>";
        right += token == "<unk>" ? source[static_cast<size_t>(link.source)] : token;
      }
      EXPECT_EQ(copied.nbest[n].text, right);
      EXPECT_EQ(copied.nbest[n].tokens, plain.nbest[n].tokens);
      EXPECT_EQ(copied.nbest[n].score, plain.nbest[n].score);
      EXPECT_EQ(copied.nbest[n].alignment, plain.nbest[n].alignment);
      EXPECT_EQ(bare.nbest[n].text, right);  // what it needs for that is not told
      EXPECT_TRUE(bare.nbest[n].alignment.empty());
    }
    EXPECT_GT(unknown, 0u);
  }
}

TEST(Predictor, OptionsThatHaveNoMeaning) {
  const Predictor predictor(decided());
  const auto refusal = [&](const Options& options) { return error_of([&] { predictor.predict("abc", options); }); };
  EXPECT_EQ(refusal({.beam = 2, .nbest = 3}), "nbest 3 needs a beam of at least 3, not 2");
  EXPECT_EQ(refusal({.beam = 2, .sample = true}),
            "sample cannot be combined with a beam of 2: nbest sets the number of samples");
  EXPECT_EQ(refusal({.temperature = 0.5}), "temperature 0.5 is only for sampling: it needs sample");
  expect_in("top_k 3 is only for sampling", refusal({.top_k = 3}));
  expect_in("top_p 0.5 is only for sampling", refusal({.top_p = 0.5}));
  EXPECT_EQ(refusal({.beam = -1}), "beam: expected a number from 0 to 1000, got -1");
  EXPECT_EQ(refusal({.nbest = 0}), "nbest: expected a number from 1 to 1000, got 0");
  expect_in("length_penalty: expected a number from 0 to 100", refusal({.length_penalty = -0.5}));
  expect_in("coverage: expected a number from 0 to 100", refusal({.coverage = std::nan("")}));
  expect_in("temperature: expected a number from 0.001", refusal({.sample = true, .temperature = 0}));
  expect_in("top_p: expected a number from", refusal({.sample = true, .top_p = 1.5}));
  expect_in("max_length: expected a number from", refusal({.max_length = -1}));
}

TEST(Predictor, SeveralThreadsAtOnce) {
  const Predictor predictor(decided());
  std::vector<Prediction> right = predictor.predict_all(kLines, {.beam = 3});
  std::vector<std::vector<Prediction>> got(3);
  std::vector<std::thread> threads;
  threads.reserve(got.size());
  for (std::vector<Prediction>& mine : got)
    threads.emplace_back([&] {
      for (int i = 0; i < 5; ++i) mine = predictor.predict_all(kLines, {.beam = 3});
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::vector<Prediction>& mine : got)
    for (size_t i = 0; i < kLines.size(); ++i) expect_same(mine[i], right[i]);
}

TEST(Predictor, ATrainingAndItsCheckpointsAreLoaded) {
  train::test::TemporaryFolder folder;
  train::test::Recorder recorder;
  train::test::run(train::test::small_recipe(folder / "run"), recorder);
  Predictor best = load(folder / "run");
  const Predictor named = load(folder / "run", recorder.best), alone = load(folder / "run" / recorder.best);
  const std::vector<Prediction> right = named.predict_all(kLines);
  for (size_t i = 0; i < kLines.size(); ++i) {
    expect_same(best.predict_all(kLines)[i], right[i]);
    expect_same(alone.predict_all(kLines)[i], right[i]);
  }
  const Predictor moved = std::move(best);
  expect_same(moved.predict("hello"), named.predict("hello"));

  const auto bytes = [](const Predictor& predictor) {
    size_t sum = 0;
    for (const Parameter& p : *predictor.model().parameters) {
      EXPECT_EQ(p.value.is_packed(), p.product.has_value()) << p.name << ": the numbers of a weight are not needed";
      if (p.product) sum += p.value.bytes();
    }
    return sum;
  };
  const Predictor half = load({folder / "run"}, {.precision = "bfloat16"});
  for (const Prediction& each : half.predict_all(kLines)) EXPECT_EQ(each.error, "");
  EXPECT_EQ(2 * bytes(half), bytes(named));
  expect_in("there is no precision 'bfloat'; did you mean 'bfloat16'?",
            error_of([&] { load({folder / "run"}, {.precision = "bfloat"}); }));

  expect_in("there is no model", error_of([&] { load(folder / "nowhere"); }));
  expect_in("holds no checkpoint", error_of([&] { load(folder.path()); }));
  expect_in("did you mean 'step-000024'", error_of([&] { load(folder / "run", "step-00024"); }));
}

}  // namespace
}  // namespace heed::predict
