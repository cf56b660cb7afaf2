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
  /* regions             */ X(global) X(local_m) X(local_p) X(causal) X(masked) X(sliding_window) X(documents) X(sinks)\
  /* time                */ X(dynamic) X(static_query) X(forced_forward) X(guided) X(forward_only)                     \
  /* inputs              */ X(external) X(self_attention) X(cross_attention) X(plain_mode) X(key_value_mode)           \
                            X(learned_query)                                                                           \
  /* structures          */ X(single) X(hierarchical) X(multi_head) X(structured) X(key_value) X(feed_forward)         \
  /* synthesizers        */ X(synthesizer_dense) X(synthesizer_random) X(synthesizer_mixture)
// clang-format on

#define HEED_DECLARE(name) extern const Entry name##_entry;
HEED_MECHANISMS(HEED_DECLARE)
#undef HEED_DECLARE

/// Every entry, in the order of the list; then those that were added.
const std::vector<const Entry*>& all();

/// A mechanism of the program's own, which from then on has a name like every other: in options, recipes and all(). The
/// entry must live as long as the program. Throws where a name is taken or the entry does not say how it is made.
/// Threads: before any other thread uses heed.
void add(const Entry& entry);

/// The words of Entry::options or Entry::aliases.
std::vector<std::string> words(const char* text);

/// What the option of a part may say: the names of its entries and their aliases.
std::vector<std::string> words_for(Part part);

/// By name or alias. Throws, naming the nearest name.
const Entry& find(std::string_view name);
/// The same, and it must be what the option of this part may say.
const Entry& find(std::string_view name, Part part);

/// `base` with what makes the named mechanism: its word in its part, and its preset.
Options options_of(std::string_view name, Options base);

/// Options with every word in its main form: "concat" becomes "additive".
Options canonical(Options options);

/// Rows that a memory may have at most, and places that a query may stand at; the largest number where nothing limits
/// them. Throws where the score has no name of the catalogue, as draws() does for the normaliser.
int64_t longest_memory(const Options& options);
/// Whether the mechanism draws its keys while training, and so learns from rewards: Attended::log_prob.
bool draws(const Options& options);

/// Every reason why these options make no attention; empty where they do.
std::vector<std::string> refusals(const Options& options);

/// A sentence for each of `given`, names of options, that none of the parts reads and that is not as it is by default:
/// it would change nothing.
std::vector<std::string> unread(const Options& options, const std::vector<std::string>& given);

/// Throws with every reason where the options make no attention.
std::unique_ptr<Mechanism> make(const Scope& scope, const Options& options);
/// The same by a name: make(scope, options_of(name, base)).
std::unique_ptr<Mechanism> make(const Scope& scope, std::string_view name, const Options& base);

}  // namespace heed::attend
