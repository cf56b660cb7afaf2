// Samples of a sentence that all differ: sampling without replacement, as if sequences were drawn one after the other
// and what has come were put aside.
//
//   Kool, van Hoof and Welling 2019, "Stochastic beams and where to find them"
//
// Of all sequences y, those with the n largest log q(y) + Gumbel noise are such a sample. They are found from the top
// of the tree of all beginnings: the noisy value G of a beginning is the largest of its continuations, so those are
// drawn under the condition that their largest is G, and the n largest of all survive a step.
#include <algorithm>
#include <cmath>
#include <limits>

#include "heed/base/random.h"
#include "heed/kernels/exact_math.h"
#include "heed/model/search/backpointers.h"
#include "heed/model/search/best_tokens.h"
#include "heed/model/search/constraint_tracker.h"
#include "heed/model/search/open_hypotheses.h"
#include "heed/model/search/ranking.h"
#include "heed/model/search/strategies.h"
#include "heed/model/search/token_distribution.h"

namespace heed::search {

namespace {

struct OpenSample {
  int64_t node = Backpointers::kStart;
  int32_t token = 0;
  double log_probability = 0.0;  // of the model
  double log_q = 0.0;            // of what is drawn from: see TokenDistribution
  double noisy = 0.0;            // G
  std::vector<float> coverage = {};
  ConstraintState standing = {};
};

struct EndedSample {
  int64_t node;
  double log_probability, score, noisy;
};

/// One more token of an open one, or one that has ended.
struct Continuation {
  double noisy = 0.0, log_q = 0.0;
  size_t from = 0;  // of the open ones, or of the ended ones
  int32_t token = 0;
  bool ended = false;
};

struct SentenceSamples {
  int64_t sentence;
  text::Random random;
  std::vector<OpenSample> open;    // in the order of their rows
  std::vector<EndedSample> ended;  // those that are still among the n
};

bool larger(const Continuation& a, const Continuation& b) {
  if (a.noisy != b.noisy) return a.noisy > b.noisy;
  if (a.ended != b.ended) return a.ended;
  return a.from != b.from ? a.from < b.from : a.token < b.token;
}

void keep_largest(std::vector<Continuation>& candidates, int64_t most) {
  const auto count = std::min(std::ssize(candidates), most);
  std::partial_sort(candidates.begin(), candidates.begin() + count, candidates.end(), larger);
  candidates.resize(static_cast<size_t>(count));
}

/// The value of a draw g, if the largest of all draws, `largest`, is to be `wanted`:
/// -log(e^-wanted - e^-largest + e^-g), without overflow (appendix B.3 of the paper).
double conditioned(double g, double largest, double wanted) {
  if (g >= largest) return wanted;
  const double v = wanted - g + exact::log(1.0 - exact::exp(g - largest));
  return wanted - std::max(0.0, v) - exact::log(1.0 + exact::exp(-std::abs(v)));
}

double gumbel(text::Random& random) {
  const double u = random.uniform();
  return -exact::log(-exact::log(u > 0.0 ? u : 0x1p-54));
}

class DistinctSamples {
 public:
  explicit DistinctSamples(Stepper& stepper)
      : stepper_(stepper), o_(stepper.options()), ranking_(o_), distribution_(o_) {}

  std::vector<Result> run() {
    results_.resize(static_cast<size_t>(stepper_.input().size()));
    for (int64_t b = 0; b < stepper_.input().size(); ++b)
      all_.push_back({b,
                      text::Random(o_.seed, static_cast<uint64_t>(stepper_.input().number(b))),
                      {OpenSample{.token = stepper_.first_token(b)}},
                      {}});
    step_together(
        stepper_, all_, [&](Tensor logits) { best_tokens(logits, 0, best_, o_.never); },
        [&](SentenceSamples& drawn, int64_t first, Tensor logits, std::vector<size_t>& parents) {
          parents = advance(drawn, first, logits);
          if (o_.on_token && !drawn.open.empty())  // there is one sample
            o_.on_token(stepper_.input().number(drawn.sentence), backpointers_.tokens(drawn.open[0].node, o_.end));
          if (!drawn.open.empty() && stepper_.may_go_on()) return true;
          close(drawn);
          return false;
        });
    return std::move(results_);
  }

