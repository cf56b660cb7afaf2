// heed score: the probability that a model gives to targets.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>

#include "cli/about_lines.h"
#include "cli/counter.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/search_options.h"
#include "cli/terminal.h"
#include "cli/unknown_tokens.h"
#include "cli/verbs.h"
#include "heed/base/error.h"
#include "heed/data/lines.h"
#include "heed/data/pairs.h"
#include "heed/data/picture_source.h"
#include "heed/predict/json.h"
#include "heed/predict/predictor.h"
#include "heed/text/metric/perplexity.h"
#include "heed/train/recipe/of_model.h"

namespace heed::cli {

namespace {

using file::Json;

struct ScoreArguments {
  ModelChoice model;
  std::string source, target;  // without a target, the source is a TSV
  bool per_token = false, json = false;
  int64_t stride = 0;
};

constexpr size_t kChunk = 1024;  // pairs read at a time: enough to batch similar lengths

struct Pair {
  predict::TextPair text;
  predict::PairScore scored;
};

// --------------------------------------------------------------------------------------------------------------- pairs

class PairReader {
 public:
  /// Of a model of texts that it goes on with, every line is a target without a source, if there is no second file. Of
  /// a model of pictures, the columns are those of its training.
  PairReader(const std::string& source, const std::string& target, const recipe::Recipe& recipe)
      : like_(recipe.data.train), source_(readable(source)), texts_(recipe.task().reads_running_text()) {
    if (!target.empty()) target_.emplace(readable(target));
  }

  bool next(Pair& pair) {
    pair = {};
    const bool more = source_.next(pair.text.source);
    if (target_) {
      if (target_->next(pair.text.target) != more)
        throw Error(ErrorKind::data,
                    fmt::format("{} has {} lines, but {} has {}", source_.path().string(),
                                more ? "more" : fmt::format("{}", source_.number()), target_->path().string(),
                                more ? fmt::format("{}", target_->number()) : "more"));
      return more;
    }
    if (texts_) {
      pair.text.target.swap(pair.text.source);
      return more;
    }
    if (like_.picture_column > 0) {
      cut_picture_line(pair);
      return more;
    }
    const size_t tab = pair.text.source.find('\t');
    if (tab == std::string::npos) {
      pair.scored.error = "there is no tab between source and target";
      return more;
    }
    pair.text.target = pair.text.source.substr(
        tab + 1, pair.text.source.find('\t', tab + 1) - tab - 1);  // further columns are ignored
    pair.text.source.resize(tab);
    return more;
  }

 private:
  void cut_picture_line(Pair& pair) const {
    const std::string line = pair.text.source;
    const std::vector<std::string_view> columns = data::columns_of(line);
    const int64_t needed = std::max({like_.picture_column, like_.source_column, like_.target_column});
    if (std::ssize(columns) < needed) {
      pair.scored.error = fmt::format("{} columns instead of at least {}", columns.size(), needed);
      return;
    }
    const auto column = [&](int64_t from_1) { return columns[static_cast<size_t>(from_1 - 1)]; };
    const std::string_view question = like_.source_column > 0 ? column(like_.source_column) : std::string_view();
    pair.text.source = data::source_in(source_.path(), {column(like_.picture_column), question});
    pair.text.target = column(like_.target_column);
  }

  data::PairFiles like_;
  data::LineReader source_;
  bool texts_;
  std::optional<data::LineReader> target_;
};

// -------------------------------------------------------------------------------------------------------------- scores

/// Scores the pairs that could be read.
void score(std::vector<Pair>& pairs, const predict::Predictor& predictor, int64_t stride) {
  std::vector<predict::TextPair> texts;
  std::vector<Pair*> asked;
  for (Pair& pair : pairs) {
    if (!pair.scored.error.empty()) continue;
    texts.push_back(pair.text);
    asked.push_back(&pair);
  }
  std::vector<predict::PairScore> scores = predictor.score_all(texts, {.stride = stride});
  for (size_t i = 0; i < asked.size(); ++i) asked[i]->scored = std::move(scores[i]);
}

// -------------------------------------------------------------------------------------------------------------- output

double perplexity(double log_probability, int64_t tokens) {
  return metric::Perplexity().score(std::array{-log_probability, static_cast<double>(tokens)}).value;
}

std::string plain(const Pair& pair, bool per_token, bool texts) {
  if (!pair.scored.error.empty()) return "\n";
  std::string sum = fmt::format("{:.6f}", pair.scored.log_probability);
  if (texts)
    sum += fmt::format("\t{:.4f}",
                       perplexity(pair.scored.log_probability, std::ssize(pair.scored.token_log_probabilities)));
  return per_token ? fmt::format("{}\t{:.6f}\n", sum, fmt::join(pair.scored.token_log_probabilities, " ")) : sum + "\n";
}

std::string json_line(const Pair& pair, int64_t number, bool per_token, bool texts) {
  Json j = Json::object({{"line", number}, {"source", pair.text.source}, {"target", pair.text.target}});
  predict::add_score(j, pair.scored, {.token_scores = per_token});
  if (texts && pair.scored.error.empty())
    j["perplexity"] = perplexity(pair.scored.log_probability, std::ssize(pair.scored.token_log_probabilities));
  return j.line() + "\n";
}

struct Total {
  const char* what = "pairs";
  int64_t pairs = 0, tokens = 0, failed = 0;
  double log_probability = 0;

