#include "heed/view/draw.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "heed/base/error.h"
#include "heed/view/layout.h"

namespace heed::view {

namespace {

constexpr int64_t kMostCells = 1'000'000;  // a file of 100 MB, which few programs open

std::string title_of(const Example& example, const std::string& what) {
  return fmt::format("{}: {} -> {}", what, example.input, example.output);
}

Drawing nested(const Example& example) {
  float most = 0;
  for (const Sentence& sentence : example.sentences) most = std::max(most, sentence.weight);
  ShadedText shaded{.title = title_of(example, "sentences and words that count"),
                    .caption = fmt::format("{}: each sentence with its weight, its words shaded by theirs",
                                           token_label(example.output, 40)),
                    .passages = {}};
  for (const Sentence& sentence : example.sentences)
    shaded.passages.push_back({.label = fmt::format("{:.1f} %", 100 * sentence.weight),
                               .strength = most > 0 ? static_cast<double>(sentence.weight / most) : 0.0,
                               .words = sentence.words});
  return drawing_of(shaded);
}

/// The words by their mean weight, and if there are several pooled vectors, by the weights of each.
Drawing pooled(const Example& example, const Map& map, int64_t head) {
  const std::vector<std::string>& words = example.sequence(map.keys).tokens;
  const std::vector<float> weights = map.of_head(head);
  ShadedText shaded{.title = title_of(example, map.label),
                    .caption = fmt::format("{}: {}", token_label(example.output, 40), heading_of(map, head)),
                    .passages = {}};
  const auto add = [&](const std::string& label, std::span<const float> row) {
    Passage passage{.label = label, .words = {}};
    for (size_t i = 0; i < words.size(); ++i) passage.words.push_back({words[i], row[i]});
    shaded.passages.push_back(std::move(passage));
  };
  add(map.rows > 1 ? "mean" : "", map.mean_row(head));
  for (size_t r = 0; map.rows > 1 && r < static_cast<size_t>(map.rows); ++r)
    add(example.sequence(map.queries).tokens[r], std::span(weights).subspan(r * words.size(), words.size()));
  return drawing_of(shaded);
}

}  // namespace

std::string heading_of(const Map& map, int64_t head) {
  const std::string which = head >= 0       ? fmt::format(", head {} of {}", head + 1, map.heads)
                            : map.heads > 1 ? fmt::format(", mean of {} heads", map.heads)
                                            : "";
  return fmt::format("{} ({}){}", map.label, map.name, which);
}

Drawing drawing_of(const Example& example, const Map* map, int64_t head) {
  const bool chosen = map != nullptr;
  if (!map) map = example.main_map();
  if (!chosen && map && map->queries == "pooled" && map->keys != "sentences") return pooled(example, *map, head);
  if (!chosen && !example.sentences.empty()) return nested(example);
  expect(map != nullptr, "this model has no attention: there is nothing to draw");
  if (map->keys == "cells" && example.picture)
    return drawing_of(PicturePanels{.title = title_of(example, map->label),
                                    .caption = heading_of(*map, head),
                                    .picture = *example.picture,
                                    .labels = example.sequence(map->queries).tokens,
                                    .weights = map->of_head(head)});
  if (map->keys == "source" && map->queries != "source" && example.recording)
    return drawing_of(RecordingPanels{.title = title_of(example, map->label),
                                      .caption = heading_of(*map, head),
                                      .recording = *example.recording,
                                      .labels = example.sequence(map->queries).tokens,
                                      .weights = map->of_head(head)});
  expect(map->rows * map->columns <= kMostCells, ErrorKind::data,
         "a drawing of {} has {} x {} cells: at most {}; choose some of its rows", map->name, map->rows, map->columns,
         kMostCells);
  return drawing_of(Matrix{.title = title_of(example, map->label),
                           .columns = example.sequence(map->keys).tokens,
                           .rows = example.sequence(map->queries).tokens,
                           .weights = map->of_head(head),
                           .caption = heading_of(*map, head),
                           .legend = true});
}

}  // namespace heed::view
