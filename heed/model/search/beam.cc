// The `beam` most likely hypotheses of every length, and the best of all that ended.
//
// At each step the continuations of a sentence's open hypotheses are ordered by log-probability. An END among the first
// `beam` of them ends its hypothesis; the first `beam` others stay open. So ended hypotheses take no place from open
// ones, and the search of a sentence continues until nothing better is possible: see Ranking::bound. No other rule
// stops it.
//
// With groups the beams of a sentence are several narrow ones, which search one after the other at each step. What
// survives where phrases must come: see choose_by_banks.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

#include "heed/model/search/backpointers.h"
#include "heed/model/search/best_tokens.h"
#include "heed/model/search/candidates.h"
#include "heed/model/search/leading.h"
#include "heed/model/search/open_hypotheses.h"
#include "heed/model/search/ranking.h"
#include "heed/model/search/strategies.h"
#include "heed/model/search/tree_recorder.h"

namespace heed::search {

namespace {

struct Open {
  int64_t node = Backpointers::kStart;
  int32_t token = 0;
  double log_probability = 0.0;
  std::vector<float> coverage = {};
  ConstraintState standing = {};
};

/// The best hypothesis of a sentence at a step, open or ended.
struct Leader {
  int64_t node;
  double score;
};

struct Ended {
  int64_t node;
  double log_probability, score;
};

/// One sentence, or one group of it.
struct Beam {
  int64_t sentence, width;
  int64_t most_ended;        // hypotheses that are kept
  std::vector<Open> open;    // in the order of their rows
  std::vector<Ended> ended;  // the best first
  bool stuck = false;        // the rules allow none of its hypotheses to go on, and none has ended
};

class BeamSearch {
 public:
  explicit BeamSearch(Stepper& stepper)
      : stepper_(stepper), o_(stepper.options()), ranking_(o_), teller_(o_, stepper.input()) {}

  std::vector<Result> run() {
    const int64_t k = begin() + 1;  // enough for all that stay open, also if others took the best ones; and END
    step_together(
        stepper_, beams_,
        [&](Tensor logits) {
          best_tokens(logits, stepper_.has_rules() ? 0 : k, best_, o_.never);
          if (stepper_.has_rules()) apply_rules(logits, k);
          sentence_ = -1;
        },
        [&](Beam& beam, int64_t first, Tensor logits, std::vector<size_t>& parents) {
          if (beam.sentence != std::exchange(sentence_, beam.sentence)) {
            taken_.clear();
            leader_.reset();
          }
          parents = advance(beam, first, logits);
          const bool over = is_over(beam);
          if (over) close(beam);
          if (teller_.is_asked()) tell_leading(beam, over);
          return !over;
        });
    if (o_.groups > 1)
      for (Result& result : results_) merge_groups(result.hypotheses);
    if (recorder_) recorder_->finish(results_.front().hypotheses, backpointers_, o_.end);
    return std::move(results_);
  }

 private:
  /// Sets up the beams. Returns the width of the widest, with all its groups.
  int64_t begin() {
    const Input& input = stepper_.input();
    results_.resize(static_cast<size_t>(input.size()));
    int64_t widest = o_.beam;
    std::vector<int64_t> rows;  // of the groups: copies of the one row of their sentence
    for (int64_t b = 0; b < input.size(); ++b) {
      const int64_t width = width_of(input, b, o_);
      widest = std::max(widest, width);
      for (int64_t g = 0; g < o_.groups; ++g) {
        const int64_t of_group = width / o_.groups;
        beams_.push_back(
            {b, of_group, o_.groups > 1 ? of_group : o_.nbest, {Open{.token = stepper_.first_token(b)}}, {}});
        rows.push_back(b);
      }
    }
    if (o_.groups > 1) stepper_.select(rows);
    if (o_.tree) recorder_.emplace(*o_.tree, stepper_.first_token(0));
    return widest;
  }

  void apply_rules(Tensor logits, int64_t k) {
    int64_t row = 0;
    for (const Beam& beam : beams_)
      for (const Open& open : beam.open)
        stepper_.tracker(beam.sentence)
            ->forbid(open.standing, stepper_.done() - 1, {logits.row(row++), static_cast<size_t>(logits.cols())});
    best_allowed_tokens(logits, k, best_);
  }

