// What all importers do in the end.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "heed/imports/importer.h"
#include "heed/imports/rules.h"
#include "heed/imports/token_order.h"
#include "heed/task/description.h"
#include "heed/text/tokeniser.h"

namespace heed::imports {

/// A Transformer with the usual choices of such models.
task::Description plain_transformer(const char* task);
/// `shared`: heads of keys and values; 0: as many. Throws if the file does not name heads that fit.
void set_heads(model::Options& model, int64_t heads, int64_t shared, const std::string& file);

/// A model of running text, without its numbers: each line is a text of its own.
trained::TrainedModel empty_text_model(task::Description description, std::shared_ptr<const text::Tokeniser> tokeniser);

/// Table, output and its biases: `names` of the tensors there. An output that is missing, or the same as the table, is
/// tied. `to`: the table here, "text" or "target".
struct TokenTables {
  std::string to, table, output, bias;
};
/// Whether one table is enough.
bool is_tied(ForeignTensors& tensors, const TokenTables& names);
void fill_tables(Filler& filler, ForeignTensors& tensors, const TokenTables& names, const TokenOrder& order,
                 const Parameters& parameters);

/// Tensors that a model here does not need, and why.
struct Unneeded {
  bool (*is)(std::string_view name);
  const char* why;
};
/// Names what was not used. Throws if a tensor is neither used nor among these.
void leave_unneeded(const ForeignTensors& tensors, std::span<const Unneeded> unneeded, Imported& imported);

/// The vocabulary file of tokens that are characters or words: heed/text/vocabulary.h.
std::string vocabulary_contents(const std::vector<std::string>& tokens);

}  // namespace heed::imports
