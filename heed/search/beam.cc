// The `beam` most likely hypotheses of every length, and the best of all that ended.
//
// At each step the continuations of a sentence's open hypotheses are ordered by log-probability. An END among the first
// `beam` of them ends its hypothesis; the first `beam` others stay open. So ended hypotheses take no place from open
// ones, and the search of a sentence continues until nothing better is possible: see Ranking::bound. No other rule
// stops it.
#include <algorithm>
#include <cmath>

#include "heed/search/backpointers.h"
#include "heed/search/ranking.h"
#include "heed/search/strategies.h"
#include "heed/search/vocabulary.h"

namespace heed::search {

namespace {

struct Open {
  int64_t node = Backpointers::kStart;
  int32_t token = 0;
  double log_probability = 0.0;
  std::vector<float> coverage = {};
};

struct Ended {
  int64_t node;
  double log_probability, score;
};

struct Candidate {
  double log_probability;
  size_t open;
  int32_t token;
};

/// One sentence.
struct Beam {
  int64_t sentence;
  std::vector<Open> open;    // in the order of their rows
  std::vector<Ended> ended;  // the best first, at most nbest
};

class BeamSearch {
 public:
  explicit BeamSearch(Stepper& stepper) : stepper_(stepper), o_(stepper.options()), ranking_(o_) {}

  std::vector<Result> run() {
    const int64_t sentences = stepper_.sources().size();
    results_.resize(static_cast<size_t>(sentences));
    for (int64_t b = 0; b < sentences; ++b) beams_.push_back({b, {Open{.token = stepper_.first_token(b)}}, {}});
    while (!beams_.empty()) {
      std::vector<int32_t> tokens;
      for (const Beam& beam : beams_)
        for (const Open& open : beam.open) tokens.push_back(open.token);
      const Tensor logits = stepper_.next(tokens);
      best_tokens(logits, o_.beam + 1, best_);  // enough for `beam` that stay open, and END
      int64_t first = 0;
      std::vector<int64_t> rows;
      std::vector<Beam> still;
      for (Beam& beam : beams_) {
        const auto count = std::ssize(beam.open);
        const std::vector<size_t> parents = advance(beam, first, logits);
        if (is_over(beam)) {
          close(beam);
        } else {
          for (const size_t parent : parents) rows.push_back(first + static_cast<int64_t>(parent));
          still.push_back(std::move(beam));
        }
        first += count;
      }
      beams_ = std::move(still);
      if (!beams_.empty()) stepper_.select(rows);
    }
    return std::move(results_);
  }

 private:
  /// One step of a sentence whose hypotheses are in the rows from `first`. Returns the parent of each open one.
  std::vector<size_t> advance(Beam& beam, int64_t first, Tensor logits) {
    std::vector<Candidate> candidates;
    for (size_t i = 0; i < beam.open.size(); ++i) {
      const int64_t row = first + static_cast<int64_t>(i);
      for (int64_t j = 0; j < best_.k; ++j) {
        const int32_t token = best_.token[static_cast<size_t>(row * best_.k + j)];
        const double log_probability =
            static_cast<double>(logits.row(row)[token]) - best_.log_sum[static_cast<size_t>(row)];
        if (std::isfinite(log_probability))
          candidates.push_back({beam.open[i].log_probability + log_probability, i, token});
      }
    }
    const auto count = std::min(std::ssize(candidates), 2 * o_.beam);  // at most `beam` of them are END
    std::partial_sort(candidates.begin(), candidates.begin() + count, candidates.end(),
                      [](const Candidate& a, const Candidate& b) {
                        if (a.log_probability != b.log_probability) return a.log_probability > b.log_probability;
                        return a.open != b.open ? a.open < b.open : a.token < b.token;
                      });

    std::vector<int64_t> weights(beam.open.size(), -1);
    for (size_t i = 0; i < beam.open.size(); ++i) look(beam, i, first, weights[i]);
    std::vector<Open> next;
    std::vector<size_t> parents;
    for (int64_t rank = 0; rank < count && std::ssize(next) < o_.beam; ++rank) {
      const Candidate& c = candidates[static_cast<size_t>(rank)];
      if (c.token == o_.end && rank >= o_.beam) continue;
      const Open& parent = beam.open[c.open];
      const int64_t node =
          backpointers_.add(parent.node, c.token, c.log_probability - parent.log_probability, weights[c.open]);
      if (c.token != o_.end) {
        next.push_back({node, c.token, c.log_probability, parent.coverage});
        parents.push_back(c.open);
      } else {
        end(beam, {node, c.log_probability, ranking_.score(c.log_probability, stepper_.done(), parent.coverage)});
      }
    }
    keep_places(next, parents, beam.open.size());
    beam.open = std::move(next);
    return parents;
  }

