#include "heed/view/look.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <numeric>
#include <optional>
#include <span>

#include "heed/attend/watch.h"
#include "heed/base/error.h"
#include "heed/base/interrupt.h"
#include "heed/checkpoint/trained_model.h"
#include "heed/data/copied_words.h"
#include "heed/model/search/search_tree.h"
#include "heed/text/tokeniser.h"
#include "heed/view/chosen.h"
#include "heed/view/predicted.h"
#include "heed/view/search_beam.h"

namespace heed::view {

namespace {

using task::AttentionRows;

std::string name_of(AttentionRows rows) {
  switch (rows) {
    case AttentionRows::source:
      return "source";
    case AttentionRows::second:
      return "second";
    case AttentionRows::both:
      return "both";
    case AttentionRows::target_in:
      return "target_in";
    case AttentionRows::target_out:
      return "target";
    case AttentionRows::written:
      return "written";
    case AttentionRows::text:
      return "text";
    case AttentionRows::sentences:
      return "sentences";
    case AttentionRows::cells:
      return "cells";
    case AttentionRows::pooled:
      return "pooled";
  }
  return "";
}

/// Of the answer and of what was scored: the tokens of everything that attention may look from or at.
struct Tokens {
  const predict::Predictor& model;
  const predict::Prediction& prediction;
  const predict::PairScore& score;

  std::vector<std::string> of(AttentionRows rows, int64_t count) const {
    switch (rows) {
      case AttentionRows::source:
        return prediction.source_tokens;
      case AttentionRows::second:
        return prediction.second_tokens;
      case AttentionRows::both:
        return both_texts();
      case AttentionRows::target_in:
        return shifted({});
      case AttentionRows::target_out:
        return score.tokens;
      case AttentionRows::written:
        return all_positions(count);
      case AttentionRows::text:
        return shifted(prediction.source_tokens);
      case AttentionRows::sentences:
        return sentences();
      case AttentionRows::cells:
        return cell_names(prediction);
      case AttentionRows::pooled:
        return numbers(count);
    }
    return {};
  }
  static std::string label_of(AttentionRows rows) {
    switch (rows) {
      case AttentionRows::source:
        return "input";
      case AttentionRows::second:
        return "second text";
      case AttentionRows::both:
        return "both texts";
      case AttentionRows::target_in:
        return "output so far";
      case AttentionRows::target_out:
      case AttentionRows::written:
        return "output";
      case AttentionRows::text:
        return "text";
      case AttentionRows::sentences:
        return "sentences";
      case AttentionRows::cells:
        return "cells of the picture";
      case AttentionRows::pooled:
        return "pooled vector";
    }
    return "";
  }

