#include "heed/task/search_lines.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "heed/search/ensemble.h"
#include "heed/search/score.h"
#include "heed/search/source_batch.h"
#include "heed/task/spellings.h"
#include "heed/task/together_or_each.h"
#include "heed/tensor/error.h"
#include "heed/tensor/interrupt.h"
#include "heed/text/tokens.h"

namespace heed::task {

Generators generators_of(const LoadedModel& asked) {
  Generators all;
  asked.each_model([&](const LoadedModel& each) {
    expect(each.model.generator() != nullptr, "predict: this model cannot generate outputs");
    all.push_back(each.model.generator());
  });
  return all;
}

std::vector<int64_t> alignment_heads(const Generators& generators) {
  if (generators.size() == 1) return generators[0]->alignment_heads();
  std::vector<search::EnsembleMember> members;
  for (const model::Generator* each : generators) members.push_back({*each});
  return search::Ensemble(std::move(members), search::Mean::log_probabilities, false).alignment_heads();
}

namespace {

search::Ensemble ensemble_for(const Generators& generators, const LoadedModel& asked,
                              std::span<const SearchLine> lines) {
  std::vector<search::EnsembleMember> members;
  for (size_t m = 0; m < generators.size(); ++m) {
    members.push_back({*generators[m]});
    for (const SearchLine& line : lines) members.back().sources.push_back(line.sources[m]);
  }
  return {std::move(members), asked.mean, asked.same_sources};
}

std::vector<search::Result> search_once(const Generators& generators, const LoadedModel& asked,
                                        std::span<const SearchLine> lines, const search::Options& options,
                                        const search::BatchLimits& limits) {
  search::SourceBatch sources;
  if (generators.size() == 1) {
    for (const SearchLine& line : lines) sources.add(line.sources[0], line.number, line.rules.rules);
    return search::search_all(*generators[0], asked.tapes, sources.view(), options, limits);
  }
  const search::Ensemble ensemble = ensemble_for(generators, asked, lines);
  for (size_t i = 0; i < lines.size(); ++i)
    sources.add(ensemble.source_ids(static_cast<int64_t>(i)), lines[i].number, lines[i].rules.rules);
  return search::search_all(ensemble, asked.tapes, sources.view(), options, limits);
}

/// The rules of a line without the other spellings of its words that were found; nothing if there are none.
std::optional<search::Rules> stricter(const SearchLine& line, const search::Result& found,
                                      const text::Tokeniser& target) {
  std::vector<std::vector<int32_t>> spellings;
  for (const std::string& phrase : line.rules.must_not)
    for (const search::Hypothesis& h : found.hypotheses)
      if (std::vector<int32_t> other = spelling_in(h.tokens, phrase, target); !other.empty())
        spellings.push_back(std::move(other));
  if (spellings.empty()) return std::nullopt;
  search::Rules rules = *line.rules.rules;
  for (int64_t p = 0; p < rules.must_not->count(); ++p) spellings.push_back(rules.must_not->phrase(p));
  rules.must_not = std::make_shared<search::Phrases>(std::move(spellings));
  return rules;
}

}  // namespace

std::vector<search::Result> search_lines(const Generators& generators, const LoadedModel& asked,
                                         std::span<const SearchLine> lines, const search::Options& options,
                                         const search::BatchLimits& limits) {
  constexpr int kMostSearches = 100;  // of a line, each without one more spelling
  std::vector<search::Result> found = search_once(generators, asked, lines, options, limits);
  const text::Tokeniser& target = *asked.vocabularies.target;
  if (!has_other_spellings(target)) return found;
  for (size_t i = 0; i < lines.size(); ++i) {
    SearchLine line = lines[i];
    std::deque<search::Rules> kept;
    while (std::optional<search::Rules> rules = stricter(line, found[i], target)) {
      expect(kept.size() < kMostSearches, ErrorKind::data, "must_not: after {} searches the model still spells '{}'",
             kMostSearches, line.rules.must_not.front());
      line.rules.rules = &kept.emplace_back(std::move(*rules));
      found[i] = search_once(generators, asked, {&line, 1}, options, limits).front();
    }
  }
  return found;
}

void score_lines(const Generators& generators, const LoadedModel& asked, std::span<const SearchLine> lines,
                 std::span<const std::vector<int32_t>> targets, std::span<PairScore* const> scores) {
  constexpr size_t kTogether = 32;  // lines of a batch
  if (lines.empty()) return;
  const search::Ensemble ensemble = ensemble_for(generators, asked, lines);
  std::vector<size_t> order(lines.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return targets[a].size() < targets[b].size(); });
  search::TapePool::Lease tape(asked.tapes);
  const auto run = [&](std::span<const size_t> some) {
    search::SourceBatch sources;
    std::vector<std::vector<int32_t>> of_some;
    for (const size_t i : some) {
      sources.add(ensemble.source_ids(static_cast<int64_t>(i)), lines[i].number, nullptr);
      of_some.push_back(targets[i]);
    }
    std::vector<search::Scored> found = search::score_by_steps(ensemble, *tape, sources.view(), of_some, text::kStart);
    for (size_t i = 0; i < some.size(); ++i) {
      scores[some[i]]->log_probability = found[i].log_probability;
      scores[some[i]]->token_log_probabilities = std::move(found[i].token_log_probabilities);
    }
  };
  const size_t at_once = ensemble.mixes_lengths() ? kTogether : 1;
  for (size_t begin = 0; begin < order.size(); begin += at_once) {
    stop_if_interrupted();
    together_or_each(std::span<const size_t>(order).subspan(begin, std::min(at_once, order.size() - begin)), run,
                     [&](size_t i, const std::string& error) { scores[i]->error = error; });
  }
}

}  // namespace heed::task
