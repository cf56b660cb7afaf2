#include "heed/attend/structure/tanh_pool.h"

#include "heed/attend/attention.h"
#include "heed/attend/score/structured_score.h"

namespace heed::attend {

std::unique_ptr<Mechanism> tanh_pool(const Scope& scope, const Options& options) {
  Options o = options;
  if (o.hidden == 0) o.hidden = o.key_width;
  o.structure = single_entry.name;
  o.input = learned_query_entry.name;
  o.queries = 1;
  o.query_width = o.hidden;
  return std::make_unique<Attention>(scope, o,
                                     std::make_unique<TanhKeys>(scope / "score", o.key_width, o.hidden, true));
}

}  // namespace heed::attend