  /// What the step looked at: noted, and added to the coverage of the hypothesis.
  void look(Beam& beam, size_t which, int64_t first, int64_t& noted) {
    Open& open = beam.open[which];
    std::vector<float> weights = stepper_.weights(first + static_cast<int64_t>(which), beam.sentence);
    if (ranking_.needs_coverage()) {
      open.coverage.resize(weights.size());
      for (size_t j = 0; j < weights.size(); ++j) open.coverage[j] += weights[j];
    }
    if (o_.alignment) noted = backpointers_.add_weights(std::move(weights));
  }

  void end(Beam& beam, const Ended& ended) const {
    const auto at = std::upper_bound(beam.ended.begin(), beam.ended.end(), ended,
                                     [](const Ended& a, const Ended& b) { return a.score > b.score; });
    beam.ended.insert(at, ended);
    if (std::ssize(beam.ended) > o_.nbest) beam.ended.pop_back();
  }

  /// The first child of each hypothesis takes its place, so that nothing is copied for it; other children take the
  /// places of those that have none.
  static void keep_places(std::vector<Open>& next, std::vector<size_t>& parents, size_t places) {
    std::vector<size_t> order(std::max(next.size(), places), kNobody);
    std::vector<size_t> others;
    for (size_t i = 0; i < next.size(); ++i) {
      if (parents[i] < next.size() && order[parents[i]] == kNobody)
        order[parents[i]] = i;
      else
        others.push_back(i);
    }
    order.resize(next.size());
    size_t taken = 0;
    for (size_t& who : order)
      if (who == kNobody) who = others[taken++];
    std::vector<Open> placed;
    std::vector<size_t> parents_placed;
    for (const size_t who : order) {
      placed.push_back(std::move(next[who]));
      parents_placed.push_back(parents[who]);
    }
    next = std::move(placed);
    parents = std::move(parents_placed);
  }

  bool is_over(const Beam& beam) const {
    if (beam.open.empty() || !stepper_.may_go_on()) return true;
    if (std::ssize(beam.ended) < o_.nbest) return false;
    for (const Open& open : beam.open)
      if (ranking_.bound(open.log_probability) > beam.ended.back().score) return false;
    return true;
  }

  void close(const Beam& beam) {
    std::vector<Hypothesis> all;
    for (const Ended& ended : beam.ended) {
      all.push_back(backpointers_.hypothesis(ended.node, o_.end));
      all.back().log_probability = ended.log_probability;
      all.back().score = ended.score;
    }
    if (std::ssize(all) < o_.nbest) {  // then no more steps are allowed: what is open counts too, after the others
      for (const Open& open : beam.open) {
        all.push_back(backpointers_.hypothesis(open.node, o_.end));
        all.back().log_probability = open.log_probability;
        all.back().score = ranking_.score(open.log_probability, stepper_.done(), open.coverage);
      }
      sort_by_rank(all);
      if (std::ssize(all) > o_.nbest) all.resize(static_cast<size_t>(o_.nbest));
    }
    results_[static_cast<size_t>(beam.sentence)].hypotheses = std::move(all);
  }

  static constexpr size_t kNobody = static_cast<size_t>(-1);

  Stepper& stepper_;
  const Options& o_;
  Ranking ranking_;
  Backpointers backpointers_;
  BestTokens best_;
  std::vector<Beam> beams_;
  std::vector<Result> results_;
};

}  // namespace

std::vector<Result> beam_search(Stepper& stepper) { return BeamSearch(stepper).run(); }

}  // namespace heed::search
