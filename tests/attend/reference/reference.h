// Every mechanism in double, plainly from its formula: nothing of the library but the names of its options.
#pragma once

#include "tests/attend/reference/attention.h"
#include "tests/attend/reference/hierarchical_query.h"
#include "tests/attend/reference/location_aware.h"
#include "tests/attend/reference/structures.h"

namespace heed::attend::test {

inline Result reference(const Question& ask, const Values& x) {
  const std::string& structure = ask.options->structure;
  if (structure == "structured") return structured(ask, x);
  if (structure == "feed_forward") return feed_forward(ask, x);
  if (structure == "key_value") return key_value(ask, x);
  if (structure == "hierarchical") return hierarchical(ask, x);
  if (structure == "location_aware") return location_aware(ask, x);
  if (structure == "hierarchical_query") return hierarchical_query(ask, x);
  return attention(ask, x);
}

}  // namespace heed::attend::test
