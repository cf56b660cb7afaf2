// Every token is drawn from the model's distribution: see TokenDistribution.
#include "heed/base/random.h"
#include "heed/model/search/paths.h"
#include "heed/model/search/strategies.h"
#include "heed/model/search/token_distribution.h"

namespace heed::search {

std::vector<Result> sample(Stepper& stepper) {
  const Options& o = stepper.options();
  std::vector<text::Random> streams;
  for (int64_t b = 0; b < stepper.input().size(); ++b) {
    text::Random of_sentence(o.seed, static_cast<uint64_t>(stepper.input().number(b)));
    for (int64_t n = 0; n < o.nbest; ++n) streams.emplace_back(of_sentence.next());
  }
  TokenDistribution distribution(o);
  return follow_paths(stepper, o.nbest, 0, [&](const PathStep& s) {
    distribution.set(s.logits.row(s.row), s.logits.cols());
    return distribution.draw(streams[static_cast<size_t>(s.path)].uniform());
  });
}

}  // namespace heed::search
