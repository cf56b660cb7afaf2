#include "heed/recipe/version_1.h"

namespace heed::recipe {

namespace {

struct Changed {
  std::string_view key, before, now;
};

// `wer` was the share of outputs that are wrong, and `per` the edits per token between blanks, whatever the tokens
// were.
constexpr Changed kChanged[] = {{"validate.metric", "wer", "ser"},
                                {"validate.metric", "per", "wer"},
                                {"train.reward", "wer", "ser"},
                                {"train.reward", "per", "wer"}};

}  // namespace

void from_version_1(std::string_view key, std::string& value) {
  for (const Changed& each : kChanged)
    if (each.key == key && each.before == value) {
      value = each.now;
      return;
    }
}

}  // namespace heed::recipe
