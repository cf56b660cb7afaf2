// I1 learned_query: learned queries, the same for every sequence.  Parameters: queries [r, H * Dq].
#include "heed/attend/all.h"

namespace heed::attend {

const Entry learned_query_entry = {
    .id = "I1",
    .name = "learned_query",
    .part = Part::input,
    .title = "learned queries, the same for every sequence",
    .formula = "c_r = attend(u_r, memory),  u_r learned",
    .paper =
        "Yang et al. 2016, Hierarchical Attention Networks for Document Classification; Lee et al. 2019, Set "
        "Transformer: A Framework for Attention-based Permutation-Invariant Neural Networks",
    .time = "that of the score",
    .memory = "nothing",
    .combines = "any score, normaliser and region; dynamic and guided time",
    .page =
        "No query comes from outside: the model learns `queries` queries that it applies to every sequence, so each "
        "sequence becomes that many vectors, whatever its length.",
    .options = "queries key_width query_width",
    .preset = [](Options& o) { o.input = "learned_query"; },
    .own_queries = true,
    .not_to_source = "has no place for the query of a decoder step",
};

}  // namespace heed::attend
