// L2 hierarchical: words make a sentence vector, sentences a document vector.   Yang et al. 2016.
//   h_i = biGRU(words),  u_i = tanh(W h_i + b),  alpha = softmax(u_i . u_w),  s = sum alpha_i h_i;  the same over
//   sentences
// Each level is a learned query u_w over keys tanh(W h + b): the loop's inner score.
// Parameters: word.gru.*, word.score.weight, word.score.bias, word.queries; sentence.*; classifier.weight,
// classifier.bias.
#include <fmt/format.h>

#include <memory>
#include <optional>

#include "heed/attend/attention.h"
#include "heed/attend/structure/tanh_pool.h"
#include "heed/base/error.h"
#include "heed/layer/recurrent.h"

namespace heed::attend {

namespace {

/// One level: rows to one vector per sequence.
class Level {
 public:
  Level(const Scope& scope, const Options& options, int64_t input)
      : gru_(scope / "gru",
             {.kind = RecurrentOptions::Kind::gru, .input = input, .hidden = options.hidden, .bidirectional = true}),
        attention_(tanh_pool(scope, with_width(options))) {}

  /// rows [tokens, input] -> context [sequences, 2 * hidden]
  Attended operator()(const Packed& rows, const Request& request) const {
    const Tensor states = gru_.run(rows).rows;
    return attention_->attend({}, attention_->prepare({{states, rows.offsets}}), {}, request);
  }

 private:
  static Options with_width(Options o) {
    o.key_width = 2 * o.hidden;
    return o;
  }

  Recurrent gru_;
  std::unique_ptr<Mechanism> attention_;
};

class Hierarchical final : public Mechanism {
 public:
  Hierarchical(const Scope& scope, const Options& o)
      : width_(o.key_width),
        hidden_(o.hidden > 0 ? o.hidden : o.key_width),
        words_(scope / "word", with_hidden(o), o.key_width),
        sentences_(scope / "sentence", with_hidden(o), 2 * hidden_) {
    if (o.classes > 0) classifier_ = Linear(scope / "classifier", 2 * hidden_, o.classes);
  }

  PreparedMemory prepare(const Memory& memory) const override {
    const Tensor rows = memory.rows.rows;
    expect(rows.cols() == width_, "hierarchical: the words have {} columns, key_width is {}", rows.cols(), width_);
    expect(static_cast<bool>(memory.sentences),
           "hierarchical: set Memory::sentences, which says which sentences form a document");
    expect(memory.sentences.total() == memory.rows.offsets.count,
           "hierarchical: Memory::sentences covers {} sentences, but the memory has {}", memory.sentences.total(),
           memory.rows.offsets.count);
    PreparedMemory p;
    p.memory = memory;
    p.values = rows;
    p.offsets = memory.rows.offsets;
    p.batch = memory.sentences.count;
    return p;
  }

  using Mechanism::attend;
  Attended attend(const Queries& queries, const PreparedMemory& prepared, const State&,
                  const Request& request) const override {
    expect(!queries.rows.rows, "hierarchical: the queries are learned; do not pass any");
    const Attended sentence = words_(prepared.memory.rows, request);
    Attended document = sentences_({sentence.context, prepared.memory.sentences}, request);
    document.inner_weights = sentence.weights;
    if (classifier_) document.context = (*classifier_)(document.context);
    return document;
  }
  int64_t context_width() const override { return classifier_ ? classifier_->weight->rows() : 2 * hidden_; }

 private:
  Options with_hidden(Options o) const {
    o.hidden = hidden_;
    return o;
  }

  int64_t width_, hidden_;
  Level words_, sentences_;
  std::optional<Linear> classifier_;
};

std::unique_ptr<Mechanism> make_hierarchical(const Scope& scope, const Options& options) {
  return std::make_unique<Hierarchical>(scope, options);
}

std::string refuse_hierarchical(const Options& o, const Parts& parts) {
  if (o.heads != 1 || o.project || o.project_output)
    return "hierarchical attention has one learned query per level and no heads or projections";
  if (parts.time->order_matters || parts.time->own_queries)
    return fmt::format("hierarchical attention has one query per level, so time = \"{}\" has no steps to act on",
                       o.time);
  if (parts.regions.size() > 1 || !(parts.has_region(global_entry) || parts.has_region(masked_entry)))
    return fmt::format(
        "hierarchical attention reads whole sentences and documents; region = \"{}\" would hide part of them",
        o.region);
  if (o.classes < 0) return fmt::format("hierarchical: classes must be 0 (no classifier) or more, not {}", o.classes);
  if (o.value_width != 0) return "hierarchical attention pools the states it scores and does not use value_width";
  return "";
}
}  // namespace

const Entry hierarchical_entry = {
    .id = "L2",
    .name = "hierarchical",
    .part = Part::structure,
    .title = "words to sentences to documents",
    .formula = "u_i = tanh(W h_i + b),  s = sum_i softmax(u_i . u_w) h_i,  at both levels",
    .paper = "Yang et al. 2016, Hierarchical Attention Networks for Document Classification",
    .time = "that of two bidirectional GRUs",
    .memory = "that of two bidirectional GRUs",
    .combines = "any normaliser; its own score and input",
    .page =
        "Documents consist of sentences and sentences of words, and not all of them matter equally. A recurrent "
        "network (gated recurrent units, GRU for short, in both directions) reads the words, and attention with a "
        "learned query pools them into a sentence vector. The same happens with the sentences of a document. The two "
        "sets of weights show which sentences mattered, and which words in them.",
    .options = "hidden classes",
    .aliases = "han",
    .own_queries = true,
    .not_to_source = "needs documents made of sentences, and a source is one sequence of tokens",
    .own_score = true,
    .needs_sentences = true,
    .refuses = refuse_hierarchical,
    .make_structure = make_hierarchical,
};

}  // namespace heed::attend
