#include "heed/train/log.h"

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/train/small_run.h"

namespace heed::train::test {
namespace {

using Json = nlohmann::json;

std::vector<Json> lines_of(const fs::path& path) {
  std::ifstream in(path);
  std::vector<Json> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(Json::parse(line));
  return lines;
}

std::vector<Json> only(const std::vector<Json>& lines, const std::string& event) {
  std::vector<Json> found;
  for (const Json& line : lines)
    if (line.at("event") == event) found.push_back(line);
  return found;
}

class LogTest : public testing::Test {
 protected:
  /// Runs with a log, until update `last`.
  Recorder run_logged(const std::string& name, int64_t last, bool resume, int64_t every = 1) {
    const Recipe recipe = small_recipe(folder_ / name);
    Recorder recorder;
    Log log(folder_ / name / "log.jsonl", every);
    std::atomic<bool> stop = false;
    recorder.after_step = [&](int64_t step) { stop = step >= last; };
    run_session(recipe, {.resume = resume, .stop = &stop, .observers = {&recorder, &log}});
    recorder.after_step = nullptr;
    return recorder;
  }
  std::vector<Json> log(const std::string& name) const { return lines_of(folder_ / name / "log.jsonl"); }

  TemporaryFolder folder_;
};

TEST_F(LogTest, HoldsEverythingBitByBit) {
  const Recorder seen = run_logged("run", 1000, false);
  const std::vector<Json> lines = log("run"), steps = only(lines, "step");
  ASSERT_EQ(steps.size(), 24u);
  for (size_t i = 0; i < steps.size(); ++i) {
    EXPECT_EQ(steps[i].at("step"), seen.steps[i].step);
    EXPECT_EQ(steps[i].at("loss").get<double>(), seen.steps[i].loss);
    EXPECT_EQ(steps[i].at("learning_rate").get<float>(), seen.steps[i].rate);
  }
  const std::vector<Json> validations = only(lines, "validated");
  ASSERT_EQ(validations.size(), 4u);
  EXPECT_EQ(validations[3].at("nll").get<double>(), seen.validations[3].evaluation.nll);
  EXPECT_EQ(validations[3].at("samples").size(), 3u);
  EXPECT_EQ(only(lines, "saved").size(), 4u);
  EXPECT_EQ(lines.front().at("event"), "started");
  EXPECT_EQ(lines.back().at("event"), "finished");
  EXPECT_EQ(lines.back().at("by"), "steps");
}

TEST_F(LogTest, GoesOnAsIfNothingHadHappened) {
  run_logged("whole", 1000, false);
  run_logged("parts", 13, false);
  // What a killed run wrote after its last checkpoint, and a line that it could not finish.
  std::ofstream(folder_ / "parts" / "log.jsonl", std::ios::app) << R"({"event":"step","step":14,"loss":99})"
                                                                << "\n"
                                                                << R"({"event":"st)";
  run_logged("parts", 1000, true);
  const auto losses = [&](const std::string& name) {
    std::vector<double> all;
    for (const Json& line : only(log(name), "step")) all.push_back(line.at("loss"));
    return all;
  };
  EXPECT_EQ(losses("parts"), losses("whole"));
  EXPECT_EQ(only(log("parts"), "started").size(), 2u);
  EXPECT_EQ(only(log("parts"), "finished").size(), 1u);
  EXPECT_EQ(only(log("parts"), "validated").size(), 4u);
}

TEST_F(LogTest, EverySoOften) {
  run_logged("run", 1000, false, 10);
  const std::vector<Json> steps = only(log("run"), "step");
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[1].at("step"), 20);
}

TEST_F(LogTest, WarningsBeforeTheStartAreKeptAndBytesThatAreNoTextDoNoHarm) {
  fs::create_directories(folder_ / "run");
  Log log(folder_ / "run" / "log.jsonl", 1);
  log.warned("early \xff");
  log.started({});
  log.warned("late");
  const std::vector<Json> lines = lines_of(folder_ / "run" / "log.jsonl");
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[1].at("text"), "early \xEF\xBF\xBD");
  EXPECT_EQ(lines[2].at("text"), "late");
}

TEST_F(LogTest, AFolderThatIsGoneIsAnError) {
  Log log(folder_ / "nowhere" / "log.jsonl", 1);
  expect_in("nowhere", error_of([&] { log.started({}); }));
}

}  // namespace
}  // namespace heed::train::test
