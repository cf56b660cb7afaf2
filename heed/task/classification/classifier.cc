#include "heed/task/classification/classifier.h"

#include "heed/attend/all.h"
#include "heed/attend/structure/tanh_pool.h"
#include "heed/base/error.h"
#include "heed/model/encode/all.h"
#include "heed/model/encode/attention_options.h"
#include "heed/model/stack_options.h"
#include "heed/tensor/op/arithmetic.h"
#include "heed/tensor/op/arrange.h"
#include "heed/tensor/op/dropout.h"
#include "heed/tensor/op/label_loss.h"
#include "heed/tensor/op/linear.h"

namespace heed::task {

namespace {

/// The mechanism that turns the states of a sequence into one vector, as [attention] says. What has its own queries is
/// taken as it is; any other score gets learned ones.
std::unique_ptr<attend::Mechanism> make_pool(const Scope& scope, const model::Options& o, int64_t width) {
  attend::Options a = o.attention;
  a.key_width = width;
  a.heads = 1;  // those of a Transformer's self-attention
  const attend::Parts parts = attend::resolve(a);
  bool pools = false;
  for (const attend::Entry* entry :
       {&attend::single_entry, &attend::structured_entry, &attend::feed_forward_entry, &attend::hierarchical_entry})
    pools = pools || parts.structure == entry;
  expect(pools,
         "attention: structure = \"{}\" does not turn a text into a vector; possible are single, structured, "
         "feed_forward and hierarchical (heads belong to a Transformer's own attention)",
         a.structure);
  for (const attend::Entry* region : parts.regions)
    expect(region == &attend::global_entry,
           "attention: region = \"{}\" depends on where a query stands, but a text is pooled as a whole; leave it out",
           region->name);
  expect(a.value_width == 0, "attention: value_width = {} needs separate values, but a state is both key and value",
         a.value_width);
  if (parts.structure == &attend::hierarchical_entry) return attend::tanh_pool(scope, a);
  if (parts.structure == &attend::single_entry && parts.score == &attend::self_scored_entry)
    a.structure = attend::feed_forward_entry.name;  // one implicit query for each sequence
  else if (!parts.structure->own_queries)
    a.input = attend::learned_query_entry.name;
  return attend::make(scope, a);
}

/// [S + 1] Each sentence as one sequence of tokens.
Offsets sentences_of(Tape& tape, const data::Sources& texts) {
  const auto count = std::ssize(texts.sentences.values());
  auto* offsets = tape.keep<int64_t>(count + 1);
  offsets[0] = 0;
  for (int64_t s = 0; s < count; ++s) offsets[s + 1] = offsets[s] + texts.sentences.values()[static_cast<size_t>(s)];
  return {offsets, count};
}

/// The attention of the second text to the first, as [attention] says.
std::unique_ptr<attend::Mechanism> make_attention_to_first(const Scope& scope, const model::Options& o, int64_t width) {
  const attend::Parts parts = attend::resolve(attend::canonical(o.attention));
  expect(parts.structure != &attend::hierarchical_entry && !parts.structure->own_queries,
         "attention: structure = \"{}\" has queries of its own, but of two texts the second one asks",
         o.attention.structure);
  expect(parts.time == &attend::dynamic_entry && parts.normalise != &attend::hard_sampled_entry,
         "attention: time = \"{}\" and normalise = \"{}\" are for a decoder; two texts need dynamic time, and weights "
         "that are not sampled",
         o.attention.time, o.attention.normalise);
  return attend::make(scope, encode::source_attention(o.attention, width, width));
}

}  // namespace

Classifier::Pooling::Pooling(const Scope& scope, const model::Options& o, int64_t input) {
  how = value_of(model::kPools, o.pool, "model: pool");
  if (how == model::Pool::attention) mechanism = make_pool(scope, o, input);
  const bool several = mechanism && attend::resolve(o.attention).structure == &attend::structured_entry;
  width = input * (several ? o.attention.queries : 1);
  layer = model::PoolLayer(scope / "layer", o.pool_layer, width);
}

Tensor Classifier::Pooling::operator()(const Packed& states, attend::Weights* weights, Tensor* penalty) const {
  if (!mechanism) return layer(model::pooled(states, how));
  attend::Attended pooled = mechanism->attend({}, mechanism->prepare({states}), {},
                                              {.weights = weights != nullptr, .penalty = penalty != nullptr});
  if (weights) *weights = pooled.weights;
  if (penalty && pooled.penalty) *penalty = pooled.penalty;
  return layer(reshape(pooled.context, states.offsets.count, width));
}

Classifier::Level::Level(const Scope& scope, const model::Options& o, int64_t input) {
  const model::Resolved words(o);
  const encode::EncoderEntry& entry = encode::find_encoder(o.encoder_kind());
  model::Options of_encoder = o;
  of_encoder.attention = {.heads = o.attention.heads};  // the rest is about pooling
  encode::StackOptions stack = model::stack_options(of_encoder, words, o.encoder_layers, entry.needs_positions);
  stack.width = input;
  encoder = entry.make(scope / "encoder", stack);
  int64_t width = encoder->width();
  model::Options of_pool = o;
  if (o.two_texts) {
    to_first = make_attention_to_first(scope / "to_first", o, width);
    width += to_first->context_width();
    of_pool.attention = {};
  }
  pool = std::make_unique<Pooling>(scope / "pool", of_pool, width);
}

bool Classifier::reads_sentences(const model::Options& o) {
  return !o.two_texts && attend::resolve(o.attention).structure == &attend::hierarchical_entry;
}

Classifier::Classifier(Parameters& parameters, const model::Options& o) : options_(o) {
  const int64_t classes = o.target_vocabulary;
  expect(o.source_vocabulary > 0 && classes > 0, "model: a vocabulary and at least one label are needed, not {} and {}",
         o.source_vocabulary, classes);
  expect(o.width > 0 && o.encoder_layers > 0, "model: width {} and encoder_layers {} must be above 0", o.width,
         o.encoder_layers);
  expect(!o.framed || (!o.two_texts && !reads_sentences(o)),
         "model: framed = true is for models that read one text as a whole, not two texts or sentences");
  const Scope root(parameters);
  const bool positions = encode::find_encoder(o.encoder_kind()).needs_positions;
  embed_ =
      embed::Embed(root / "source", model::embedding_options(o, model::Resolved(o), o.source_vocabulary, positions));
  const bool hierarchical = reads_sentences(o);
  token_level_ = std::make_unique<Level>(root / (hierarchical ? "word" : "text"), o, o.width);
  if (hierarchical) text_level_ = std::make_unique<Level>(root / "sentence", o, token_level_->pool->width);
  output_ = Linear(root / "output", (hierarchical ? text_level_ : token_level_)->pool->width, classes);
}

Tensor Classifier::vectors(Tape& tape, const data::Sources& texts, Judged* judged, Tensor* penalty) const {
  if (options_.two_texts) return dropout(vectors_of_two(tape, texts, judged), options_.dropout);
  // A flat model reads each text as one sequence.
  const Offsets sequences = text_level_ ? sentences_of(tape, texts) : tape.offsets(texts.tokens.offsets());
  const Packed tokens = embed_(tape, texts.tokens.values(), sequences);
  const Packed states = token_level_->encoder->run(tokens).memory;
  Tensor pooled = (*token_level_->pool)(states, judged ? &judged->tokens : nullptr, penalty);
  if (text_level_) {
    const Packed sentences = text_level_->encoder->run({pooled, tape.offsets(texts.sentences.offsets())}).memory;
    pooled = (*text_level_->pool)(sentences, judged ? &judged->sentences : nullptr, nullptr);
  }
  return dropout(pooled, options_.dropout);
}

Tensor Classifier::vectors_of_two(Tape& tape, const data::Sources& texts, Judged* judged) const {
  const Level& level = *token_level_;
  const auto sequences = [&](const data::Sequences& of) {
    return embed_(tape, of.values(), tape.offsets(of.offsets()));
  };
  const Packed first = level.encoder->run(sequences(texts.tokens)).memory;
  const Packed second = level.encoder->run(sequences(texts.second)).memory;
  const attend::Attended seen =
      level.to_first->attend({second}, level.to_first->prepare({first}), {}, {.weights = judged != nullptr});
  if (judged) judged->tokens = seen.weights;
  return (*level.pool)({concat_columns({second.rows, seen.context}), second.offsets}, nullptr, nullptr);
}

Judged Classifier::judge(Tape& tape, const data::Sources& texts, bool weights) const {
  Judged judged;
  Judged* wanted = weights ? &judged : nullptr;
  judged.logits = output_(vectors(tape, texts, wanted, nullptr));
  return judged;
}

model::Loss Classifier::loss(Tape& tape, const data::Batch& batch, const OutputLossOptions& options) const {
  const data::Targets& labels = batch.targets;
  expect(labels.in.empty() && labels.size() == batch.sources.size(), "model: expected a batch of texts with labels");
  Tensor penalty;
  const bool penalised = options_.penalty > 0 && tape.training();
  const Tensor x = vectors(tape, batch.sources, nullptr, penalised ? &penalty : nullptr);
  OutputLossOptions weighted = options;
  weighted.row_weights = labels.weights;
  OutputLoss loss = labels.are_sets ? label_loss(output_(x), {labels.offsets, labels.out}, options)
                                    : output_loss(x, tape.parameter(*output_.weight), tape.parameter(*output_.bias),
                                                  labels.out, weighted);
  if (penalty) loss.loss = add(loss.loss, scale(penalty, options.scale * options_.penalty));
  return loss;
}

}  // namespace heed::task