 private:
  /// <s>, what was read, and the target but for its last token.
  std::vector<std::string> shifted(std::vector<std::string> read) const {
    read.insert(read.begin(), model.target().token(text::kStart));
    if (!score.tokens.empty()) read.insert(read.end(), score.tokens.begin(), score.tokens.end() - 1);
    return read;
  }
  std::vector<std::string> both_texts() const {
    std::vector<std::string> tokens = prediction.source_tokens;
    tokens.insert(tokens.end(), prediction.second_tokens.begin(), prediction.second_tokens.end());
    return tokens;
  }
  /// The target without its end token, or with as many as there are slots.
  std::vector<std::string> all_positions(int64_t count) const {
    std::vector<std::string> tokens = score.tokens;
    tokens.resize(static_cast<size_t>(count), model.target().token(text::kEnd));
    return tokens;
  }
  std::vector<std::string> sentences() const {
    std::vector<std::string> all;
    size_t at = 0;
    for (const int64_t length : prediction.sentence_tokens) {
      constexpr int64_t kShown = 3;  // words
      std::string text = fmt::format("{}:", all.size() + 1);
      for (int64_t i = 0; i < std::min(length, kShown); ++i)
        text += " " + prediction.source_tokens[at + static_cast<size_t>(i)];
      all.push_back(text + (length > kShown ? " …" : ""));
      at += static_cast<size_t>(length);
    }
    return all;
  }
  static std::vector<std::string> numbers(int64_t count) {
    std::vector<std::string> all;
    for (int64_t i = 0; i < count; ++i) all.push_back(std::to_string(i + 1));
    return all;
  }
};

int64_t sum(const std::vector<int64_t>& numbers) { return std::accumulate(numbers.begin(), numbers.end(), int64_t{0}); }

/// The sequences of a call one after the other: each sees only its own keys, so their blocks lie along the diagonal.
Map map_of(attend::WatchedCall call) {
  Map map{.name = call.name, .heads = call.heads, .rows = sum(call.queries), .columns = sum(call.keys)};
  if (call.weights.size() == 1) {
    map.weights = std::move(call.weights.front());
    return map;
  }
  map.weights.assign(static_cast<size_t>(map.heads * map.rows * map.columns), 0.0f);
  for (size_t b = 0, row = 0, column = 0; b < call.weights.size(); ++b) {
    const auto rows = static_cast<size_t>(call.queries[b]), columns = static_cast<size_t>(call.keys[b]);
    for (size_t h = 0; h < static_cast<size_t>(map.heads); ++h)
      for (size_t i = 0; i < rows; ++i) {
        const auto from = call.weights[b].begin() + static_cast<std::ptrdiff_t>((h * rows + i) * columns);
        const size_t to = (h * static_cast<size_t>(map.rows) + row + i) * static_cast<size_t>(map.columns) + column;
        std::copy(from, from + static_cast<std::ptrdiff_t>(columns),
                  map.weights.begin() + static_cast<std::ptrdiff_t>(to));
      }
    row += rows;
    column += columns;
  }
  return map;
}

/// Static attention looks once for all steps: as if each had looked there.
void repeat_row(Map& map, int64_t rows) {
  std::vector<float> all;
  for (int64_t h = 0; h < map.heads; ++h)
    for (int64_t i = 0; i < rows; ++i)
      all.insert(all.end(), map.weights.begin() + h * map.columns, map.weights.begin() + (h + 1) * map.columns);
  map.rows = rows;
  map.weights = std::move(all);
}

/// More keys, which the rows so far did not see.
void widen(Map& map, int64_t columns) {
  std::vector<float> all(static_cast<size_t>(map.heads * map.rows * columns), 0.0f);
  for (int64_t row = 0; row < map.heads * map.rows; ++row)
    std::copy_n(map.weights.begin() + row * map.columns, map.columns, all.begin() + row * columns);
  map.columns = columns;
  map.weights = std::move(all);
}

/// The rows of a later step below those before it.
void append_rows(Map& map, const Map& step) {
  std::vector<float> all;
  const auto part = [](const Map& m, int64_t head) {
    const int64_t count = m.rows * m.columns;
    return std::pair(m.weights.begin() + head * count, m.weights.begin() + (head + 1) * count);
  };
  for (int64_t h = 0; h < map.heads; ++h)
    for (const Map* each : {static_cast<const Map*>(&map), &step}) {
      const auto [first, last] = part(*each, h);
      all.insert(all.end(), first, last);
    }
  map.rows += step.rows;
  map.weights = std::move(all);
}

/// A map for each attention; one that ran step by step gives one too.
struct Found {
  Map map;
  int64_t call = 0;  // of the same attention, from 0
};
std::vector<Found> maps_of(std::vector<attend::WatchedCall> calls) {
  std::vector<Found> all;
  for (attend::WatchedCall& call : calls) {
    stop_if_interrupted();
    const int64_t first_step = call.first_step;
    const bool one_sequence = call.queries.size() == 1;
    Map map = map_of(std::move(call));
    int64_t number = 0;
    Found* before = nullptr;
    for (Found& each : all)
      if (each.map.name == map.name) {
        before = &each;
        ++number;
      }
    bool goes_on = before && first_step > 0 && one_sequence && before->map.rows == first_step;
    // A decoder that looks at its own past has more to look at in every step.
    if (goes_on && before->map.columns == first_step && map.columns == first_step + map.rows)
      widen(before->map, map.columns);
    goes_on = goes_on && before->map.columns == map.columns;
    if (goes_on)
      append_rows(before->map, map);
    else
      all.push_back({std::move(map), number});
  }
  return all;
}

/// Of a running text that was read in parts: a map of the whole text for each attention. What is read twice counts
/// where the next token is predicted from it.
std::vector<Found> maps_of_text(const std::vector<attend::WatchedCall>& calls, std::span<const task::ReadPart> parts,
                                const Shown& shown) {
  int64_t tokens = 0;
  for (const task::ReadPart& part : parts) tokens = std::max(tokens, part.end);
  std::vector<Found> all;
  std::map<std::string, size_t> read;  // parts so far, of each attention
  int64_t weights = 0;                 // more than were computed: most of a long text is too far away to be seen
  for (const attend::WatchedCall& call : calls) {
    stop_if_interrupted();
    auto found = std::find_if(all.begin(), all.end(), [&](const Found& each) { return each.map.name == call.name; });
    if (found == all.end()) {
      Map map{.name = call.name, .heads = call.heads, .rows = tokens, .columns = tokens};
      weights += map.heads * tokens * tokens;
      if (weights > shown.weights)
        throw TooManyWeights(fmt::format("{} has {} {} of {} x {} weights; with those before it there are more than {}",
                                         map.name, map.heads, map.heads == 1 ? "head" : "heads", tokens, tokens,
                                         shown.weights));
      map.weights.assign(static_cast<size_t>(map.heads * tokens * tokens), 0.0f);
      found = all.insert(all.end(), {std::move(map), 0});
    }
    for (size_t b = 0; b < call.weights.size(); ++b) {
      const size_t number = read[call.name]++;
      expect(number < parts.size(), ErrorKind::bug, "view: {} read more than {} parts", call.name, parts.size());
      // Queries and keys end together; where states are carried, there are more keys than queries.
      const int64_t queries = call.queries[b], keys = call.keys[b];
      const int64_t first_row = parts[number].end - queries, first_column = parts[number].end - keys;
      for (int64_t h = 0; h < call.heads; ++h)
        for (int64_t row = parts[number].first; row < parts[number].end; ++row) {
          const auto from = call.weights[b].begin() + (h * queries + row - first_row) * keys;
          std::copy(from, from + keys, found->map.weights.begin() + (h * tokens + row) * tokens + first_column);
        }
    }
  }
  return all;
}

std::vector<Sentence> shaded(const Example& example, const predict::Prediction& prediction) {
  const Map *words = example.find("word.pool"), *sentences = example.find("sentence.pool");
  std::vector<Sentence> all;
  if (!words || !sentences) return whole_text(example);
  int64_t at = 0;
  for (size_t s = 0; s < prediction.sentence_tokens.size(); ++s) {
    const auto row = static_cast<int64_t>(s);
    Sentence sentence{.weight = sentences->at(0, 0, row)};
    for (int64_t i = 0; i < prediction.sentence_tokens[s]; ++i, ++at)
      sentence.words.push_back({prediction.source_tokens[static_cast<size_t>(at)], words->at(0, row, at)});
    all.push_back(std::move(sentence));
  }
  return all;
}

// ------------------------------------------------------------------------------------------------ what of it is wanted

void expect_tokens(std::ptrdiff_t tokens, const char* what, const Shown& shown) {
  if (tokens <= shown.tokens) return;
  throw TooManyTokens(fmt::format("the {} has {} tokens, too many to look at: at most {}", what, tokens, shown.tokens));
}

/// What `ask` gives, while its attention is watched.
template <class Ask>
auto watched(const Ask& ask) {
  try {
    return ask();
  } catch (const attend::TooManyWeights& error) {
    throw TooManyWeights(error.what());
  }
}

/// A model that writes is watched while it judges what it wrote, all at once; one that fills in tokens while it does.
predict::PairScore score_of(const predict::Prediction& filled) {
  const predict::Output& output = filled.nbest.front();
  return {.error = "",
          .log_probability = output.log_probability,
          .tokens = output.tokens,
          .token_log_probabilities = output.token_log_probabilities};
}

}  // namespace

Example look(const predict::Predictor& model, const std::string& line, const std::optional<std::string>& target,
             const predict::Options& options, const Shown& shown) {
  expect(model.models() == 1, "look: one model at a time, not an ensemble of {}", model.models());
  search::SearchTree tree;
  const bool writes = model.model().task().writes();
  const bool has_beam = std::max(options.beam, options.nbest) > 1 && !options.sample && writes &&
                        !model.model().model->parallel_generator();
  // With a given target, the answer only tells how the line was read: one token of it is enough.
  const bool reads_only = target && !options.tree && !has_beam && writes;
  predict::Options searching =
      reads_only ? predict::Options{.max_length = 1, .stride = options.stride, .alignments = false} : options;
  if (!searching.tree && has_beam) searching.tree = &tree;
  const task::AnswerKind answers = model.model().task().answers();
  const bool fills = answers == task::AnswerKind::filled || answers == task::AnswerKind::vector;
  expect(!fills || !target, "look: a target is for models that write; this one reads a line, and {}",
         answers == task::AnswerKind::vector ? std::string("gives a vector")
                                             : fmt::format("fills in each {}", text::Tokeniser::kGapSign));
  const attend::WatchOptions what{.names = shown.attentions, .most_weights = shown.weights};
  std::optional<attend::Watch> watch;
  if (fills) watch.emplace(what);
  const predict::Prediction prediction = watched([&] { return model.predict(line, searching); });
  expect(prediction.error.empty(), ErrorKind::data, "{}", prediction.error);
  expect(target || !prediction.nbest.empty(), ErrorKind::data, "the line is empty: there is nothing to look at");
  expect_tokens(std::ssize(prediction.source_tokens), "input", shown);
  expect_tokens(target ? std::ssize(model.target().encode(*target)) : std::ssize(prediction.nbest.front().tokens),
                "output", shown);

  predict::TextPair pair[] = {{line, target ? *target : prediction.text()}};
  if (!target) pair[0].target_ids = prediction.nbest.front().ids;
  if (!fills) watch.emplace(what);
  const predict::PairScore score =
      fills ? score_of(prediction)
            : watched([&] { return std::move(model.score_all(pair, {.stride = options.stride}).front()); });
  expect(score.error.empty(), ErrorKind::data, "{}", score.error);

  Example example{
      .input = shown_input(line, prediction), .output = pair[0].target, .log_probability = score.log_probability};
  const trained::TrainedModel& trained = model.model();
  const Tokens names{model, prediction, score};
  std::map<std::string, int64_t> layers;  // so far, of each group
  for (Found& found :
       score.parts.empty() ? maps_of(watch->take_calls()) : maps_of_text(watch->calls(), score.parts, shown)) {
    Map& map = found.map;
    const task::AttentionPlace place = trained.task().place_of(map.name, found.call, trained.description.model);
    map.group = place.group;
    map.queries = name_of(place.queries);
    map.keys = name_of(place.keys);
    if (found.call > 0) map.name += fmt::format(".{}", found.call + 1);
    map.layer = layers[map.group]++;
    map.label = fmt::format("{}, layer {}", map.group, map.layer + 1);
    if (map.heads == 0) continue;  // it only counts
    const auto steps = std::ssize(names.of(place.queries, map.rows));
    if (map.rows == 1 && steps > 1) repeat_row(map, steps);
    for (const auto& [rows, count] : {std::pair(place.queries, map.rows), std::pair(place.keys, map.columns)}) {
      std::vector<std::string> spelled = names.of(rows, count);
      expect(std::ssize(spelled) == count, ErrorKind::bug, "view: {} has {} rows of '{}', but there are {} tokens",
             map.name, count, name_of(rows), spelled.size());
      const std::string name = name_of(rows);
      if (std::none_of(example.sequences.begin(), example.sequences.end(),
                       [&](const Sequence& s) { return s.name == name; }))
        example.sequences.push_back({name, Tokens::label_of(rows), std::move(spelled)});
    }
    example.maps.push_back(std::move(map));
  }
  for (Map& map : example.maps)
    if (layers[map.group] == 1) map.label = map.group;  // no others to tell it from
  example.sentences = shaded(example, prediction);
  keep_chosen(example, shown, watch->names());
  if (prediction.map_rows > 0) example.picture = seen_picture(line, prediction);
  if (prediction.row_seconds > 0) example.recording = seen_recording(model, line, prediction);
  if (const search::SearchTree* found = searching.tree;
      found && !found->nodes.empty() && std::ssize(found->nodes) <= kLargestTree) {
    const std::string seen = prediction.map_rows > 0 ? "cells" : "source";
    const auto keys = std::find_if(example.sequences.begin(), example.sequences.end(),
                                   [&](const Sequence& s) { return s.name == seen; });
    const bool fits = keys != example.sequences.end() && std::ssize(found->nodes) * std::ssize(keys->tokens) <=
                                                             shown.weights;  // otherwise without weights
    std::vector<std::string> copied;
    if (trained.description.model.copying.on)
      copied = data::CopyReader(model.source(), model.target()).read(line, model.source().encode(line)).extra;
    example.beam = beam_of(*found, model.target(), fits ? &*keys : nullptr, copied);
  }
  return example;
}

ModelName name_of(const predict::Predictor& model, const std::string& folder) {
  const model::Options& o = model.model().description.model;
  const std::filesystem::path path = std::filesystem::path(folder).lexically_normal();
  std::string kind = o.encoder_kind();
  if (o.decoder_kind() != kind) kind += fmt::format(" to {}", o.decoder_kind());
  return {.name = (path.has_filename() ? path : path.parent_path()).filename().string(),
          .task = o.task,
          .kind = kind,
          .about = fmt::format("width {}, score {}, {} {}", o.width, o.attention.score, o.attention.heads,
                               o.attention.heads == 1 ? "head" : "heads")};
}

}  // namespace heed::view
