// A recipe, and after a zero byte what follows --set, one a line: refused with a reason, or options that are written as
// a recipe which says the same.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/fields.h"
#include "tests/fuzz/require.h"

namespace heed::test {
namespace {

/// A value of every kind, with every kind of limit.
struct Options {
  bool flag = false;
  int32_t small = 1;
  int64_t steps = 10;
  uint64_t seed = 1;
  float rate = 0.5f;
  double share = 0.5;
  std::string word = "adam", text, needed = "x";
  std::vector<int64_t> widths = {1, 2};

  file::Fields fields() {
    using file::Limit;
    file::Fields f;
    f.section("train", "How long and how fast.");
    f.add("train.steps", steps, "updates in all", Limit::at_least(1));
    f.add("train.rate", rate, "of learning", Limit::above(0));
    f.add("train.flag", flag, "whether");
    f.add("train.seed", seed, "of everything");
    f.add("train.optimiser", word, "", Limit::one_of({"adam", "sgd"}));
    f.section("model.inner", "Inside.");
    f.add("model.inner.small", small, "how many", Limit::between(-5, 5));
    f.add("model.inner.share", share, "of all", Limit::from_to_below(0, 1));
    f.add("model.inner.widths", widths, "of the layers", Limit::at_least(1));
    f.add("model.inner.text", text, "anything");
    f.add("model.inner.needed", needed, "a word", Limit::not_empty());
    return f;
  }
};

/// Another value for a key: that value and no other, or refused.
void check_with_text(std::string_view toml) {
  try {
    const std::string changed = file::with_text(toml, "model.inner.text", "new \"");
    require(file::peek(changed, "model.inner.text") == "new \"", "the value is the new one");
  } catch (const Error&) {
  }
}

void check_recipe(std::string_view bytes) {
  const size_t end = bytes.find('\0');
  check_with_text(bytes.substr(0, end));
  std::vector<std::string> overrides;
  for (size_t at = end; at < bytes.size();) {
    const size_t next = bytes.find('\n', at + 1);
    const std::string_view line = bytes.substr(at + 1, next - at - 1);
    overrides.emplace_back(line.substr(0, line.find('\0')));  // no argument of a program has one
    at = next;
  }
  Options options, again;
  file::Fields fields = options.fields(), same = again.fields();
  bool accepted = false;
  try {
    fields.parse(bytes.substr(0, end), "fuzz.toml", overrides);
    accepted = true;
    const std::string text = fields.text();
    same.parse(text, "again.toml");
    require(same.text() == text, "another recipe after writing and reading");
  } catch (const Error& error) {
    require_refusal(error, accepted);
  }
}

}  // namespace
}  // namespace heed::test

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  heed::test::check_recipe({reinterpret_cast<const char*>(data), size});
  return 0;
}
