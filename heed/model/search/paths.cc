#include "heed/model/search/paths.h"

#include <numeric>

#include "heed/model/search/ranking.h"

namespace heed::search {

std::vector<Result> follow_paths(Stepper& stepper, int64_t paths, int64_t k, const Choose& choose) {
  const Options& o = stepper.options();
  const Ranking ranking(o);
  const int64_t sentences = stepper.input().size();
  std::vector<Hypothesis> all(static_cast<size_t>(sentences * paths));
  std::vector<std::vector<float>> coverage(all.size());
  std::vector<ConstraintState> standing(stepper.has_rules() ? all.size() : 0);

  // At first the paths of a sentence share its row.
  std::vector<int64_t> open(all.size()), row_of(all.size());
  std::iota(open.begin(), open.end(), 0);
  for (size_t p = 0; p < all.size(); ++p) row_of[p] = static_cast<int64_t>(p) / paths;
  std::vector<int32_t> tokens;
  for (int64_t b = 0; b < sentences; ++b) tokens.push_back(stepper.first_token(b));
  BestTokens best;
  while (!open.empty() && stepper.may_go_on()) {
    const Tensor logits = stepper.next(tokens);
    best_tokens(logits, stepper.has_rules() ? 0 : k, best, o.never);
    if (stepper.has_rules()) {
      for (const int64_t path : open)
        stepper.tracker(path / paths)
            ->forbid(standing[static_cast<size_t>(path)], stepper.done() - 1,
                     {logits.row(row_of[static_cast<size_t>(path)]), static_cast<size_t>(logits.cols())});
      best_allowed_tokens(logits, k, best);
    }
    std::vector<int64_t> still_open, rows;
    tokens.clear();
    for (const int64_t path : open) {
      const auto at = static_cast<size_t>(path);
      const int64_t row = row_of[at];
      Hypothesis& h = all[at];
      const int32_t token = choose({path, row, logits, best});
      const double log_probability =
          static_cast<double>(logits.row(row)[token]) - best.log_sum[static_cast<size_t>(row)];
      h.log_probability += log_probability;
      h.token_log_probabilities.push_back(static_cast<float>(log_probability));
      const std::vector<float> weights = stepper.weights(row, path / paths);
      add_coverage(ranking, weights, coverage[at]);
      if (o.alignment) h.alignment.push_back(weights);
      h.finished = token == o.end;
      if (h.finished) continue;
      h.tokens.push_back(token);
      if (stepper.has_rules()) stepper.tracker(path / paths)->follow(standing[at], token);
      if (o.on_token) o.on_token(stepper.input().number(path / paths), h.tokens);
      tokens.push_back(token);
      rows.push_back(row);
      row_of[at] = std::ssize(still_open);
      still_open.push_back(path);
    }
    const bool changes = still_open.size() != open.size() || stepper.done() == 1;
    if (changes && stepper.may_go_on()) stepper.select(rows);
    open = std::move(still_open);
  }

  std::vector<Result> results(static_cast<size_t>(sentences));
  for (size_t p = 0; p < all.size(); ++p) {
    all[p].score = ranking.score(all[p].log_probability, std::ssize(all[p].token_log_probabilities), coverage[p]);
    results[p / static_cast<size_t>(paths)].hypotheses.push_back(std::move(all[p]));
  }
  for (Result& r : results) sort_by_rank(r.hypotheses);
  return results;
}

}  // namespace heed::search
