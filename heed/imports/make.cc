#include "heed/imports/make.h"

#include <algorithm>
#include <utility>

#include "heed/base/error.h"
#include "heed/task/all.h"
#include "heed/text/escape.h"
#include "heed/text/tokens.h"

namespace heed::imports {

task::Description plain_transformer(const char* task) {
  task::Description d = task::default_description(task::find(task));
  d.model.kind = "transformer";
  d.model.tied = "none";
  return d;
}

void set_heads(model::Options& m, int64_t heads, int64_t shared, const std::string& file) {
  expect(heads > 0 && shared >= 0 && (shared == 0 || heads % shared == 0), ErrorKind::file,
         "'{}': {} heads, and {} of keys and values, do not fit", file, heads, shared);
  // By its name alone, multi_head means more than one.
  m.attention.structure = heads == 1 ? "single" : "multi_head";
  m.attention.heads = heads;
  m.attention.kv_heads = shared == heads ? 0 : shared;
}

trained::TrainedModel empty_text_model(task::Description d, std::shared_ptr<const text::Tokeniser> tokeniser) {
  d.source.tokens = d.target.tokens = tokeniser->kind();
  d.joint = true;
  d.answers.documents = "line";
  task::Vocabularies vocabularies{tokeniser, tokeniser};
  return trained::make_model(std::move(d), std::move(vocabularies), 0, Start::empty);
}

bool is_tied(ForeignTensors& tensors, const TokenTables& names) {
  if (!tensors.has(names.output)) return true;
  return tensors.shape(names.output) == tensors.shape(names.table) &&
         tensors.take(names.output) == tensors.take(names.table);
}

void fill_tables(Filler& filler, ForeignTensors& tensors, const TokenTables& names, const TokenOrder& order,
                 const Parameters& parameters) {
  const Shape shape = tensors.shape(names.table);
  const int64_t width = shape.size() == 2 ? shape[1] : 0;
  filler.set(names.to + ".weight", order.table(tensors.take(names.table), width), names.table);
  if (names.output.empty()) return;
  if (parameters.find("output.weight"))
    filler.set("output.weight", order.table(tensors.take(names.output, shape), width), names.output);
  const bool biased = tensors.has(names.bias);
  filler.set("output.bias", order.biases(biased ? tensors.take(names.bias, {shape[0]}) : std::vector<float>()),
             names.bias);
}

void leave_unneeded(const ForeignTensors& tensors, std::span<const Unneeded> unneeded, Imported& imported) {
  for (const std::string& name : tensors.unused()) {
    const auto found = std::ranges::find_if(unneeded, [&](const Unneeded& each) { return each.is(name); });
    expect(found != unneeded.end(), ErrorKind::file, "'{}' has '{}', for which a model here has no place",
           tensors.file(), name);
    imported.left.push_back(name + ": " + found->why);
  }
}

std::string vocabulary_contents(const std::vector<std::string>& tokens) {
  std::string text;
  for (const std::string_view special : text::kSpecialNames) text += std::string(special) + "\n";
  for (const std::string& token : tokens) text += text::escaped(token) + "\n";
  return text;
}

}  // namespace heed::imports
