// heed score: how likely a model finds targets that are given.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <memory>
#include <new>
#include <optional>

#include "cli/counter.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "heed/data/batches.h"
#include "heed/data/lines.h"
#include "heed/data/packed_batch.h"
#include "heed/file/json.h"
#include "heed/search/score.h"
#include "heed/tensor/error.h"
#include "heed/tensor/memory.h"
#include "heed/text/utf8.h"

namespace heed::cli {

namespace {

using file::Json;

struct Chosen {
  ModelChoice model;
  std::string source, target;  // without a target, the source is a TSV
  bool per_token = false, json = false;
};

constexpr size_t kChunk = 1024;  // pairs that are read before some are answered: enough to find some of like lengths

struct Pair {
  std::string source, target;
  std::string error;  // why it cannot be scored
  search::Scored scored;
};

// --------------------------------------------------------------------------------------------------------------- pairs

class PairReader {
 public:
  PairReader(const std::string& source, const std::string& target) : source_(readable(source)) {
    if (!target.empty()) target_.emplace(readable(target));
  }

  bool next(Pair& pair) {
    pair = {};
    const bool more = source_.next(pair.source);
    if (target_) {
      if (target_->next(pair.target) != more)
        throw Error(ErrorKind::data,
                    fmt::format("{} has {} lines, and {} has {}", source_.path().string(),
                                more ? "more" : fmt::format("{}", source_.number()), target_->path().string(),
                                more ? fmt::format("{}", target_->number()) : "more"));
      return more;
    }
    const size_t tab = pair.source.find('\t');
    if (tab == std::string::npos) {
      pair.error = "there is no tab between a source and a target";
      return more;
    }
    pair.target = pair.source.substr(tab + 1, pair.source.find('\t', tab + 1) - tab - 1);  // more columns: not read
    pair.source.resize(tab);
    return more;
  }

 private:
  LineReader source_;
  std::optional<LineReader> target_;
};

// -------------------------------------------------------------------------------------------------------------- scores

class Scorer {
 public:
  explicit Scorer(const train::TrainedModel& trained)
      : trained_(trained), tape_({.recording = false, .training = false}) {}

  void score(std::vector<Pair>& pairs) {
    Examples examples;
    Lengths lengths;
    std::vector<Pair*> there;
    for (Pair& pair : pairs) {
      if (pair.error.empty()) pair.error = utf8_complaint(pair.source);
      if (pair.error.empty()) pair.error = utf8_complaint(pair.target);
      if (!pair.error.empty()) continue;
      const std::vector<int32_t> source = trained_.vocabularies.source->encode(pair.source);
      const std::vector<int32_t> target = trained_.vocabularies.target->encode(pair.target);
      const int64_t longest = std::max(std::ssize(source), std::ssize(target) + 1);
      if (source.empty()) pair.error = "the source is empty";
      if (const int64_t places = train::places(trained_.recipe); longest > places)
        pair.error = fmt::format("{} tokens are too long: the model has places for {}", longest, places);
      if (!pair.error.empty()) continue;
      examples.source.add(source);
      examples.target.add(target);
      there.push_back(&pair);
    }
    if (there.empty()) return;
    for (const Batch& batch : make_batches(lengths_of(examples), {.shuffle = false}, 0)) score(examples, batch, there);
  }

 private:
  /// Where a batch fails, each of its pairs is tried alone.
  void score(const Examples& examples, std::span<const int64_t> batch, const std::vector<Pair*>& pairs) {
    std::string error;
    try {
      const PackedBatch b = pack_batch(examples, batch);
      std::vector<search::Scored> scored = search::score(
          *trained_.model, tape_, {b.source, b.source_offsets, b.target_in, b.target_out, b.target_offsets});
      for (size_t i = 0; i < batch.size(); ++i) pairs[static_cast<size_t>(batch[i])]->scored = std::move(scored[i]);
      return;
    } catch (const Error& wrong) {
      error = wrong.what();
    } catch (const std::bad_alloc& lack) {
      error = memory_text(lack);
    }
    if (batch.size() == 1)
      pairs[static_cast<size_t>(batch.front())]->error = error;
    else
      for (size_t i = 0; i < batch.size(); ++i) score(examples, batch.subspan(i, 1), pairs);
  }

