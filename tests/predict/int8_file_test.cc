// A model that is written with weights in int8 is the one that is loaded so, whatever it does.
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "heed/base/dtype.h"
#include "heed/checkpoint/average.h"
#include "heed/checkpoint/export.h"
#include "heed/checkpoint/trained_model.h"
#include "heed/predict/predictor.h"
#include "heed/tensor/format/all.h"
#include "tests/base/temporary.h"

namespace heed::predict {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> small_models() {
  std::vector<fs::path> all;
  for (const fs::directory_entry& each : fs::directory_iterator(HEED_TEST_DATA "/../compat/0.1"))
    if (fs::exists(each.path() / "questions.txt")) all.push_back(each.path());
  return all;
}

std::vector<std::string> lines_of(const fs::path& file) {
  std::vector<std::string> lines;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

void expect_same_numbers(const Predictor& a, const Predictor& b) {
  for (const Parameter& p : *a.model().parameters)
    EXPECT_EQ(p.value.copy(), b.model().parameters->at(p.name).value.copy()) << p.name;
}

std::vector<std::string> answers(const Predictor& model, const std::vector<std::string>& lines) {
  std::vector<std::string> texts;
  for (const Prediction& each : model.predict_all(lines))
    texts.push_back(each.nbest.empty() ? "" : each.text() + " " + std::to_string(each.nbest.front().log_probability));
  return texts;
}

TEST(Int8Files, AreTheSameModelAsOneThatIsRoundedWhenLoaded) {
  const heed::test::TemporaryFolder folder;
  ASSERT_GT(small_models().size(), 8u);
  for (const fs::path& place : small_models()) {
    SCOPED_TRACE(place.filename().string());
    const std::vector<std::string> questions = lines_of(place / "questions.txt");
    const Predictor rounded = load({place / "checkpoint"}, {.precision = "int8"});
    const fs::path file = folder / (place.filename().string() + ".heed"), again = folder / "again.heed";
    trained::with_checkpoint(place / "checkpoint", "best", [&](const file::Checkpoint& from) {
      EXPECT_EQ(trained::export_model(from, file, Dtype::i8), Dtype::f32) << "what they were";
    });
    const Predictor stored = load({file});
    EXPECT_EQ(stored.model().stored, Dtype::i8);
    int64_t integers = 0;
    for (const Parameter& p : *stored.model().parameters) {
      EXPECT_EQ(p.value.is_packed(), p.product.has_value()) << p.name;
      if (!p.product) continue;
      EXPECT_EQ(&p.value.packed({.order = *p.product})->format(), &int8_weights) << p.name;
      integers += p.size();
    }
    EXPECT_GT(integers, 0);
    expect_same_numbers(rounded, stored);
    EXPECT_EQ(answers(rounded, questions), answers(stored, questions));
    // A copy has them as they are; float32 is possible, with the same numbers, and then other products.
    trained::with_checkpoint(
        file, "best", [&](const file::Checkpoint& from) { EXPECT_EQ(trained::export_model(from, again), Dtype::i8); });
    expect_same_numbers(load({again}), stored);
    EXPECT_EQ(fs::file_size(again), fs::file_size(file));
    expect_same_numbers(load({file}, {.precision = "float32"}), stored);
    // The mean of one is that one.
    const file::Checkpoint one = file::Checkpoint::open(file, file::Purpose::run);
    const trained::TrainedModel mean = trained::average({&one, 1});
    for (const Parameter& p : *stored.model().parameters)
      EXPECT_EQ(p.value.copy(), mean.parameters->at(p.name).value.copy()) << p.name;
  }
}

}  // namespace
}  // namespace heed::predict
