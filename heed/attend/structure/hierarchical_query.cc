// L10 hierarchical_query: words and sentences are weighed for what is being written or asked.   Compare Nallapati et
// al. 2016 and Yang et al. 2016.
//   alpha_tki = softmax_i(score(q_t, h_ki)) over the words of sentence k,     s_tk = sum_i alpha_tki h_ki
//   beta_tk   = softmax_k(score'(q_t, s_tk)) over the sentences,              c_t  = sum_k beta_tk s_tk
// Both levels are runs of the loop: the queries of a sequence on each of its sentences, then each query on the sentence
// vectors that it made. Memory::documents says which rows are a sentence; without them a sequence is one.
// Parameters: word.score.*, sentence.score.*.
#include <fmt/format.h>

#include <algorithm>

#include "heed/attend/attention.h"
#include "heed/attend/watch.h"
#include "heed/base/error.h"
#include "heed/tensor/op/arrange.h"

namespace heed::attend {

namespace {

Options of_sentences(Options o) {
  if (o.value_width > 0) o.key_width = o.value_width;
  o.value_width = 0;
  return o;
}

/// Where the sentences of a memory are.
struct Sentences {
  Offsets rows;                      // [S + 1] of each sentence
  std::span<const int64_t> of;       // [B + 1] the sentences of each sequence
  std::span<const int32_t> lengths;  // [S] rows that count, or none
};

Sentences find_sentences(const PreparedMemory& p, Tape& tape) {
  const Offsets& o = p.offsets;
  std::vector<int64_t> ends = {0}, of = {0};
  for (int64_t b = 0; b < o.count; ++b) {
    for (int64_t r = o.at[b] + 1; r <= o.at[b + 1]; ++r) {
      const bool last = r == o.at[b + 1];
      if (last || (p.memory.documents && p.memory.documents[r] != p.memory.documents[r - 1])) ends.push_back(r);
    }
    of.push_back(std::ssize(ends) - 1);
  }
  Sentences found{tape.offsets(ends), {tape.keep<int64_t>(std::span<const int64_t>(of)), of.size()}, {}};
  if (!p.memory.lengths) return found;
  auto* lengths = tape.keep<int32_t>(found.rows.count);
  for (int64_t b = 0; b < o.count; ++b)
    for (int64_t s = of[static_cast<size_t>(b)]; s < of[static_cast<size_t>(b) + 1]; ++s)
      lengths[s] = static_cast<int32_t>(
          std::clamp<int64_t>(o.at[b] + p.memory.lengths[b] - found.rows.at[s], 0, found.rows.length(s)));
  found.lengths = {lengths, static_cast<size_t>(found.rows.count)};
  return found;
}

class HierarchicalQuery final : public Mechanism {
 public:
  HierarchicalQuery(const Scope& scope, const Options& o)
      : name_(scope.prefix()), words_(scope / "word", o), sentences_(scope / "sentence", of_sentences(o)) {}

  Traits traits() const override { return {.order_matters = false, .weighs_sentences = true}; }
  int64_t context_width() const override { return sentences_.context_width(); }

  PreparedMemory prepare(const Memory& memory) const override {
    expect(!memory.stacked, "hierarchical_query: heads must be side by side, not stacked");
    Memory words = memory;
    words.documents = nullptr;  // no region
    PreparedMemory p = words_.prepare(words);
    p.memory.documents = memory.documents;
    return p;
  }

  using Mechanism::attend;
  Attended attend(const Queries& queries, const PreparedMemory& prepared, const State& state,
                  const Request& request) const override {
    expect(static_cast<bool>(queries.rows.rows) && static_cast<bool>(queries.rows.offsets),
           "hierarchical_query: the queries are missing");
    expect(
        !queries.mask && !queries.bias && !queries.bottom_right && queries.window_left < 0 && queries.window_right < 0,
        "hierarchical_query reads whole sentences: do not pass a mask, a bias or a window");
    return Watch::watched(name_, {queries, prepared, state, request}, [&](const Request& wanted) {
      return both_levels({queries, prepared, state, wanted});
    });
  }

