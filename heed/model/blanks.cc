#include "heed/model/blanks.h"

#include <span>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/model/embed/embed.h"

namespace heed::model {

BlankedTargets leave_blanks(const data::Targets& targets, int64_t slots, std::optional<uint64_t> seed) {
  BlankedTargets blanked;
  text::Random random(seed.value_or(0));
  for (size_t b = 0; b + 1 < targets.offsets.size(); ++b) {
    const int64_t first = targets.offsets[b], all = targets.offsets[b + 1] - first;  // tokens and END
    const int64_t count = slots > 0 ? all : all - 1, row = blanked.offsets.back();
    expect(slots == 0 || all <= slots, ErrorKind::data,
           "a target of {} tokens and its end do not fit into model.slots = {}: increase it", all - 1, slots);
    const auto out = std::span(targets.out).subspan(static_cast<size_t>(first), static_cast<size_t>(count));
    blanked.tokens.insert(blanked.tokens.end(), out.begin(), out.end());
    const auto most = static_cast<size_t>(count);
    for (const size_t i : random.sample(most, seed && most > 0 ? 1 + random.below(most) : most)) {
      blanked.asked.push_back(row + static_cast<int64_t>(i));
      blanked.answers.push_back(out[i]);
      blanked.predictions.push_back(first + static_cast<int64_t>(i));
      blanked.tokens[static_cast<size_t>(blanked.asked.back())] = embed::kBlank;
    }
    if (slots > 0)
      blanked.tokens.resize(static_cast<size_t>(row + slots), blanked.tokens.back());  // like the first END
    blanked.offsets.push_back(std::ssize(blanked.tokens));
  }
  return blanked;
}

}  // namespace heed::model
