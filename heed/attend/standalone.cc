#include "heed/attend/standalone.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <new>
#include <stdexcept>

#include "heed/attend/all.h"
#include "heed/base/error.h"
#include "heed/base/memory.h"

namespace heed::attend {

namespace {

/// What the name stands for, with the settings that were given on top.
Options options_for(std::string_view name, const Options& settings, const std::vector<std::string>& given) {
  Options options = options_of(name, settings);
  const auto is_given = [&](const char* option) {
    return std::find(given.begin(), given.end(), option) != given.end();
  };
#define HEED_KEEP(type, name, value, meaning) \
  if (is_given(#name)) options.name = settings.name;
  HEED_OPTIONS(HEED_KEEP)
#undef HEED_KEEP
  return options;
}

std::unique_ptr<Mechanism> made(Parameters& parameters, const Options& options) {
  try {
    return make(parameters, options);
  } catch (const std::bad_alloc&) {
    throw NotEnoughMemory("not enough memory: attention; the parameters of these widths are too many");
  } catch (const std::length_error&) {
    throw Error("attention: more parameters than memory can hold; the widths are too large");
  }
}

}  // namespace

std::vector<std::string> changed(const Options& options) {
  const Options defaults;
  std::vector<std::string> names;
#define HEED_COMPARE(type, name, value, meaning) \
  if (options.name != defaults.name) names.emplace_back(#name);
  HEED_OPTIONS(HEED_COMPARE)
#undef HEED_COMPARE
  return names;
}

Standalone::Standalone(std::string_view name, const Options& settings, const std::vector<std::string>& given,
                       uint64_t seed)
    : options(options_for(name, settings, given)),
      parameters(seed),
      mechanism(made(parameters, options)),
      parts(resolve(options)) {
  std::vector<std::string> told = given;
  if (options.kv_heads == options.heads) std::erase(told, "kv_heads");  // as many as there are: it says what is
  const std::vector<std::string> without_effect = unread(options, told);
  expect(without_effect.empty(), "attention: {}", fmt::join(without_effect, "\n"));
}

}  // namespace heed::attend
