// Mask-predict: all tokens are written at once; then, pass after pass, the least certain ones are left blank and
// written again, given the others.
//
//   pass 0:       every position blank:     y_i = argmax p(y_i | x),  c_i = log max p(y_i | x)
//   pass t < T:   of n positions the floor(n (T - t) / T) with the lowest c_i blank, and written again:
//                 y_i, c_i from p(y_i | x, the tokens that stayed)
//
// A sentence has one draft for each of the `lengths` likeliest lengths; they are ranked by the mean of the c_i and
// log p(length). A model with slots has one draft: it is cut at its first END, which may be written again like a
// token, and with it everything that comes after it.
//
// The caller may say how long an output is (length, or length_factor times the likeliest length): then there is one
// draft, and neither a length nor an END counts in its score.
//
//   Ghazvininejad et al. 2019: Mask-Predict: parallel decoding of conditional masked language models
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "heed/base/error.h"
#include "heed/model/search/alignment_row.h"
#include "heed/model/search/best_tokens.h"
#include "heed/model/search/leading.h"
#include "heed/model/search/ranking.h"
#include "heed/model/search/strategies.h"

namespace heed::search {

namespace {

struct Draft {
  int64_t sentence = 0;
  int64_t count = 0;            // rows that count: all, or those up to the first END, and it
  std::vector<int32_t> tokens;  // [rows]
  std::vector<double> certain;  // [rows]: log-probability of each, when it was written
  std::vector<int64_t> asked;   // rows that this pass writes, rising
  double length_log_probability = 0.0;
  std::vector<std::vector<float>> alignment = {};  // [rows][source tokens], of the last pass

  Draft(int64_t of, int64_t rows)
      : sentence(of),
        count(rows),
        tokens(static_cast<size_t>(rows), model::kBlank),
        certain(static_cast<size_t>(rows), 0.0) {}
};

/// The numbers of the `most` largest, the largest first; in a tie, the smaller number.
std::vector<int64_t> largest(std::span<const double> values, int64_t most) {
  std::vector<int64_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  const auto count = static_cast<ptrdiff_t>(std::min(most, std::ssize(values)));
  std::partial_sort(order.begin(), order.begin() + count, order.end(), [&](int64_t a, int64_t b) {
    const double x = values[static_cast<size_t>(a)], y = values[static_cast<size_t>(b)];
    return x != y ? x > y : a < b;
  });
  order.resize(static_cast<size_t>(count));
  return order;
}

class Refinement {
 public:
  Refinement(const model::ParallelGenerator& generator, Tape& tape, const Input& input, const Options& options)
      : generator_(generator),
        tape_(tape),
        input_(input),
        o_(options),
        slots_(generator.slots()),
        never_(options.never),
        teller_(options, input) {
    if (!by_end()) never_.push_back(o_.end);  // a length is not cut short
    tape_.reset();
    read_ = generator.read(tape, input.sources);
    for (int64_t b = 0; b < input.size(); ++b) add_drafts(b);
  }

  std::vector<Result> run() {
    for (int64_t pass = 0; pass < o_.iterations; ++pass) {
      std::vector<Draft*> open;
      for (Draft& draft : drafts_) {
        leave_blank(draft, pass);
        if (!draft.asked.empty()) open.push_back(&draft);
      }
      if (open.empty()) break;
      write(open);
      if (teller_.is_asked()) tell_leading();
    }
    return results();
  }

 private:
  /// The length was given, not found.
  bool given() const { return o_.given_length > 0 || o_.length_factor > 0.0; }
  /// An output is cut at its first END.
  bool by_end() const { return slots_ > 0 && !given(); }

  void add_drafts(int64_t sentence) {
    if (o_.given_length > 0) {
      drafts_.emplace_back(sentence, o_.given_length);
      return;
    }
    if (slots_ > 0) {
      drafts_.emplace_back(sentence, std::min(slots_, o_.longest));
      return;
    }
    const std::vector<double>& all = read_.lengths[static_cast<size_t>(sentence)];
    const int64_t likeliest = largest(all, 1).front();
    if (o_.length_factor > 0.0) {
      const double wanted = o_.length_factor * static_cast<double>(likeliest);
      drafts_.emplace_back(sentence,
                           std::clamp<int64_t>(std::llround(wanted), 1, std::max<int64_t>(o_.longest - 1, 1)));
      return;
    }
    const std::span allowed(all.data(), std::min(all.size(), static_cast<size_t>(o_.longest)));  // END is one of them
    for (const int64_t length : lengths_within(allowed, likeliest)) {
      drafts_.emplace_back(sentence, length);
      drafts_.back().length_log_probability = all[static_cast<size_t>(length)];
    }
  }

  /// The likeliest of the allowed lengths. Where the likeliest of all is too long, the probabilities of short ones say
  /// little: then the longest that fit, which are nearest to it.
  std::vector<int64_t> lengths_within(std::span<const double> allowed, int64_t likeliest) const {
    if (likeliest < std::ssize(allowed)) return largest(allowed, o_.lengths);
    std::vector<int64_t> longest;
    for (int64_t n = std::ssize(allowed) - 1; n > 0 && std::ssize(longest) < o_.lengths; --n) longest.push_back(n);
    if (longest.empty()) longest.push_back(0);
    return longest;
  }

