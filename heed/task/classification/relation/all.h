// The list of relations. A recipe's model.relation and its documentation follow from it: a new one is one file and one
// word here.
#pragma once

#include "heed/base/list.h"
#include "heed/task/classification/relation/relation.h"

namespace heed::task {

#define HEED_RELATIONS(X) X(pool) X(compare) X(word_by_word) X(joined)

#define HEED_DECLARE(name) extern const RelationEntry name##_relation;
HEED_RELATIONS(HEED_DECLARE)
#undef HEED_DECLARE

const List<RelationEntry>& all_relations();
/// Throws, naming the nearest.
inline const RelationEntry& find_relation(std::string_view name) { return all_relations().find(name); }

/// Whether a model of two texts with these options has an encoder.
bool has_encoder(const model::Options& options);

/// The attention of states of one text to those of the other, of one width, as [attention] says: classifier.cc. `scope`
/// names it.
std::unique_ptr<attend::Mechanism> attention_between_texts(const Scope& scope, const model::Options& options,
                                                           int64_t width);

}  // namespace heed::task
