#include "heed/task/shared_keys.h"

#include <fmt/format.h>

#include "heed/model/choices.h"
#include "heed/model/encode/all.h"
#include "heed/model/encode/choices.h"
#include "heed/task/predict_options.h"
#include "heed/task/recipe_limits.h"
#include "heed/text/tokens.h"

namespace heed::task {

using file::Fields;
using file::Limit;

void add_tokeniser_keys(Fields& f, const std::string& side, const std::vector<std::string>& kinds,
                        text::TokeniserOptions& o) {
  f.add("data." + side + "_tokens", o.kind, "how the " + side + " is split into tokens", Limit::one_of(kinds));
  f.add("data." + side + "_size", o.size, "largest size of its vocabulary; 0: no limit, but 8000 for sentencepiece",
        Limit::between(0, 1e8));
  f.add("data." + side + "_min_count", o.min_count, "characters, words: rarer ones are unknown",
        Limit::between(1, kMostLines));
}

std::string size_problem(const std::string& side, const text::TokeniserOptions& options) {
  if (options.size == 0 || options.size > text::kSpecials) return "";
  return fmt::format("data.{}_size must be 0 (no limit) or above {}, not {}: <unk>, <s> and </s> are {} tokens", side,
                     text::kSpecials, options.size, text::kSpecials);
}

void add_folder_keys(Fields& f, data::Options& d) {
  f.add("data.folder", d.folder, "file names below are relative to this folder; empty: to what data.relative_to says");
  f.add(
      "data.relative_to", d.relative_to,
      "what data.folder and the names of files are relative to: the current folder, or the folder of this recipe (but "
      "what follows --set to the current one)",
      Limit::one_of({data::kToCurrent, data::kToRecipe}));
}

void add_header_key(Fields& f, data::Options& d) {
  f.add("data.header", d.train.header,
        "the first line names the columns, and is left out: true, false, or auto, if it looks so");
}

void add_held_out_key(Fields& f, data::Options& d) {
  f.add("data.held_out", d.held_out,
        "without validation files: share of the sources held out for validation; 0: a tenth, at most 2000",
        Limit::between(0, 0.5));
}

void add_size_keys(Fields& f, model::Options& m) {
  f.add("model.width", m.width, "width of vectors and states", Limit::between(1, 65536));
  f.add("model.encoder_layers", m.encoder_layers, "layers of the encoder", Limit::between(1, 1000));
  f.add("model.dropout", m.dropout, "share of the numbers set to 0 in training", Limit::from_to_below(0, 1));
}

void add_cell_key(Fields& f, model::Options& m) {
  f.add("model.cell", m.cell, "rnn: kind of cell", Limit::one_of(heed::words_of(encode::kCells)));
}

void add_reading_keys(Fields& f, model::Options& m) {
  f.add("model.framed", m.framed, "texts are read between <s> and </s>, as in BERT");
  f.add("model.embedding_width", m.embedding_width,
        "width of the vectors of tokens, which a layer brings to model.width; 0: they have it",
        Limit::between(0, 65536));
}

void add_stack_keys(Fields& f, model::Options& m) {
  add_cell_key(f, m);
  f.add("model.bidirectional", m.bidirectional, "rnn: the encoder reads in both directions");
  for (const encode::EncoderEntry* encoder : encode::all_encoders())
    if (encoder->add_keys) encoder->add_keys(f, m.own);
  add_transformer_keys(f, m);
}

void add_transformer_keys(Fields& f, model::Options& m) {
  f.add("model.hidden", m.hidden, "transformer: width inside the feed-forward layers; 0: 4 * width",
        Limit::between(0, 1 << 20));
  f.add("model.activation", m.activation,
        "transformer: activation of the feed-forward layers, where swiglu, reglu, geglu and geglu_tanh are gated: "
        "f(gate x) * (up x); convolution: of its layers, which have no gate",
        Limit::one_of(encode::kActivations));
  f.add("model.norm", m.norm, "transformer: layer norm after each sublayer (post, as in the paper) or before it (pre)",
        Limit::one_of(heed::words_of(model::kNorms)));
  f.add("model.norm_kind", m.norm_kind, "transformer: layer norm, or rms: divided by the root mean square alone",
        Limit::one_of(heed::words_of(model::kNormKinds)));
  f.add("model.norm_epsilon", m.norm_epsilon, "transformer: what norms add to the mean square",
        Limit::between(1e-12, 1));
  f.add("model.final_norm", m.final_norm, "transformer: a norm after the last block also with norm = post");
  f.add("model.embedding_norm", m.embedding_norm, "transformer: a norm of the vectors of tokens with their positions");
  f.add("model.scale_embeddings", m.scale_embeddings, "transformer: vectors of tokens times the root of the width");
  f.add("model.head_width", m.head_width, "transformer: columns of a head of attention; 0: width / heads",
        Limit::between(0, 1 << 20));
  f.add("model.bias", m.bias, "transformer: biases in projections and feed-forward layers");
  f.add("model.positions", m.positions, "transformer: position encoding", Limit::one_of(model::kPositions));
  f.add("model.max_length", m.max_length, "learned positions: longest sequence, in tokens",
        Limit::between(1, kLongest));
}

}  // namespace heed::task
