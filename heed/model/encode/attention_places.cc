#include "heed/model/encode/attention_places.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "heed/attend/all.h"
#include "heed/attend/census.h"
#include "heed/base/error.h"

namespace heed::encode {

namespace {

void change(Chosen& chosen, const AttentionChanges& changes, const std::string& place) {
  const auto found = changes.find(place);
  if (found == changes.end()) return;
  const auto& [to, keys] = found->second;
#define HEED_CHANGE(type, name, value, meaning) \
  if (keys.contains(#name)) chosen.options.name = to.name;
  HEED_OPTIONS(HEED_CHANGE)
#undef HEED_CHANGE
  chosen.named.insert(keys.begin(), keys.end());
}

}  // namespace

std::string layer_of(std::string_view place, int64_t layer) { return fmt::format("{}.layer.{}", place, layer); }

Chosen chosen(const attend::Options& attention, const AttentionChanges& changes, std::string_view place,
              int64_t layer) {
  Chosen c{attention, {}};
  change(c, changes, kAllPlaces);
  change(c, changes, std::string(place));
  change(c, changes, layer_of(place, layer));
  return c;
}

bool is_chosen(const AttentionChanges& changes, std::string_view place) {
  for (const auto& [name, change] : changes)
    if (!change.keys.empty() && (name == place || name.starts_with(fmt::format("{}.", place)))) return true;
  return false;
}

std::string about(const AttentionChanges& changes, std::string_view place, int64_t layer) {
  std::string name = layer_of(place, layer);
  if (!is_chosen(changes, name)) name = place;
  return is_chosen(changes, name) ? fmt::format("attention.{}: ", name) : "attention: ";
}

std::unique_ptr<attend::Mechanism> make_attention(const Scope& scope, const AttentionChanges& changes,
                                                  std::string_view place, int64_t layer,
                                                  const attend::Options& options) {
  const std::vector<std::string> reasons = attend::refusals(options);
  const std::string beginning = about(changes, place, layer);
  expect(reasons.empty(), "{}{}", beginning, fmt::join(reasons, "\n" + beginning));
  return attend::make_at(place, layer, scope, options);
}

}  // namespace heed::encode