  void leave_blank(Draft& draft, int64_t pass) const {
    draft.asked.clear();
    const int64_t blanks = draft.count * (o_.iterations - pass) / o_.iterations;
    if (blanks == 0) return;
    std::vector<double> doubtful(draft.certain.begin(), draft.certain.begin() + draft.count);
    for (double& value : doubtful) value = -value;
    draft.asked = largest(doubtful, blanks);
    std::sort(draft.asked.begin(), draft.asked.end());
    // Without an END nothing is known of what comes after it.
    if (by_end() && draft.asked.back() == draft.count - 1)
      for (int64_t row = draft.count; row < std::ssize(draft.tokens); ++row) draft.asked.push_back(row);
    for (const int64_t row : draft.asked) draft.tokens[static_cast<size_t>(row)] = model::kBlank;
  }

  void write(std::span<Draft* const> open) {
    tokens_.clear(), asked_.clear(), of_.clear();
    offsets_.assign(1, 0);
    for (const Draft* draft : open) {
      for (const int64_t row : draft->asked) asked_.push_back(offsets_.back() + row);
      tokens_.insert(tokens_.end(), draft->tokens.begin(), draft->tokens.end());
      offsets_.push_back(std::ssize(tokens_));
      of_.push_back(draft->sentence);
    }
    tape_.reset();
    const model::Drafts drafts{.tokens = tokens_, .offsets = offsets_, .source = of_, .asked = asked_};
    const Tensor logits = generator_.write(tape_, read_, drafts, o_.alignment ? &alignment_ : nullptr);
    best_tokens(logits, 1, best_, never_);
    for (int64_t d = 0, row = 0; Draft * draft : open) {
      for (const int64_t at : draft->asked) take(*draft, at, logits, row++);
      if (by_end()) cut(*draft);
      if (o_.alignment) take_alignment(*draft, d);
      ++d;
    }
  }

  void take(Draft& draft, int64_t at, Tensor logits, int64_t row) const {
    const int32_t token = best_.token[static_cast<size_t>(row)];
    const float logit = logits.row(row)[token];
    expect(std::isfinite(logit), ErrorKind::data, "search: the vocabulary has no token that may be written");
    draft.tokens[static_cast<size_t>(at)] = token;
    draft.certain[static_cast<size_t>(at)] = static_cast<double>(logit) - best_.log_sum[static_cast<size_t>(row)];
  }

  void cut(Draft& draft) const {
    const auto end = std::find(draft.tokens.begin(), draft.tokens.end(), o_.end);
    draft.count = std::min(end - draft.tokens.begin() + 1, std::ssize(draft.tokens));
    std::fill(end, draft.tokens.end(), o_.end);
  }

  void take_alignment(Draft& draft, int64_t number) const {
    draft.alignment.clear();
    const auto keys = generator_.memory_rows(input_.sources, draft.sentence);
    for (int64_t row = 0; row < draft.count; ++row)
      draft.alignment.push_back(weights_of(alignment_, o_.heads, {number, row, keys}));
  }

  /// Without its alignment.
  Hypothesis hypothesis(const Draft& draft) const {
    Hypothesis h;
    h.tokens.assign(draft.tokens.begin(), draft.tokens.begin() + draft.count);
    h.token_log_probabilities.assign(draft.certain.begin(), draft.certain.begin() + draft.count);
    h.log_probability = std::accumulate(draft.certain.begin(), draft.certain.begin() + draft.count, 0.0);
    if (given()) {
      h.finished = true;
    } else if (slots_ == 0) {
      h.token_log_probabilities.push_back(static_cast<float>(draft.length_log_probability));
      h.log_probability += draft.length_log_probability;
      h.finished = true;
    } else if (!h.tokens.empty() && h.tokens.back() == o_.end) {
      h.tokens.pop_back();
      h.finished = true;
    }
    h.score = h.log_probability / static_cast<double>(std::max<size_t>(h.token_log_probabilities.size(), 1));
    return h;
  }

  void tell_leading() {
    for (size_t d = 0; d < drafts_.size();) {  // those of a sentence are neighbours
      const int64_t sentence = drafts_[d].sentence;
      Hypothesis best = hypothesis(drafts_[d++]);
      for (; d < drafts_.size() && drafts_[d].sentence == sentence; ++d)
        if (Hypothesis other = hypothesis(drafts_[d]); ranks_before(other, best)) best = std::move(other);
      teller_.tell(sentence, std::move(best.tokens));
    }
  }

  std::vector<Result> results() {
    std::vector<Result> results(static_cast<size_t>(input_.size()));
    for (Draft& draft : drafts_) {
      Hypothesis h = hypothesis(draft);
      draft.alignment.resize(std::min(static_cast<size_t>(draft.count), draft.alignment.size()));
      h.alignment = std::move(draft.alignment);
      results[static_cast<size_t>(draft.sentence)].hypotheses.push_back(std::move(h));
    }
    for (Result& r : results) {
      sort_by_rank(r.hypotheses);
      if (std::ssize(r.hypotheses) > o_.nbest) r.hypotheses.resize(static_cast<size_t>(o_.nbest));
    }
    return results;
  }

  const model::ParallelGenerator& generator_;
  Tape& tape_;
  const Input& input_;
  const Options& o_;
  int64_t slots_;
  std::vector<int32_t> never_;  // tokens that are not written
  LeadingTeller teller_;
  model::ReadSources read_;
  std::vector<Draft> drafts_;
  // Of a pass:
  std::vector<int32_t> tokens_;
  std::vector<int64_t> offsets_, asked_, of_;
  decode::Alignment alignment_;
  BestTokens best_;
};

}  // namespace

std::vector<Result> refine(const model::ParallelGenerator& generator, Tape& tape, const Input& input,
                           const Options& options) {
  return Refinement(generator, tape, input, options).run();
}

}  // namespace heed::search
