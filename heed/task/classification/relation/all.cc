#include "heed/task/classification/relation/all.h"

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

}  // namespace heed::task