 private:
  /// One step of a sentence whose hypotheses are in the rows from `first`. Returns the parent of each open one.
  std::vector<size_t> advance(SentenceSamples& drawn, int64_t first, Tensor logits) {
    std::vector<Continuation> candidates;
    for (size_t i = 0; i < drawn.ended.size(); ++i)
      candidates.push_back({.noisy = drawn.ended[i].noisy, .from = i, .ended = true});
    for (size_t i = 0; i < drawn.open.size(); ++i) {
      float* row = logits.row(first + static_cast<int64_t>(i));
      if (const ConstraintTracker* tracker = stepper_.tracker(drawn.sentence))
        tracker->forbid(drawn.open[i].standing, stepper_.done() - 1, {row, static_cast<size_t>(logits.cols())});
      add_children(drawn, i, row, logits.cols(), candidates);
    }
    keep_largest(candidates, o_.nbest);

    std::vector<int64_t> weights;
    for (size_t i = 0; i < drawn.open.size(); ++i) weights.push_back(look(drawn, i, first));
    std::vector<OpenSample> next;
    std::vector<EndedSample> ended;
    std::vector<size_t> parents;
    for (const Continuation& c : candidates) {
      if (c.ended) {
        ended.push_back(drawn.ended[c.from]);
        continue;
      }
      const OpenSample& parent = drawn.open[c.from];
      const int64_t row = first + static_cast<int64_t>(c.from);
      const double more = static_cast<double>(logits.row(row)[c.token]) - best_.log_sum[static_cast<size_t>(row)];
      const int64_t node = backpointers_.add(parent.node, c.token, more, weights[c.from]);
      const double log_probability = parent.log_probability + more;
      if (c.token == o_.end) {
        ended.push_back(
            {node, log_probability, ranking_.score(log_probability, stepper_.done(), parent.coverage), c.noisy});
        continue;
      }
      next.push_back({node, c.token, log_probability, c.log_q, c.noisy, parent.coverage, parent.standing});
      if (const ConstraintTracker* tracker = stepper_.tracker(drawn.sentence))
        tracker->follow(next.back().standing, c.token);
      parents.push_back(c.from);
    }
    keep_places(next, parents, drawn.open.size());
    drawn.open = std::move(next);
    drawn.ended = std::move(ended);
    return parents;
  }

  /// The continuations of one hypothesis that can be among the n.
  void add_children(SentenceSamples& drawn, size_t which, const float* logits, int64_t count,
                    std::vector<Continuation>& into) {
    const OpenSample& parent = drawn.open[which];
    distribution_.set(logits, count);
    const double log_sum = exact::log(distribution_.sum());
    children_.clear();
    double largest = -std::numeric_limits<double>::infinity();
    for (size_t i = 0; i < distribution_.weights().size(); ++i) {
      const double weight = distribution_.weights()[i];
      if (weight <= 0.0) continue;
      const double log_q = parent.log_q + exact::log(weight) - log_sum;
      children_.push_back(
          {.noisy = log_q + gumbel(drawn.random), .log_q = log_q, .from = which, .token = distribution_.token(i)});
      largest = std::max(largest, children_.back().noisy);
    }
    keep_largest(children_, o_.nbest);  // the condition below does not change their order
    // Above all beginnings is the empty one, whose value is free: that of its continuations stays as drawn.
    const bool is_first = parent.node == Backpointers::kStart;
    for (Continuation& child : children_) {
      if (!is_first) child.noisy = conditioned(child.noisy, largest, parent.noisy);
      into.push_back(child);
    }
  }

  /// What the step looked at: added to the coverage of the hypothesis, and noted; the number of the note.
  int64_t look(SentenceSamples& drawn, size_t which, int64_t first) {
    OpenSample& open = drawn.open[which];
    std::vector<float> weights = stepper_.weights(first + static_cast<int64_t>(which), drawn.sentence);
    add_coverage(ranking_, weights, open.coverage);
    return o_.alignment ? backpointers_.add_weights(std::move(weights)) : -1;
  }

  void close(const SentenceSamples& drawn) {
    std::vector<Hypothesis>& all = results_[static_cast<size_t>(drawn.sentence)].hypotheses;
    for (const EndedSample& ended : drawn.ended)
      all.push_back(backpointers_.hypothesis(ended.node, o_.end, ended.log_probability, ended.score));
    for (const OpenSample& open : drawn.open)
      all.push_back(backpointers_.hypothesis(open.node, o_.end, open.log_probability,
                                             ranking_.score(open.log_probability, stepper_.done(), open.coverage)));
    sort_by_rank(all);
  }

  Stepper& stepper_;
  const Options& o_;
  Ranking ranking_;
  TokenDistribution distribution_;
  Backpointers backpointers_;
  BestTokens best_;
  std::vector<Continuation> children_;
  std::vector<SentenceSamples> all_;
  std::vector<Result> results_;
};

}  // namespace

std::vector<Result> sample_distinct(Stepper& stepper) { return DistinctSamples(stepper).run(); }

}  // namespace heed::search