 private:
  Attended both_levels(const AttendArguments& asked) const {
    Tape& tape = asked.prepared.values.tape();
    const Sentences sentences = find_sentences(asked.prepared, tape);
    const Offsets& rows = asked.queries.rows.offsets;

    // The queries of a sequence, for each of its sentences.
    std::vector<int64_t> from, offsets = {0};
    each_sentence(rows, sentences, [&](int64_t b, int64_t) {
      for (int64_t r = rows.at[b]; r < rows.at[b + 1]; ++r) from.push_back(r);
      offsets.push_back(std::ssize(from));
    });
    PreparedMemory memory = asked.prepared;
    memory.memory.documents = nullptr;
    memory.memory.lengths = sentences.lengths.empty() ? nullptr : sentences.lengths.data();
    memory.offsets = memory.memory.rows.offsets = sentences.rows;
    memory.batch = sentences.rows.count;
    const Queries to_words{.rows = {gather_rows(asked.queries.rows.rows, from), tape.offsets(offsets)}};
    const Attended word = words_.run({to_words, memory, {}, {.weights = asked.request.weights}});

    // The sentence vectors of each query, one after another.
    std::vector<int64_t> vectors, of_query = {0}, alone = {0};
    std::vector<int32_t> counted;  // sentences with a row that counts: the others come after them
    for (int64_t b = 0; b < rows.count; ++b) {
      const int64_t first = sentences.of[static_cast<size_t>(b)], last = sentences.of[static_cast<size_t>(b) + 1];
      int64_t full = 0;
      for (int64_t s = first; s < last; ++s) full += sentences.lengths.empty() || sentences.lengths[s] > 0 ? 1 : 0;
      for (int64_t i = 0; i < rows.length(b); ++i) {
        const bool answered = !asked.queries.lengths || i < asked.queries.lengths[b];
        for (int64_t s = first; s < last; ++s) vectors.push_back(offsets[static_cast<size_t>(s)] + i);
        of_query.push_back(std::ssize(vectors));
        alone.push_back(std::ssize(alone));
        counted.push_back(static_cast<int32_t>(answered ? full : 0));
      }
    }
    const Memory made{.rows = {gather_rows(word.context, vectors), tape.offsets(of_query)},
                      .lengths = tape.keep<int32_t>(std::span<const int32_t>(counted))};
    const Queries to_sentences{.rows = {asked.queries.rows.rows, tape.offsets(alone)}};
    const Attended document =
        sentences_.run({to_sentences, sentences_.prepare(made), {}, {.weights = asked.request.weights}});

    Attended a;
    a.context = document.context;
    a.state = asked.state;
    a.state.set_step(asked.state.step() + rows.longest());
    if (asked.request.weights) a.weights = of_words(asked, sentences, word.weights, document.weights);
    return a;
  }

  template <class Visit>
  static void each_sentence(const Offsets& rows, const Sentences& sentences, const Visit& visit) {
    for (int64_t b = 0; b < rows.count; ++b)
      for (int64_t s = sentences.of[static_cast<size_t>(b)]; s < sentences.of[static_cast<size_t>(b) + 1]; ++s)
        visit(b, s);
  }

