// The options of an attention. One flat struct: C++, recipes and Python use the same names.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

namespace heed::attend {

/// Every option, once: type, name, default, meaning. The fields of Options, recipes, Python and the documentation are
/// generated from this.
// clang-format off
#define HEED_OPTIONS(X)                                                                                                \
  /* ------------------------------------------------------------------- the parts, by their names in the catalogue */ \
  X(std::string, structure,           "single",     "single, multi_head, structured, feed_forward, key_value or "      \
                                                    "hierarchical")                                                    \
  X(std::string, input,               "external",   "where the queries come from: external, self_attention, "          \
                                                    "cross_attention or learned_query")                                \
  X(std::string, score,               "scaled_dot", "how well a query and a key match; becomes a weight")              \
  X(std::string, normalise,           "softmax",    "how scores become weights")                                       \
  X(std::string, region,              "global",     "which keys a query may see; several joined by +: "                \
                                                    "causal+sliding_window")                                           \
  X(std::string, time,                "dynamic",    "how attention moves from step to step: dynamic, static, "         \
                                                    "forced_forward, guided or forward_only")                          \
  /* ------------------------------------------------------------------------------------------------------- widths */ \
  X(int64_t,     query_width,         0,            "width of the queries; 0: as the keys")                            \
  X(int64_t,     key_width,           0,            "width of the keys")                                               \
  X(int64_t,     value_width,         0,            "width of the values; 0: the keys are the values (plain mode)")    \
  X(int64_t,     heads,               1,            "number of heads, each on its own columns")                        \
  X(int64_t,     kv_heads,            0,            "heads of keys and values, each shared by heads / kv_heads query " \
                                                    "heads; 0: as many as heads")                                      \
  X(bool,        project,             false,        "project q, k and v first: query.weight, key.weight, "             \
                                                    "value.weight")                                                    \
  X(bool,        project_output,      false,        "project the context after the heads: output.weight")              \
  X(int64_t,     width,               0,            "width of the projected q and k, all heads together; 0: "          \
                                                    "query_width")                                                     \
  X(bool,        project_bias,        true,         "the projections have biases")                                     \
  X(int64_t,     output_width,        0,            "width of the projected context; 0: query_width")                  \
  /* -------------------------------------------------------------------------------------------------------- score */ \
  X(int64_t,     hidden,              0,            "units of the hidden layer of additive, mlp, projected, "          \
                                                    "self_scored, structured, hierarchical, location_aware, local_p "   \
                                                    "and the synthesizers; 0: the key's width")                        \
  X(int64_t,     depth,               1,            "mlp: hidden layers")                                              \
  X(std::string, activation,          "tanh",       "mlp: tanh, relu, gelu or silu")                                   \
  X(bool,        learned_temperature, false,        "cosine: the temperature is learned")                              \
  X(float,       temperature,         1.0f,         "cosine: factor of the score, or its initial value if learned")    \
  X(bool,        shared_projection,   false,        "projected: W' = W, one matrix for queries and keys")              \
  X(std::string, form,                "vector",     "self_scored: vector v^T tanh(W h), or linear tanh(w^T h + b)")    \
  X(int64_t,     max_length,          64,           "synthesizers: the longest memory")                                \
  X(bool,        fixed_table,         false,        "synthesizer_random: R is random and not trained")                 \
  X(float,       softcap,             0.0f,         "limits scores: softcap * tanh(score / softcap); 0: no limit")     \
  /* --------------------------------------------------------------------------------------------- bias by distance */ \
  X(std::string, position,            "none",       "how scores depend on distance: none, alibi (Press et al. "        \
                                                    "2022), relative (a learned number per distance) or "              \
                                                    "rotary (Su et al. 2021: q and k are rotated by their "            \
                                                    "positions, so that their product depends on the distance)")       \
  X(float,       rotary_base,         10000.0f,     "rotary: the slowest of n pairs turns by rotary_base^(-1 + 1/n) "  \
                                                    "from one position to the next")                                   \
  X(bool,        rotary_halves,       false,        "rotary: a pair is a column of the first half of a head and one "  \
                                                    "of the second, not two neighbours")                               \
  X(int64_t,     reach,               16,           "relative: larger distances count as this one")                    \
  /* --------------------------------------------------------------------------------------------------- normaliser */ \
  X(bool,        divide_by_visible,   false,        "relu, sigmoid, identity: divide by the number of visible keys")   \
  X(int64_t,     samples,             1,            "hard_sampled: keys sampled per query in training; their "         \
                                                    "contexts are averaged")                                           \
  X(std::string, at_test,             "expectation","hard_sampled at inference: expectation (softmax) or argmax")      \
  X(float,       baseline_decay,      0.9f,         "hard_sampled: decay of the moving average of rewards that a "     \
                                                    "model uses as baseline; 0: the mean of the previous batch")       \
  X(std::string, baseline,            "moving",     "hard_sampled: what a model compares a reward with: moving (the "  \
                                                    "average of the rewards so far) or self_critical (the reward of "  \
                                                    "the same token without drawing)")                                 \
  X(float,       entropy_weight,      0.0f,         "hard_sampled: weight in the loss of the entropy of the choices, " \
                                                    "which encourages exploration")                                    \
  X(std::string, entropy_schedule,    "constant",   "hard_sampled: how entropy_weight falls during training: "         \
                                                    "constant, linear or exponential")                                 \
  X(int64_t,     entropy_steps,       0,            "hard_sampled: linear: updates until the weight is 0; "            \
                                                    "exponential: updates in which it falls to a tenth")               \
  X(float,       dropout,             0.0f,         "dropout on the weights, in training")                             \
  /* ------------------------------------------------------------------------------------------------------- region */ \
  X(int64_t,     window,              8,            "local_m, local_p, local_h: keys to each side; "                   \
                                                    "sliding_window, key_value: keys before the query")                \
  X(float,       sigma,               0.0f,         "local_p, local_h: standard deviation of the Gaussian; 0: local_p: " \
                                                    "window / 2, local_h: no Gaussian")                                \
  X(bool,        over_all,            false,        "local_p: softmax over all keys, of which the window and its "     \
                                                    "Gaussian then pick")                                              \
  X(bool,        straight_through,    false,        "local_h: the Gaussian also moves the choice, as if the centre "   \
                                                    "were the expected position under softmax")                        \
  X(bool,        strict,              false,        "causal: j < i instead of j <= i")                                 \
  X(int64_t,     sinks,               0,            "sinks: number of first keys that no window hides")                \
  X(bool,        learned_sink,        false,        "sinks: a learned score per head that takes weight but has no "    \
                                                    "value")                                                           \
  /* --------------------------------------------------------------------------------------------------------- time */ \
  X(float,       guide_sigma,         0.2f,         "guided: g, how far attention may stray from the diagonal at "     \
                                                    "little cost")                                                     \
  X(float,       guide_weight,        1.0f,         "guided: weight of the cost in the loss of a model")               \
  X(std::string, guide_schedule,      "constant",   "guided: how guide_weight falls during training: constant, "       \
                                                    "linear or exponential")                                           \
  X(int64_t,     guide_steps,         0,            "guided: linear: updates until the weight is 0; exponential: "     \
                                                    "updates in which it falls to a tenth")                            \
  /* ---------------------------------------------------------------------------------------------------- structure */ \
  X(int64_t,     queries,             1,            "learned_query, structured: number of learned queries")            \
  X(int64_t,     classes,             0,            "hierarchical: outputs of its classifier; 0: the document vector " \
                                                    "itself")                                                          \
  X(int64_t,     predict,             0,            "key_value: 1 splits the state into key, value and predict parts") \
  X(int64_t,     filters,             10,           "location_aware: filters over the weights of the step before")     \
  X(int64_t,     filter_reach,        5,            "location_aware: keys to each side that a filter sees")
// clang-format on

struct Options {
#define HEED_FIELD(type, name, value, meaning) type name = value;
  HEED_OPTIONS(HEED_FIELD)
#undef HEED_FIELD
};

/// Calls visit(name, field), or visit(name, field, meaning) if it takes three, for every option in the order above.
template <class O, class Visit>
void each_option(O& o, Visit&& visit) {
  const auto call = [&](const char* name, auto& field, const char* meaning) {
    if constexpr (std::is_invocable_v<Visit&, const char*, decltype(field), const char*>)
      visit(name, field, meaning);
    else
      visit(name, field);
  };
#define HEED_VISIT(type, name, value, meaning) call(#name, o.name, meaning);
  HEED_OPTIONS(HEED_VISIT)
#undef HEED_VISIT
}

}  // namespace heed::attend