  const train::TrainedModel& trained_;
  Tape tape_;
};

// -------------------------------------------------------------------------------------------------------------- output

std::string plain(const Pair& pair, bool per_token) {
  if (!pair.error.empty()) return "\n";
  const std::string sum = fmt::format("{:.6f}", pair.scored.log_probability);
  return per_token ? fmt::format("{}\t{:.6f}\n", sum, fmt::join(pair.scored.token_log_probabilities, " ")) : sum + "\n";
}

std::string json_line(const Pair& pair, int64_t number, const Tokeniser& target, bool per_token) {
  Json j = Json::object({{"line", number}, {"source", pair.source}, {"target", pair.target}});
  if (!pair.error.empty()) {
    j["error"] = pair.error;
  } else {
    j["log_probability"] = pair.scored.log_probability;
    j["token_count"] = pair.scored.token_log_probabilities.size();
    if (per_token) {
      j["tokens"] = Json::array();
      for (const int32_t id : target.encode(pair.target)) j["tokens"].push_back(target.token(id));
      j["tokens"].push_back(target.token(kEnd));
      j["token_log_probabilities"] = pair.scored.token_log_probabilities;
    }
  }
  return j.line() + "\n";
}

struct Total {
  int64_t pairs = 0, tokens = 0, failed = 0;
  double log_probability = 0;

  std::string text() const {
    std::string said = fmt::format("heed: {} pairs, {} tokens, log probability {:.4f}, perplexity {:.4f}",
                                   grouped(pairs), grouped(tokens), log_probability,
                                   std::exp(-log_probability / static_cast<double>(std::max<int64_t>(tokens, 1))));
    return said + (failed > 0 ? fmt::format("; {} could not be scored\n", grouped(failed)) : "\n");
  }
};

void run(const Chosen& c) {
  if (c.source == "-" && c.target == "-") throw Error("score: only one of the two can be standard input");
  const train::TrainedModel trained = load_model(c.model);
  Scorer scorer(trained);
  Counter counter("pairs");
  Total total;
  PairReader reader(c.source, c.target);
  for (bool more = true; more && !reader_is_gone();) {
    std::vector<Pair> pairs;
    Pair pair;
    while (pairs.size() < kChunk && (more = reader.next(pair))) pairs.push_back(std::move(pair));
    scorer.score(pairs);
    std::string text;
    for (const Pair& p : pairs) {
      const int64_t number = total.pairs + total.failed + 1;
      text += c.json ? json_line(p, number, *trained.vocabularies.target, c.per_token) : plain(p, c.per_token);
      if (!p.error.empty()) {
        counter.erase();
        warn(fmt::format("line {}: {}; it is not scored", number, p.error));
        ++total.failed;
        continue;
      }
      ++total.pairs;
      total.tokens += std::ssize(p.scored.token_log_probabilities);
      total.log_probability += p.scored.log_probability;
    }
    print(text);
    counter.add(std::ssize(pairs));
  }
  counter.erase();
  if (!reader_is_gone()) note(total.text());
}

constexpr const char* kHelp = R"(Examples:
  heed score model source.txt target.txt > scores.txt
  heed score model pairs.tsv --per-token
  paste source.txt target.txt | heed score model - --json

For each pair, a line with the natural logarithm of the probability of the target and its end, given the source; with
--per-token, a tab and that of each token, the end last. A pair that cannot be scored (invalid UTF-8, an empty source, too
long) gives an empty line and is named on standard error, where the sum and the perplexity of all pairs stand too.)";

}  // namespace

void add_score(Program& program) {
  auto c = std::make_shared<Chosen>();
  Verb verb = program.verb("score", "How likely a model finds given targets");
  add_model(verb, c->model);
  verb.option("SOURCE", c->source, "A line for each source; without TARGET, a TSV of both; - is standard input")
      .value("")
      .required();
  verb.option("TARGET", c->target, "Line n belongs to line n of SOURCE").value("");
  verb.flag("--per-token", c->per_token, "The log probability of each token too");
  add_json(verb, c->json, "One JSON object a line");
  add_threads(verb);
  verb.footer(kHelp);
  verb.run([c] { run(*c); });
}

}  // namespace heed::cli
