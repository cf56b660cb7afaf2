// No score, and the list of all scores.
#include "heed/kernels/bias/bias.h"
#include "heed/kernels/score/score.h"

namespace heed::kernels {
namespace {

ArenaPtr<ScoreKernel> make_none(const Problem&, const Gradients*, CallArena&) { return nullptr; }

void check_none(const Problem& p, Reasons& reasons) {
  reasons.expect(p.score.softcap == 0.0f, "score.softcap: ScoreKind::none has no score to cap");
  reasons.expect(has_bias(p.bias), "score.kind: ScoreKind::none needs a bias, since it has no other score");
}

}  // namespace

const ScoreEntry scores::none{.make = make_none, .check = check_none, .reads_rows = false};

const ScoreEntry& score_entry(const Problem& p) {
  switch (p.score.kind) {
#define HEED_SCORE(name) \
  case ScoreKind::name:  \
    return scores::name;
    HEED_SCORES(HEED_SCORE)
#undef HEED_SCORE
  }
  return scores::none;
}

}  // namespace heed::kernels
