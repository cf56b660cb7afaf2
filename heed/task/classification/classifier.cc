#include "heed/task/classification/classifier.h"

#include "heed/attend/all.h"
#include "heed/attend/census.h"
#include "heed/base/error.h"
#include "heed/model/encode/all.h"
#include "heed/model/encode/choices.h"
#include "heed/model/stack_options.h"
#include "heed/task/classification/keys.h"
#include "heed/task/classification/relation/all.h"
#include "heed/tensor/op/activation.h"
#include "heed/tensor/op/arithmetic.h"
#include "heed/tensor/op/dropout.h"
#include "heed/tensor/op/label_loss.h"
#include "heed/tensor/op/linear.h"

namespace heed::task {

namespace {

/// [S + 1] Each sentence as one sequence of tokens.
Offsets sentences_of(Tape& tape, const data::Sources& texts) {
  const auto count = std::ssize(texts.sentences.values());
  auto* offsets = tape.keep<int64_t>(count + 1);
  offsets[0] = 0;
  for (int64_t s = 0; s < count; ++s) offsets[s + 1] = offsets[s] + texts.sentences.values()[static_cast<size_t>(s)];
  return {offsets, count};
}

}  // namespace

Classifier::Level::Level(const Scope& scope, const model::Options& o, int64_t input) {
  const model::Resolved words(o);
  const encode::EncoderEntry& entry = encode::find_encoder(o.encoder_kind());
  model::Options of_encoder = o;
  of_encoder.attention = {.heads = o.attention.heads};  // the rest is about pooling
  encode::StackOptions stack = model::stack_options(of_encoder, words, o.encoder_layers, entry.needs_positions);
  stack.width = input;
  if (!o.two_texts || has_encoder(o)) encoder = entry.make(scope / "encoder", stack);
  if (o.two_texts)
    relation = find_relation(o.own.of<LabelKeys>().relation).make({scope, o, input, encoder ? encoder->width() : 0});
  else
    pool = std::make_unique<Pooling>(scope / "pool", o, encoder->width());
}

bool Classifier::reads_sentences(const model::Options& o) {
  return !o.two_texts && attend::resolve(attention_of_pool(o).options).structure == &attend::hierarchical_entry;
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
  const attend::Census census;
  const bool positions = encode::find_encoder(o.encoder_kind()).needs_positions;
  embed_ =
      embed::Embed(root / "source", model::embedding_options(o, model::Resolved(o), o.source_vocabulary, positions));
  const bool hierarchical = reads_sentences(o);
  token_level_ = std::make_unique<Level>(root / (hierarchical ? "word" : "text"), o, o.width);
  if (hierarchical) text_level_ = std::make_unique<Level>(root / "sentence", o, token_level_->pool->width);
  longest_memory_ = census.longest_memory();
  int64_t width = (hierarchical ? text_level_ : token_level_)->width();
  if (const int64_t units = o.own.of<LabelKeys>().hidden; units > 0) {
    hidden_ = Linear(root / "hidden", width, units);
    activation_ = value_of(encode::kActivations, o.activation, "model: activation").activation;
    width = units;
  }
  output_ = Linear(root / "output", width, classes);
}

Tensor Classifier::vectors(Tape& tape, const data::Sources& texts, Judged* judged, Tensor* penalty) const {
  Tensor x = dropout(pooled(tape, texts, judged, penalty), options_.dropout);
  if (hidden_.weight) x = dropout(activate(hidden_(x), activation_), options_.dropout);
  return x;
}

Tensor Classifier::pooled(Tape& tape, const data::Sources& texts, Judged* judged, Tensor* penalty) const {
  const Reader reader{embed_, token_level_->encoder.get()};
  if (token_level_->relation)
    return token_level_->relation->run(reader, tape, texts, judged ? &judged->tokens : nullptr);
  // A flat model reads each text as one sequence.
  const Offsets sequences = text_level_ ? sentences_of(tape, texts) : tape.offsets(texts.tokens.offsets());
  const Packed states = reader.states(embed_(tape, texts.tokens.values(), sequences));
  Tensor pooled = (*token_level_->pool)(states, judged ? &judged->tokens : nullptr, penalty);
  if (text_level_) {
    const Packed sentences = text_level_->encoder->run({pooled, tape.offsets(texts.sentences.offsets())}).memory;
    pooled = (*text_level_->pool)(sentences, judged ? &judged->sentences : nullptr, nullptr);
  }
  return pooled;
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