  /// One step of a sentence whose hypotheses are in the rows from `first`. Returns the parent of each open one.
  std::vector<size_t> advance(Beam& beam, int64_t first, Tensor logits) {
    const ConstraintTracker* tracker = stepper_.tracker(beam.sentence);
    const bool wants = tracker && tracker->wants();
    gather(beam, first, logits);
    if (wants) {
      add_wanted(beam, first, logits);
      for (Candidate& c : candidates_)
        c.bank = static_cast<int32_t>(tracker->bank_after(beam.open[c.open].standing, c.token));
      choose_by_banks(candidates_, beam.width, tracker->banks(), o_.end, chosen_);
    } else {
      choose_best(candidates_, beam.width, o_.end, chosen_);
    }
    // Greedy search ends with its first END. It comes here only for its tree (paths.cc is faster).
    const bool greedy = o_.groups == 1 && beam.width == 1;
    if (greedy && !chosen_.empty() && candidates_[chosen_.front()].token == o_.end) chosen_.resize(1);

    std::vector<int64_t> weights(beam.open.size(), -1);
    for (size_t i = 0; i < beam.open.size(); ++i) look(beam, i, first, weights[i]);
    std::vector<Open> next;
    std::vector<size_t> parents;
    for (const size_t which : chosen_) {
      const Candidate& c = candidates_[which];
      if (o_.groups > 1) taken_.push_back(c.token);
      const Open& parent = beam.open[c.open];
      const int64_t node =
          backpointers_.add(parent.node, c.token, c.log_probability - parent.log_probability, weights[c.open]);
      if (recorder_) recorder_->keep(parent.node, node, c, weights[c.open]);
      if (c.token != o_.end) {
        next.push_back({node, c.token, c.log_probability, parent.coverage, parent.standing});
        if (tracker) tracker->follow(next.back().standing, c.token);
        parents.push_back(c.open);
      } else {
        end(beam, {node, c.log_probability, ranking_.score(c.log_probability, stepper_.done(), parent.coverage)});
      }
    }
    if (recorder_)
      for (const size_t which : best_dropped(candidates_, chosen_, beam.width)) {
        const Candidate& c = candidates_[which];
        recorder_->drop(beam.open[c.open].node, c, weights[c.open]);
      }
    beam.stuck = next.empty() && beam.ended.empty();
    if (beam.stuck) return {};
    keep_places(next, parents, beam.open.size());
    beam.open = std::move(next);
    return parents;
  }

  void gather(const Beam& beam, int64_t first, Tensor logits) {
    candidates_.clear();
    for (size_t i = 0; i < beam.open.size(); ++i)
      for (int64_t j = 0; j < best_.k; ++j)
        add(beam, i, first, logits, best_.token[static_cast<size_t>((first + static_cast<int64_t>(i)) * best_.k + j)]);
  }

  void add(const Beam& beam, size_t which, int64_t first, Tensor logits, int32_t token) {
    const int64_t row = first + static_cast<int64_t>(which);
    const double more = static_cast<double>(logits.row(row)[token]) - best_.log_sum[static_cast<size_t>(row)];
    if (!std::isfinite(more)) return;
    const double log_probability = beam.open[which].log_probability + more;
    const auto others = taken_.empty() ? 0 : std::count(taken_.begin(), taken_.end(), token);
    candidates_.push_back(
        {log_probability, log_probability - o_.diversity * static_cast<double>(others), which, token});
  }

  /// Tokens that go on with a phrase that must come, however unlikely they are.
  void add_wanted(const Beam& beam, int64_t first, Tensor logits) {
    for (size_t i = 0; i < beam.open.size(); ++i) {
      stepper_.tracker(beam.sentence)->wanted_next(beam.open[i].standing, wanted_);
      std::sort(wanted_.begin(), wanted_.end());
      wanted_.erase(std::unique(wanted_.begin(), wanted_.end()), wanted_.end());
      const auto best = best_.token.begin() + (first + static_cast<int64_t>(i)) * best_.k;
      for (const int32_t token : wanted_)
        if (std::find(best, best + best_.k, token) == best + best_.k) add(beam, i, first, logits, token);
    }
  }

  /// What the step looked at: noted, and added to the coverage of the hypothesis.
  void look(Beam& beam, size_t which, int64_t first, int64_t& noted) {
    Open& open = beam.open[which];
    std::vector<float> weights = stepper_.weights(first + static_cast<int64_t>(which), beam.sentence);
    add_coverage(ranking_, weights, open.coverage);
    if (o_.alignment) noted = backpointers_.add_weights(std::move(weights));
  }