  /// beta_tk alpha_tki: [B, 1, queries, keys]; the context is the mean of the words with these.
  static Weights of_words(const AttendArguments& asked, const Sentences& sentences, const Weights& word,
                          const Weights& sentence) {
    Tape& tape = asked.prepared.values.tape();
    const Offsets &rows = asked.queries.rows.offsets, &keys = asked.prepared.offsets;
    Weights w{rows.count, 1, rows.longest(), keys.longest(), nullptr};
    Watch::expect_room(w);
    w.data = tape.keep<float>(w.batch * w.queries * w.keys);
    std::fill_n(w.data, w.batch * w.queries * w.keys, 0.0f);
    each_sentence(rows, sentences, [&](int64_t b, int64_t s) {
      for (int64_t i = 0; i < rows.length(b); ++i) {
        const float share = sentence.at(rows.at[b] + i, 0, 0)[s - sentences.of[static_cast<size_t>(b)]];
        const float* of_sentence = word.at(s, 0, i);
        float* row = w.at(b, 0, i) + sentences.rows.at[s] - keys.at[b];
        for (int64_t j = 0; j < sentences.rows.length(s); ++j) row[j] = share * of_sentence[j];
      }
    });
    return w;
  }

  std::string name_;  // where it is in the model
  Attention words_, sentences_;
};

std::unique_ptr<Mechanism> make_hierarchical_query(const Scope& scope, const Options& options) {
  return std::make_unique<HierarchicalQuery>(scope, options);
}

std::string refuse_hierarchical_query(const Options& o, const Parts& parts) {
  if (o.heads != 1 || o.project || o.project_output)
    return "hierarchical_query has one head per level and no projections; heads, project and project_output cannot be "
           "set";
  if (parts.time != &dynamic_entry)
    return fmt::format("hierarchical_query weighs all words anew for each query: time must be dynamic, not \"{}\"",
                       o.time);
  if (parts.regions.size() > 1 || !parts.has_region(global_entry))
    return fmt::format("hierarchical_query reads whole sentences; region = \"{}\" would hide part of them", o.region);
  if (parts.input->own_queries) return "hierarchical_query needs queries; hierarchical has learned ones";
  if (parts.normalise->draws) return "hierarchical_query has two choices where hard_sampled rewards one";
  if (parts.score->own_queries || parts.score->longest_memory || parts.score->past_only)
    return fmt::format("hierarchical_query compares a query with words and with sentences; score = \"{}\" does not",
                       o.score);
  if (o.position != Options().position) return "hierarchical_query has no positions: a sentence is not at one place";
  if (o.value_width > 0 && o.value_width != o.key_width &&
      (parts.score == &dot_entry || parts.score == &scaled_dot_entry || parts.score == &cosine_entry))
    return fmt::format(
        "hierarchical_query compares the query with sentence vectors of width value_width = {}, and {} needs equal "
        "widths",
        o.value_width, o.score);
  return "";
}
}  // namespace

const Entry hierarchical_query_entry = {
    .id = "L10",
    .name = "hierarchical_query",
    .part = Part::structure,
    .title = "words and sentences weighed for a query",
    .formula = "s_tk = sum_i softmax_i(score(q_t, h_ki)) h_ki,  c_t = sum_k softmax_k(score'(q_t, s_tk)) s_tk",
    .paper =
        "compare Nallapati et al. 2016, Abstractive Text Summarization using Sequence-to-Sequence RNNs and Beyond, "
        "section 2.4, and Yang et al. 2016, Hierarchical Attention Networks for Document Classification",
    .time = "that of the score on n m words and n K sentences",
    .memory = "n K D,  K = sentences",
    .combines = "scores that compare a query with a key, any normaliser that does not draw; dynamic, global",
    .page =
        "A summary looks at one part of a long text for this word and at another part for the next. Here the query of "
        "each output word weighs the words inside every sentence, which gives a vector per sentence, and then it "
        "weighs the sentences. A sentence that does not matter now is set aside as a whole, and each level competes "
        "with its own kind only.\n\n"
        "hierarchical (L2) does the same with learned queries, for a document as a whole. The weights that are shown "
        "are those of the words: sentence times word. In a recurrent model whose states are not as wide as the "
        "source's, "
        "the score is general unless another one is named.",
    .options = "",
    .own_queries = false,
    .weighs_sentences = true,
    .refuses = refuse_hierarchical_query,
    .make_structure = make_hierarchical_query,
};

}  // namespace heed::attend
