#include "heed/task/line_search.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <numeric>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/interrupt.h"
#include "heed/model/search/score.h"
#include "heed/model/search/source_batch.h"
#include "heed/task/retry_individually.h"
#include "heed/task/spellings.h"
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

LineSearch::LineSearch(const LoadedModel& asked, Generators generators)
    : asked_(asked), generators_(std::move(generators)) {
  if (generators_.size() > 1) ensemble_.emplace(generators_, asked.mean, asked.same_sources);
}

namespace {

bool writes_all_at_once(const LoadedModel& asked) {
  bool parallel = false;
  asked.each_model([&](const LoadedModel& each) { parallel |= each.model.parallel_generator() != nullptr; });
  expect(!parallel || asked.others.empty(),
         "ensemble: models that write all positions at once cannot write together with others");
  return parallel;
}

}  // namespace

LineSearch::LineSearch(const LoadedModel& asked)
    : LineSearch(asked, writes_all_at_once(asked) ? Generators() : generators_of(asked)) {
  parallel_ = asked.model.parallel_generator();
}

const model::Generator& LineSearch::generator() const {
  if (ensemble_) return *ensemble_;
  return *generators_[0];
}

std::vector<int64_t> LineSearch::alignment_heads() const {
  return parallel_ ? parallel_->alignment_heads() : generator().alignment_heads();
}

std::vector<search::Result> LineSearch::search_once(const data::Sources& sources, std::span<const PendingLine> lines,
                                                    const search::Options& options,
                                                    const search::BatchLimits& limits) const {
  std::vector<int64_t> places, numbers;
  std::vector<const search::Rules*> rules;
  bool has_rules = false;
  for (const PendingLine& line : lines) {
    places.push_back(line.source);
    numbers.push_back(line.number);
    rules.push_back(line.rules.rules);
    has_rules |= line.rules.rules != nullptr;
  }
  if (!has_rules) rules.clear();
  const bool all = std::ssize(lines) == sources.size();  // they are in the order of the sources
  const data::Sources some = all ? data::Sources() : sources.pack(places);
  const search::Input input{.sources = all ? sources : some, .numbers = numbers, .rules = rules};
  return parallel_ ? search::search_all(*parallel_, asked_.tapes, input, options, limits)
                   : search::search_all(generator(), asked_.tapes, input, options, limits);
}

namespace {

/// The rules of a line without the other spellings of its words that were found; nothing if there are none.
std::optional<search::Rules> stricter(const PendingLine& line, const search::Result& found,
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

std::vector<search::Result> LineSearch::search(const data::Sources& sources, std::span<const PendingLine> lines,
                                               const search::Options& options,
                                               const search::BatchLimits& limits) const {
  constexpr int kMostSearches = 100;  // of a line, each without one more spelling
  std::vector<search::Result> found = search_once(sources, lines, options, limits);
  const text::Tokeniser& target = *asked_.vocabularies.target;
  if (!has_other_spellings(target)) return found;
  for (size_t i = 0; i < lines.size(); ++i) {
    PendingLine line = lines[i];
    std::deque<search::Rules> kept;
    while (std::optional<search::Rules> rules = stricter(line, found[i], target)) {
      expect(kept.size() < kMostSearches, ErrorKind::data, "must_not: after {} searches the model still spells '{}'",
             kMostSearches, line.rules.must_not.front());
      line.rules.rules = &kept.emplace_back(std::move(*rules));
      found[i] = search_once(sources, {&line, 1}, options, limits).front();
    }
  }
  return found;
}

void LineSearch::score(const data::Sources& sources, std::span<const std::vector<int32_t>> targets,
                       std::span<PairScore* const> scores) const {
  constexpr size_t kTogether = 32;  // lines of a batch
  if (sources.size() == 0) return;
  std::vector<int64_t> order(static_cast<size_t>(sources.size()));
  std::iota(order.begin(), order.end(), int64_t{0});
  const auto target = [&](int64_t i) -> const std::vector<int32_t>& { return targets[static_cast<size_t>(i)]; };
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return target(a).size() < target(b).size(); });
  search::TapePool::Lease tape(asked_.tapes);
  const auto run = [&](std::span<const int64_t> some) {
    std::vector<std::vector<int32_t>> of_some;
    for (const int64_t i : some) of_some.push_back(target(i));
    const data::Sources read = sources.pack(some);
    std::vector<search::Scored> found =
        search::score_by_steps(generator(), *tape, {.sources = read}, of_some, text::kStart);
    for (size_t i = 0; i < some.size(); ++i) {
      PairScore& score = *scores[static_cast<size_t>(some[i])];
      score.log_probability = found[i].log_probability;
      score.token_log_probabilities = std::move(found[i].token_log_probabilities);
    }
  };
  const size_t at_once = generator().mixes_lengths() ? kTogether : 1;
  for (size_t begin = 0; begin < order.size(); begin += at_once) {
    stop_if_interrupted();
    retry_individually(std::span<const int64_t>(order).subspan(begin, std::min(at_once, order.size() - begin)), run,
                       [&](int64_t i, const std::string& error) { scores[static_cast<size_t>(i)]->error = error; });
  }
}

}  // namespace heed::task
