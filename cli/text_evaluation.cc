#include "cli/text_evaluation.h"

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <numbers>

#include "cli/counter.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/checkpoint/trained_model.h"
#include "heed/data/plain_files.h"
#include "heed/model/search/tape_pool.h"
#include "heed/train/evaluate.h"
#include "heed/train/recipe/of_model.h"

namespace heed::cli {

namespace {

struct Found {
  double perplexity = 0, bits = 0, accuracy = 0;  // bits per character
  std::optional<task::TextScore> counted = {};    // of a file
};

Found of_file(const predict::Predictor& predictor, const JudgedText& text) {
  const trained::TrainedModel& model = predictor.model();
  search::TapePool tapes;
  Counter counter("tokens");
  task::LoadedModel asked = model.loaded(tapes);
  asked.stride = text.stride;
  const task::TextScore s =
      *model.task().score_file(asked, readable(text.file), [&](int64_t tokens) { counter.add(tokens); });
  counter.erase();
  if (!s.warning.empty()) warn(text.file + ": " + s.warning);
  const auto tokens = static_cast<double>(s.tokens);
  return {.perplexity = std::exp(-s.log_probability / tokens),
          .bits = s.characters > 0 ? -s.log_probability / std::numbers::ln2 / static_cast<double>(s.characters) : 0.0,
          .accuracy = static_cast<double>(s.correct) / tokens,
          .counted = s};
}

/// The training files must still be where they were. What was held out is found again from the same seed.
Found of_validation(const predict::Predictor& predictor) {
  const trained::TrainedModel& model = predictor.model();
  const recipe::Recipe recipe = recipe::of_model(model);
  for (const data::PairFiles* files : {&recipe.data.train, &recipe.data.valid})
    if (!files->source.empty()) readable(files->source.string());
  data::expect_plain_files(recipe.data);
  const task::Corpus corpus = recipe.task()
                                  .read(recipe.data, recipe.train.seed)
                                  ->encode(model.vocabularies, recipe.data, model.description.model);
  for (const std::string& warning : corpus.warnings) warn(warning);
  search::TapePool tapes;
  const train::Evaluation e = train::evaluate(recipe.task(), model.loaded(tapes), corpus,
                                              {.batch_tokens = recipe.train.batch_tokens, .samples = 0});
  return {.perplexity = e.perplexity, .bits = e.bits_per_character, .accuracy = e.token_accuracy};
}

}  // namespace

void evaluate_text(const predict::Predictor& predictor, const JudgedText& text, bool json) {
  const Found f = text.file.empty() ? of_validation(predictor) : of_file(predictor, text);
  if (json) {
    file::Json j = file::Json::object({{"perplexity", f.perplexity}, {"token_accuracy", f.accuracy}});
    if (f.bits > 0) j["bits_per_character"] = f.bits;
    if (f.counted) {
      j["lines"] = f.counted->lines;
      if (f.counted->characters > 0) j["characters"] = f.counted->characters;
      j["tokens"] = f.counted->tokens;
      j["unknown"] = f.counted->unknown;
      j["log_probability"] = f.counted->log_probability;
    }
    return print(j.text(2) + "\n");
  }
  const task::Task& task = predictor.model().task();
  std::vector<Row> rows = {
      {"perplexity", fmt::format("{:.4f}", f.perplexity), fmt::format("of a {}", task.prediction_word())}};
  if (f.bits > 0) rows.push_back({"bits", fmt::format("{:.4f}", f.bits), "per character"});
  rows.push_back({"right", fmt::format("{:.2f} %", 100 * f.accuracy),
                  task.writes() ? "the likeliest next token" : "the likeliest token"});
  if (f.counted) {
    if (f.counted->characters > 0)
      rows.push_back(
          {"text", grouped(f.counted->characters), fmt::format("characters in {}", counted(f.counted->lines, "line"))});
    rows.push_back(
        {f.counted->characters > 0 ? "" : "text", grouped(f.counted->tokens),
         fmt::format("{}s{}", task.prediction_word(),
                     f.counted->characters > 0 ? "" : fmt::format(" in {}", counted(f.counted->lines, "line")))});
    if (f.counted->unknown > 0)
      rows.push_back(
          {"", grouped(f.counted->unknown), "tokens that the vocabulary lacks: the figures look better than they are"});
  }
  print(table(rows, Terminal(), 1));
}

}  // namespace heed::cli
