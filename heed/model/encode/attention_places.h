// Attention chosen for each place of a model: [attention.source] of a recipe, and [attention.encoder.layer.0]. What
// they do not name is as [attention] says; attention_options.h has what follows from that.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "heed/attend/mechanism.h"
#include "heed/attend/options.h"
#include "heed/layer/parameters.h"

namespace heed::encode {

// The places that several models have. A task may have others: Task::attention_places().
inline constexpr const char* kEncoderPlace = "encoder";  // from an encoder to itself
inline constexpr const char* kDecoderPlace = "decoder";  // from a decoder, or what reads a text, to its own past
inline constexpr const char* kSourcePlace = "source";    // from a decoder to the source

/// Not a place: options that a recipe names for all of them. Where nothing is said of project and project_output, each
/// place has what it needs, so these two are here, and not in [attention].
inline constexpr const char* kAllPlaces = "all";

/// Some options, which differ at a place.
struct AttentionChange {
  attend::Options to;
  std::set<std::string> keys;  // the options that were named
};

/// By place: "source", "encoder.layer.0".
using AttentionChanges = std::map<std::string, AttentionChange>;

/// "encoder.layer.0"
std::string layer_of(std::string_view place, int64_t layer);

/// The attention of one place as it was asked for, before a model fills in the rest.
struct Chosen {
  attend::Options options;
  std::set<std::string> named;  // options that were named for this place

  bool names(const char* option) const { return named.contains(option); }
};
Chosen chosen(const attend::Options& attention, const AttentionChanges& changes, std::string_view place, int64_t layer);

/// Whether anything was named for a place or a layer of it.
bool is_chosen(const AttentionChanges& changes, std::string_view place);

/// What messages about an attention begin with: "attention.source: ", or "attention: " if nothing was named for it.
std::string about(const AttentionChanges& changes, std::string_view place, int64_t layer);

/// Throws with every reason if the options do not define a valid attention.
std::unique_ptr<attend::Mechanism> make_attention(const Scope& scope, const AttentionChanges& changes,
                                                  std::string_view place, int64_t layer,
                                                  const attend::Options& options);

}  // namespace heed::encode
