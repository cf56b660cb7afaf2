// A model that is loaded to run has one copy of each weight, and no task needs another.
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "heed/checkpoint/new_weights.h"
#include "heed/checkpoint/trained_model.h"
#include "heed/predict/predictor.h"
#include "heed/tensor/format/all.h"

namespace heed::predict {
namespace {

namespace fs = std::filesystem;

/// One of every kind, of an older release.
std::vector<fs::path> models_of_every_kind() {
  std::vector<fs::path> all;
  for (const fs::directory_entry& each : fs::directory_iterator(HEED_TEST_DATA "/../compat/0.1"))
    if (fs::exists(each.path() / "questions.txt")) all.push_back(each.path());
  return all;
}

std::vector<std::string> questions_of(const fs::path& model) {
  std::vector<std::string> lines;
  std::ifstream file(model / "questions.txt");
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

TEST(PackedModels, NobodyAsksForTheNumbers) {
  ASSERT_GT(models_of_every_kind().size(), 8u);
  for (const fs::path& folder : models_of_every_kind())
    for (const WeightFormat* format : all_weight_formats()) {
      SCOPED_TRACE(folder.filename().string() + " " + format->name);
      const Predictor model = load({folder / "checkpoint"}, {.precision = format->name});
      model.predict_all(questions_of(folder));
      int64_t packed = 0;
      for (const Parameter& p : *model.model().parameters) {
        EXPECT_EQ(p.value.is_packed(), p.product.has_value()) << p.name;
        packed += p.product ? p.size() : 0;
      }
      EXPECT_GT(packed, model.model().parameters->count() / 2) << "most numbers are of such weights";
    }
}

/// The numbers that were loaded come back, so that a loaded model can be written, or be the start of a training.
TEST(PackedModels, GiveTheirNumbersBack) {
  for (const fs::path& folder : models_of_every_kind()) {
    SCOPED_TRACE(folder.filename().string());
    const trained::TrainedModel plain = trained::load_model(folder / "checkpoint");
    const trained::TrainedModel packed = trained::load_model(folder / "checkpoint", "best", &float32_weights);
    for (const Parameter& p : *plain.parameters) {
      EXPECT_FALSE(p.value.is_packed());
      EXPECT_EQ(packed.parameters->find(p.name)->value.copy(), p.value.copy()) << p.name;
    }
    packed.parameters->unpack();
    for (const Parameter& p : *packed.parameters) EXPECT_FALSE(p.value.is_packed());
  }
}

/// Weights that come from outside stand as they stood before, in every format; none is written if one does not fit.
TEST(PackedModels, StayPackedWhenTheyAreWritten) {
  for (const fs::path& folder : models_of_every_kind())
    for (const WeightFormat* format : all_weight_formats()) {
      SCOPED_TRACE(folder.filename().string() + " " + format->name);
      const trained::TrainedModel model = trained::load_model(folder / "checkpoint", "best", format);
      std::vector<std::vector<float>> before, doubled;
      for (const Parameter& p : *model.parameters) {
        before.push_back(p.value.copy());
        doubled.push_back(before.back());
        for (float& x : doubled.back()) x *= 2.0f;  // exact in every format
      }
      std::vector<trained::NewWeights> all;
      for (const Parameter& p : *model.parameters) all.push_back({p.name, p.shape, doubled[all.size()]});
      doubled.back().back() = std::numeric_limits<float>::quiet_NaN();
      EXPECT_THROW(trained::write_weights(*model.parameters, all), Error);
      size_t i = 0;
      for (const Parameter& p : *model.parameters) EXPECT_EQ(p.value.copy(), before[i++]) << p.name;
      doubled.back().back() = 2.0f * before.back().back();
      trained::write_weights(*model.parameters, all);
      i = 0;
      for (const Parameter& p : *model.parameters) {
        EXPECT_EQ(p.value.is_packed(), p.product.has_value()) << p.name;
        if (p.product) {
          EXPECT_EQ(&p.value.packed({.order = *p.product})->format(), format) << p.name;
        }
        EXPECT_EQ(p.value.copy(), doubled[i++]) << p.name;
      }
    }
}

}  // namespace
}  // namespace heed::predict
