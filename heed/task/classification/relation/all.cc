#include "heed/task/classification/relation/all.h"

#include "heed/attend/all.h"
#include "heed/base/error.h"
#include "heed/model/encode/attention_options.h"

namespace heed::task {

const List<RelationEntry>& all_relations() {
#define HEED_ADDRESS(name) &name##_relation,
  static const List<RelationEntry> list("relation of two texts", {HEED_RELATIONS(HEED_ADDRESS)});
#undef HEED_ADDRESS
  return list;
}

bool has_encoder(const model::Options& options) {
  const auto& keys = options.own.of<LabelKeys>();
  const RelationEntry& entry = find_relation(keys.relation);
  return !entry.encodes || entry.encodes(keys);
}

std::unique_ptr<attend::Mechanism> attention_between_texts(const Scope& scope, const model::Options& o,
                                                           int64_t query_width, int64_t memory_width) {
  const encode::Chosen named = encode::chosen(o.attention, o.places, kOtherPlace, 0);
  const attend::Parts parts = attend::resolve(attend::canonical(named.options));
  expect(parts.structure != &attend::hierarchical_entry && !parts.structure->own_queries,
         "attention: structure = \"{}\" has queries of its own, but of two texts each token asks about the other text",
         named.options.structure);
  expect(!parts.structure->weighs_sentences,
         "attention: structure = \"{}\" weighs the sentences of a source, but two texts are read as one sequence each",
         named.options.structure);
  expect(parts.time == &attend::dynamic_entry && parts.normalise != &attend::hard_sampled_entry,
         "attention: time = \"{}\" and normalise = \"{}\" are for a decoder; two texts need dynamic time, and weights "
         "that are not sampled",
         named.options.time, named.options.normalise);
  return encode::make_attention(scope, o.places, kOtherPlace, 0,
                                encode::source_attention(named, query_width, memory_width));
}

}  // namespace heed::task
