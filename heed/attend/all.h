// The one list of all mechanisms. Tests, gradient checks, benchmark rows, documentation pages, and the names in
// recipes, on the command line and in Python follow from it. A new mechanism is one file and one line here.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heed/attend/entry.h"
#include "heed/attend/parts.h"

namespace heed::attend {

// clang-format off
#define HEED_MECHANISMS(X)                                                                                             \
  /* scores              */ X(dot) X(scaled_dot) X(cosine) X(general) X(additive) X(mlp) X(projected) X(self_scored)   \
                            X(intra)                                                                                   \
  /* weights from scores */ X(softmax) X(relu) X(sigmoid) X(identity) X(hard) X(hard_sampled) X(sparsemax) X(entmax15) \
  /* regions             */ X(global) X(local_m) X(local_p) X(local_h) X(causal) X(not_self) X(masked)                \
                            X(sliding_window) X(documents) X(sinks)                                                    \
  /* time                */ X(dynamic) X(static_query) X(forced_forward) X(guided) X(forward_only)                     \
  /* inputs              */ X(external) X(self_attention) X(cross_attention) X(plain_mode) X(key_value_mode)           \
                            X(learned_query)                                                                           \
  /* structures          */ X(single) X(hierarchical) X(multi_head) X(structured) X(key_value) X(feed_forward)         \
                            X(location_aware) X(hierarchical_query)                                                    \
  /* synthesizers        */ X(synthesizer_dense) X(synthesizer_random) X(synthesizer_mixture)
// clang-format on

#define HEED_DECLARE(name) extern const Entry name##_entry;
HEED_MECHANISMS(HEED_DECLARE)
#undef HEED_DECLARE

/// Every entry, in the order of the list; then those that were added.
const std::vector<const Entry*>& all();

/// Adds a program's own mechanism, which from then on works by name like every other: in options, recipes and all().
/// The entry must live as long as the program. Throws if a name is taken or the entry does not say how to make it.
/// Threads: call it before any other thread uses heed.
void add(const Entry& entry);

/// The names in Entry::options or Entry::aliases.
std::vector<std::string> words(const char* text);

/// The allowed values of a part's option: the names of its entries and their aliases.
std::vector<std::string> words_for(Part part);

/// By name or alias. Throws, naming the nearest name.
const Entry& find(std::string_view name);
/// The same, but it must be a valid value for the option of this part.
const Entry& find(std::string_view name, Part part);

/// `base` with the settings of the named mechanism: its name in the option of its part, and its preset.
Options options_of(std::string_view name, Options base);

/// Options with every alias replaced by its name: "concat" becomes "additive".
Options canonical(Options options);

/// The most rows that a memory may have, and the most positions for a query; the largest number if there is no limit.
/// Throws if the score is not in the catalogue, as draws() does for the normaliser.
int64_t longest_memory(const Options& options);
/// Whether the mechanism draws its keys during training, and so learns from rewards: Attended::log_prob.
bool draws(const Options& options);

/// Every reason why these options do not define a valid attention; empty if they do.
std::vector<std::string> refusals(const Options& options);

/// A sentence for each option named in `given` that no part uses and that differs from its default: it would have no
/// effect.
std::vector<std::string> unread(const Options& options, const std::vector<std::string>& given);

/// Throws with every reason if the options do not define a valid attention.
std::unique_ptr<Mechanism> make(const Scope& scope, const Options& options);
/// The same by name: make(scope, options_of(name, base)).
std::unique_ptr<Mechanism> make(const Scope& scope, std::string_view name, const Options& base);

}  // namespace heed::attend