  void end(Beam& beam, const Ended& ended) {
    if (recorder_) recorder_->end(ended.node, ended.score, true);
    const auto at = std::upper_bound(beam.ended.begin(), beam.ended.end(), ended,
                                     [](const Ended& a, const Ended& b) { return a.score > b.score; });
    beam.ended.insert(at, ended);
    if (std::ssize(beam.ended) > beam.most_ended) beam.ended.pop_back();
  }

  bool is_over(const Beam& beam) const {
    if (beam.open.empty() || beam.stuck || !stepper_.may_go_on()) return true;
    if (std::ssize(beam.ended) < beam.most_ended) return false;
    for (const Open& open : beam.open)
      if (ranking_.bound(open.log_probability) > beam.ended.back().score) return false;
    return true;
  }

  void close(const Beam& beam) {
    std::vector<Hypothesis> all;
    for (const Ended& ended : beam.ended)
      all.push_back(backpointers_.hypothesis(ended.node, o_.end, ended.log_probability, ended.score));
    if (std::ssize(all) < beam.most_ended) {  // no more steps are allowed: what is open counts too, after the others
      const int64_t steps = std::max<int64_t>(stepper_.done() - (beam.stuck ? 1 : 0), 1);
      for (const Open& open : beam.open) {
        all.push_back(backpointers_.hypothesis(open.node, o_.end, open.log_probability,
                                               ranking_.score(open.log_probability, steps, open.coverage)));
        if (const ConstraintTracker* tracker = stepper_.tracker(beam.sentence))
          all.back().missing = tracker->missing(all.back().tokens);
        all.back().stuck = beam.stuck;
        if (recorder_ && open.node != Backpointers::kStart) recorder_->end(open.node, all.back().score, false);
      }
      sort_by_rank(all);
      if (std::ssize(all) > beam.most_ended) all.resize(static_cast<size_t>(beam.most_ended));
    }
    std::vector<Hypothesis>& found = results_[static_cast<size_t>(beam.sentence)].hypotheses;
    std::move(all.begin(), all.end(), std::back_inserter(found));
  }

  /// After the last group of a sentence at a step.
  void tell_leading(const Beam& beam, bool over) {
    const auto compare = [&](int64_t node, double score) {
      if (!leader_ || score > leader_->score) leader_ = {node, score};
    };
    if (!over) {
      if (!beam.ended.empty()) compare(beam.ended.front().node, beam.ended.front().score);
      for (const Open& open : beam.open)
        compare(open.node, ranking_.score(open.log_probability, stepper_.done(), open.coverage));
    }
    const Beam* next = &beam + 1;
    if (next != beams_.data() + beams_.size() && next->sentence == beam.sentence) return;
    // What groups that are over have found.
    const std::vector<Hypothesis>& found = results_[static_cast<size_t>(beam.sentence)].hypotheses;
    const auto best = std::min_element(found.begin(), found.end(), ranks_before);
    const bool found_leads = best != found.end() && (!leader_ || best->score >= leader_->score);
    if (found_leads || leader_)
      teller_.tell(beam.sentence, found_leads ? best->tokens : backpointers_.tokens(leader_->node, o_.end));
  }

  /// The best of all groups, none of them twice.
  void merge_groups(std::vector<Hypothesis>& all) const {
    sort_by_rank(all);
    std::vector<Hypothesis> merged;
    for (Hypothesis& h : all) {
      const auto same = [&](const Hypothesis& other) {
        return other.tokens == h.tokens && other.finished == h.finished;
      };
      if (std::ssize(merged) < o_.nbest && std::none_of(merged.begin(), merged.end(), same))
        merged.push_back(std::move(h));
    }
    all = std::move(merged);
  }

  Stepper& stepper_;
  const Options& o_;
  Ranking ranking_;
  LeadingTeller teller_;
  std::optional<Leader> leader_ = {};  // of this sentence, at this step
  Backpointers backpointers_;
  std::optional<TreeRecorder> recorder_ = {};  // if it was asked for
  BestTokens best_;
  std::vector<Candidate> candidates_;
  std::vector<size_t> chosen_;
  std::vector<int32_t> wanted_;
  int64_t sentence_ = -1;
  std::vector<int32_t> taken_;  // by earlier groups of this sentence, at this step
  std::vector<Beam> beams_;
  std::vector<Result> results_;
};

}  // namespace

std::vector<Result> beam_search(Stepper& stepper) { return BeamSearch(stepper).run(); }

}  // namespace heed::search