  std::string text() const {
    std::string said = fmt::format("heed: {} {}, {} tokens, log probability {:.4f}, perplexity {:.4f}", grouped(pairs),
                                   what, grouped(tokens), log_probability, perplexity(log_probability, tokens));
    return said + (failed > 0 ? fmt::format("; {} could not be scored\n", grouped(failed)) : "\n");
  }
};

void run(const ScoreArguments& c) {
  if (c.source == "-" && c.target == "-") throw Error("score: only one of the two can be standard input");
  const predict::Predictor predictor = load_predictor(c.model);
  const recipe::Recipe recipe = recipe::of_model(predictor.model());
  const bool texts = recipe.task().reads_running_text();
  if (c.stride > 0) check({.stride = c.stride}, predictor);
  Total total{.what = texts ? "lines" : "pairs"};
  Counter counter(total.what);
  UnknownTokens unknown(predictor.target().kind(), "score");
  PairReader reader(c.source, c.target, recipe);
  for (bool more = true; more && !reader_is_gone();) {
    std::vector<Pair> pairs;
    Pair pair;
    while (pairs.size() < kChunk && (more = reader.next(pair))) pairs.push_back(std::move(pair));
    const int64_t before = total.pairs + total.failed;
    about_lines(before + 1, before + std::max<int64_t>(std::ssize(pairs), 1),
                [&] { score(pairs, predictor, c.stride); });
    std::string text;
    for (const Pair& p : pairs) {
      const int64_t number = total.pairs + total.failed + 1;
      text += c.json ? json_line(p, number, c.per_token, texts) : plain(p, c.per_token, texts);
      if (!p.scored.error.empty()) {
        counter.erase();
        warn(fmt::format("line {}: {}; it is not scored", number, p.scored.error));
        ++total.failed;
        continue;
      }
      unknown.add(p.scored.unknown);
      ++total.pairs;
      total.tokens += std::ssize(p.scored.token_log_probabilities);
      total.log_probability += p.scored.log_probability;
    }
    print(text);
    counter.add(std::ssize(pairs));
  }
  counter.erase();
  if (reader_is_gone()) return;
  note(total.text());
  if (const std::string said = unknown.text(); !said.empty()) warn(said);
}

constexpr const char* kHelp = R"(Examples:
  heed score model source.txt target.txt > scores.txt
  heed score model pairs.tsv --per-token
  paste source.txt target.txt | heed score model - --json
  heed score language-model text.txt --per-token

Prints for each pair the natural logarithm of the probability of the target and its end token, given the source. With
--per-token, a tab and the values of the single tokens follow, the end token last. A pair that cannot be scored (invalid
UTF-8, an empty source, too long) gives an empty line and is reported on standard error, as are the sum and the
perplexity of all pairs. If sources or targets contain characters or words that are not in the model's vocabularies, standard
error says so at the end: every such token counts as the same unknown one, so their scores are a guess.

With a model of running text, SOURCE holds texts, each line by itself, and the perplexity of the line follows its log
probability. With two files, line n of TARGET is scored as what follows line n of SOURCE. heed evaluate judges a text as
a whole. A line that is longer than the context of a Transformer is read in windows, --stride tokens from one to the
next; each token is predicted once (docs/language_models.md).)";

}  // namespace

void add_score(Program& program) {
  auto c = std::make_shared<ScoreArguments>();
  Verb verb = program.verb("score", "Print the log probability that a model gives to targets");
  add_model(verb, c->model);
  add_ensemble(verb, c->model);
  add_precision(verb, c->model);
  verb.option("SOURCE", c->source, "One source per line; without TARGET, a TSV with both; - is standard input")
      .value("")
      .required();
  verb.option("TARGET", c->target, "The targets: line n belongs to line n of SOURCE").value("");
  verb.flag("--per-token", c->per_token, "Also print the log probability of each token");
  add_stride(verb, c->stride);
  add_json(verb, c->json, "Print one JSON object per line");
  add_threads(verb);
  verb.footer(kHelp);
  verb.run([c] { run(*c); });
}

}  // namespace heed::cli
