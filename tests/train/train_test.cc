// train() takes pairs and structs: the same training as `heed train` makes of a file and settings.
#include "heed/train/train.h"

#include <string>
#include <vector>

#include "heed/base/disk.h"
#include "heed/train/pairs_file.h"
#include "heed/train/recipe/data_files.h"
#include "tests/train/small_run.h"

namespace heed::train::test {
namespace {

std::vector<TextPair> days_as_pairs() {
  std::vector<TextPair> pairs;
  for (int day = 1; day <= 28; ++day)
    for (int month = 1; month <= 6; ++month)
      pairs.push_back({fmt::format("{}.{}.", day, month), fmt::format("{:02}-{:02}", month, day)});
  return pairs;
}

Recipe structs_for_a_second() {
  return {.model = {.width = 8, .attention = {.score = "additive"}},
          .train = {.batch_tokens = 256, .schedule = {.peak = 0.02f, .warmup = 4}},
          .stop = {.steps = 12},
          .validate = {.every = 6}};
}

class TrainTest : public testing::Test {
 protected:
  TemporaryFolder folder_;
  Recorder seen_;
};

TEST_F(TrainTest, IsTheTrainingOfAFileWithSettings) {
  const std::vector<TextPair> pairs = days_as_pairs();
  const predict::Predictor model =
      train(pairs, folder_ / "structs", {.recipe = structs_for_a_second(), .session = {.observers = {&seen_}}});

  const fs::path file = write_pairs(pairs, folder_ / "file", "pairs");
  const std::vector<std::string> settings = {
      "model.width=8",          "attention.score=additive",
      "train.batch_tokens=256", "train.learning_rate=0.02",
      "train.warmup=4",         "stop.steps=12",
      "validate.every=6",       "output.folder=" + (folder_ / "settings").string()};
  Recorder other;
  run_session(recipe::recipe_of_files({.train = {file.string()}}, settings).recipe, {.observers = {&other}});
  EXPECT_EQ(seen_.losses(), other.losses());
  EXPECT_EQ(seen_.starts.at(0).parameters, other.starts.at(0).parameters);
  EXPECT_EQ(seen_.choices.size(), other.choices.size());
  EXPECT_FALSE(seen_.choices.empty()) << "what is not given is chosen";
  EXPECT_EQ(model.predict("24.3.").text(), predict::load(folder_ / "settings").predict("24.3.").text());
  EXPECT_EQ(model.predict("24.3.").nbest.at(0).score,
            predict::load(folder_ / "settings").predict("24.3.").nbest.at(0).score);
}

TEST_F(TrainTest, ResumesWithTheSamePairs) {
  const std::vector<TextPair> pairs = days_as_pairs();
  Recipe recipe = structs_for_a_second();
  train(pairs, folder_ / "whole", {.recipe = recipe, .session = {.observers = {&seen_}}});

  Recorder first, second;
  std::atomic<bool> stop = false;
  first.after_step = [&](int64_t step) { stop = step >= 7; };
  train(pairs, folder_ / "parts", {.recipe = recipe, .session = {.stop = &stop, .observers = {&first}}});
  const auto written = fs::last_write_time(folder_ / "parts" / "pairs.tsv");
  train(pairs, folder_ / "parts", {.recipe = recipe, .session = {.resume = true, .observers = {&second}}});
  EXPECT_EQ(fs::last_write_time(folder_ / "parts" / "pairs.tsv"), written) << "the file was there";
  std::vector<double> losses = first.losses();
  for (const double loss : second.losses()) losses.push_back(loss);
  EXPECT_EQ(losses, seen_.losses());
}

TEST_F(TrainTest, ValidatesOnPairsThatAreGiven) {
  const std::vector<TextPair> pairs = days_as_pairs();
  const std::vector<TextPair> valid(pairs.begin(), pairs.begin() + 5);
  train(pairs, folder_ / "run", {.recipe = structs_for_a_second(), .valid = valid, .session = {.observers = {&seen_}}});
  EXPECT_EQ(seen_.starts.at(0).examples, std::ssize(pairs));
  EXPECT_EQ(seen_.starts.at(0).valid_examples, 5);
  EXPECT_EQ(file::read_text(folder_ / "run" / "valid_pairs.tsv").substr(0, 11), "1.1.\t01-01\n");
}

TEST_F(TrainTest, SeesLabelsUnlessTheTaskIsGiven) {
  std::vector<TextPair> labelled;
  for (int i = 0; i < 200; ++i)
    labelled.push_back({fmt::format("a somewhat longer text with the number {}", i), i % 2 ? "odd" : "even"});
  TrainOptions options{.recipe = structs_for_a_second(), .session = {.observers = {&seen_}}};
  train(labelled, folder_ / "labels", options);
  EXPECT_EQ(seen_.starts.at(0).labels, 2);
  options.settings = {"model.task=seq2seq"};
  options.session.observers = {};
  EXPECT_EQ(train(labelled, folder_ / "pairs", options).model().task().prediction_word(), std::string("token"));
}

TEST_F(TrainTest, SaysWhatCannotBe) {
  const std::vector<TextPair> pairs = days_as_pairs();
  const auto complaint = [&](const std::vector<TextPair>& data, const TrainOptions& options) {
    return error_of([&] { train(data, folder_ / "refused", options); });
  };
  EXPECT_EQ(complaint({}, {}), "pairs: expected some, got none");
  expect_in("pairs[1]: the target holds a tab or a line break", complaint({{"a", "b"}, {"a", "b\tc"}}, {}));
  expect_in("model.width", complaint(pairs, {.recipe = {.model = {.width = -1}}}));
  expect_in("atention", complaint(pairs, {.settings = {"atention.score=dot"}}));
  expect_in("data.source", complaint(pairs, {.recipe = {.data = {.train = {.source = "elsewhere.txt"}}}}));
  EXPECT_FALSE(fs::exists(folder_ / "refused" / "log.jsonl"));
  std::ofstream(folder_ / "a file");
  EXPECT_THROW(write_pairs(pairs, folder_ / "a file", "pairs"), SaveError);
}

TEST_F(TrainTest, WritesRunningTextOnce) {
  const fs::path file = write_text("one\n\ntwo\n", folder_ / "text", "valid texts");
  EXPECT_EQ(file, folder_ / "text" / "valid_texts.txt");
  EXPECT_EQ(file::read_text(file, 100), "one\n\ntwo\n");
  fs::last_write_time(file, fs::file_time_type{});
  write_text("one\n\ntwo\n", folder_ / "text", "valid texts");
  EXPECT_EQ(fs::last_write_time(file), fs::file_time_type{}) << "what is there already stays as it is";
  write_text("other\n", folder_ / "text", "valid texts");
  EXPECT_EQ(file::read_text(file, 100), "other\n");
  EXPECT_EQ(error_of([&] { write_text("", folder_ / "text", "texts"); }), "texts: expected some, got none");
}

}  // namespace
}  // namespace heed::train::test
