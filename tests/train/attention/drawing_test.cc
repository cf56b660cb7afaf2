// Every task with every mechanism can be drawn: inputs of one token, of some, and longer than the model's context.
#include <fmt/format.h>

#include "heed/attend/all.h"
#include "heed/checkpoint/trained_model.h"
#include "heed/predict/predictor.h"
#include "heed/view/draw.h"
#include "heed/view/look.h"
#include "heed/view/svg.h"
#include "tests/train/attention/kinds.h"

namespace heed::train::test {
namespace {

using heed::test::TemporaryFolder;

/// Lines of this task, short to long.
std::vector<std::string> lines_for(const Kind& kind) {
  const auto times = [](const std::string& text, int count) {
    std::string all;
    for (int i = 0; i < count; ++i) all += text;
    return all;
  };
  if (kind.name.starts_with("pairs")) return {"a", "c a b d", times("a b c d ", 6) + "a"};
  if (kind.name == "two_texts")
    return {"good\tbad", "a good film\tit was good", times("it was good ", 9) + "\t" + times("a bad plot ", 8)};
  if (kind.name == "masked") return {"it ___", "it was ___ good film", times("the plot was ", 9) + "___ ."};
  return {"good", "it was a good film . bad !", times("the plot was bad . ", 9) + "it"};
}

class Drawing : public testing::TestWithParam<Kind> {
 protected:
  void SetUp() override { write_data(folder_); }
  TemporaryFolder folder_;
};

TEST_P(Drawing, NeverFails) {
  const Kind& kind = GetParam();
  if (kind.name == "pictures") GTEST_SKIP() << "its lines are files: tests/view/look_test.cc";
  int64_t drawn = 0;
  for (const attend::Entry* entry : attend::all()) {
    if (entry->part == attend::Part::input) continue;
    Settings settings = {fmt::format("attention.{}={}", attend::name_of(entry->part), entry->name),
                         "validate.longest=8"};
    std::optional<TrainingSetup> setup;
    try {
      const recipe::Recipe recipe = recipe_of(kind, folder_, settings);
      check_model(recipe);
      setup.emplace(prepare(recipe, {.checked = true}));
    } catch (const Error&) {
      continue;  // every_value_test.cc asks why
    }
    setup->model.parameters->draw();
    const predict::Predictor model(std::move(setup->model));
    for (const std::string& line : lines_for(kind)) {
      SCOPED_TRACE(fmt::format("{}, {}: {}", kind.name, entry->name, line));
      try {
        const view::Example example = view::look(model, line);
        EXPECT_FALSE(example.maps.empty());
        for (const view::Map& map : example.maps) {
          EXPECT_EQ(std::ssize(example.sequence(map.queries).tokens), map.rows) << map.name;
          EXPECT_EQ(std::ssize(example.sequence(map.keys).tokens), map.columns) << map.name;
          EXPECT_FALSE(view::svg_text(view::drawing_of(example, &map), view::Colours::own).empty());
          ++drawn;
        }
      } catch (const Error& error) {
        // A score with a number per position says that a text is too long for it.
        EXPECT_EQ(error.kind(), ErrorKind::data) << error.what();
      }
    }
  }
  EXPECT_GT(drawn, 20);
}

INSTANTIATE_TEST_SUITE_P(, Drawing, testing::ValuesIn(kinds()), [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace heed::train::test
