"""The cases of make_mechanisms.py: a name, the options that differ from heed's defaults, and what comes in.

Sizes are small and mostly odd, sequences unequally long, one with a single key. Together the cases name every mechanism
of the catalogue.
"""
from types import SimpleNamespace

CASES = []

# query_lengths: of the sequences of queries, None for no queries. same_rows: the queries are the rows of the memory.
# bias, mask, documents: whether there are some. zero_rows: name of an input -> row that is zero.
# straight_through: inputs whose gradient is not that of the function. gradients: the inputs whose gradient is compared,
# None for all inputs and parameters. wants: results besides the context. training: false turns off what is drawn.
WHAT_COMES_IN = dict(
    query_lengths=[3, 4, 2], key_lengths=[5, 1, 7], same_rows=False, bias=False, mask=False, documents=False, step=0,
    lengths=None, sentences=None, zero_rows={}, straight_through=[], gradients=None, wants=[], training=True)
NO_QUERIES = ("learned_query", "structured", "feed_forward", "hierarchical")


def case(name, **given):
    come_in = {key: given.pop(key, default) for key, default in WHAT_COMES_IN.items()}
    if given.get("input") in NO_QUERIES or given.get("structure") in NO_QUERIES:
        come_in["query_lengths"] = None
    if come_in["same_rows"]:
        come_in["query_lengths"] = come_in["key_lengths"]
    CASES.append(SimpleNamespace(name=name, options=given, **come_in))


def pair(name, **given):
    """Queries and keys of width 3, values of width 2."""
    case(name, **{**dict(query_width=3, key_width=3, value_width=2), **given})


def uneven(name, **given):
    """For scores that take a query and a key of different widths."""
    pair(name, **{**dict(query_width=5, hidden=4), **given})


def heads(name, **given):
    """Two heads, side by side in the columns: queries and keys of width 3, values of width 2."""
    case(name, **{**dict(query_width=6, key_width=6, value_width=4, heads=2), **given})


def multi_head(name, **given):
    """Three widths come in, heads of width 3 are between, width 3 goes out."""
    case(name, **{**dict(structure="multi_head", query_width=5, key_width=3, value_width=2, heads=2, width=6,
                         output_width=3, project=True, project_output=True, key_lengths=[4, 1, 5],
                         query_lengths=[2, 3, 1]), **given})


def self_attention(name, **given):
    case(name, **{**dict(input="self_attention", same_rows=True), **given})


# -------------------------------------------------------------------------------------------------------------- scores
pair("dot", score="dot")
pair("scaled dot")
heads("scaled dot, two heads")
case("scaled dot, four heads on two", query_width=12, key_width=6, value_width=4, heads=4, kv_heads=2)
case("scaled dot, three heads on one", query_width=9, key_width=3, value_width=2, heads=3, kv_heads=1)
pair("scaled dot, softcap", softcap=0.75)
pair("scaled dot, sequences without keys or queries", query_lengths=[3, 4, 0, 2], key_lengths=[5, 0, 3, 2])
pair("cosine", score="cosine", zero_rows={"queries": 1, "keys": 2})
pair("cosine, fixed temperature", score="cosine", temperature=2.5)
heads("cosine, learned temperature, two heads", score="cosine", learned_temperature=True)
uneven("general", score="general")
case("general, two heads", score="general", query_width=4, key_width=6, value_width=2, heads=2)
uneven("additive", score="additive")
pair("additive, hidden as wide as the keys", score="additive", query_width=2)
uneven("concat, the other name of additive", score="concat")
case("additive, four heads on two", score="additive", query_width=8, key_width=6, value_width=4, heads=4, kv_heads=2)
uneven("additive, softcap", score="additive", softcap=0.5)
uneven("additive, sequences without keys", score="additive", key_lengths=[2, 0, 3])
for act in ("tanh", "relu", "gelu"):
    for depth in (1, 2, 3):
        uneven("mlp of depth %d, %s" % (depth, act), score="mlp", depth=depth, activation=act, hidden=3 + depth % 2)
heads("mlp of depth 2, two heads", score="mlp", depth=2, hidden=5)
uneven("projected", score="projected")
uneven("projected, sigmoid", score="projected", normalise="sigmoid")
pair("projected, shared", score="projected", shared_projection=True)
heads("projected, shared, two heads, sigmoid", score="projected", shared_projection=True, normalise="sigmoid", hidden=2)
uneven("self scored, vector", score="self_scored")
uneven("self scored, linear", score="self_scored", form="linear")
heads("self scored, vector, two heads", score="self_scored", query_width=4)
intra = dict(score="intra", region="causal", strict=True, query_width=3, key_width=3)
self_attention("intra", value_width=2, **intra)
self_attention("intra, the keys are the values", **intra)
pair("synthesizer dense", score="synthesizer_dense", query_width=5, hidden=4, max_length=8)
pair("synthesizer random", score="synthesizer_random", max_length=7)
pair("synthesizer random, fixed", score="synthesizer_random", max_length=8, fixed_table=True)
heads("synthesizer random, two heads, from step 2", score="synthesizer_random", max_length=7, step=2, region="causal")
heads("synthesizer mixture, two heads", score="synthesizer_mixture", hidden=2, max_length=7)

# ---------------------------------------------------------------------------------------------------- bias by distance
heads("alibi", position="alibi", region="causal")
case("alibi, three heads", position="alibi", query_width=6, key_width=6, heads=3)
heads("relative", position="relative", reach=2)
heads("relative, additive, from step 3", position="relative", reach=3, score="additive", step=3)
# Only where q and k enter the product as they are, or at another length.
case("rotary", position="rotary", query_width=6, key_width=6, value_width=2)
case("rotary, two heads, causal, from step 3", position="rotary", query_width=8, key_width=8, heads=2, region="causal",
     step=3)
case("rotary, four heads on two", position="rotary", query_width=16, key_width=8, value_width=4, heads=4, kv_heads=2)
case("rotary, cosine", position="rotary", score="cosine", temperature=2.0, query_width=4, key_width=4)
multi_head("rotary, multi head", position="rotary", width=8)
pair("bias", bias=True)
heads("bias, two heads, entmax15", bias=True, normalise="entmax15")

# ------------------------------------------------------------------------------------------------- weights from scores
heads("softmax with entropy", normalise="softmax", wants=["entropy"])
for kind in ("relu", "sigmoid", "identity"):
    pair(kind, normalise=kind)
    heads(kind + ", divided, causal", normalise=kind, divide_by_visible=True, region="causal")
pair("hard", normalise="hard", straight_through=["queries", "keys"])
heads("hard, two heads, local", normalise="hard", region="local_m", window=2, straight_through=["queries", "keys"])
pair("hard sampled, expectation", normalise="hard_sampled", training=False)
pair("hard sampled, argmax", normalise="hard_sampled", at_test="argmax", training=False, gradients=["values"])
for kind in ("sparsemax", "entmax15"):
    pair(kind, normalise=kind, score="cosine", temperature=1.5)
    uneven(kind + ", additive, causal", normalise=kind, score="additive", region="causal")
    pair(kind + ", masked", normalise=kind, region="masked", mask=True)

# ------------------------------------------------------------------------------------------------------------- regions
pair("causal", region="causal")
pair("causal, strict", region="causal", strict=True)
pair("causal, from step 2", region="causal", step=2)
pair("local m", region="local_m", window=1)
uneven("local m, additive", region="local_m", window=2, score="additive")
pair("local p", region="local_p", window=2, hidden=4)
heads("local p, sigma, two heads", region="local_p", window=3, sigma=1.25)
uneven("local p, additive", region="local_p", window=2, score="additive")
pair("local p, over all", region="local_p", window=2, hidden=4, over_all=True)
pair("local h", region="local_h", window=1)
uneven("local h, additive, sigma", region="local_h", window=2, sigma=0.75, score="additive")
heads("local h, causal, two heads", region="causal+local_h", window=1)
pair("not self", region="not_self")
heads("not self, two heads, from step 1", region="not_self", step=1)
pair("masked", region="masked", mask=True)
uneven("masked, additive", region="masked", mask=True, score="additive")
pair("masked, lengths", region="masked", lengths=[3, 1, 5])
pair("masked, lengths and mask, sigmoid", region="masked", mask=True, lengths=[4, 0, 7], normalise="sigmoid",
     divide_by_visible=True)
pair("sliding window", region="sliding_window", window=1, query_lengths=[5, 1, 6])
pair("sliding window, strict causal", region="causal+sliding_window", window=2, strict=True, query_lengths=[5, 1, 6])
pair("documents", region="documents", documents=True, query_lengths=[5, 1, 6])
heads("documents, causal", region="causal+documents", documents=True, query_lengths=[5, 1, 6])
pair("sinks", region="sliding_window+sinks", window=1, sinks=2, query_lengths=[5, 1, 7])
heads("sinks, learned", region="sliding_window+sinks", window=1, sinks=1, learned_sink=True, query_lengths=[5, 1, 7])
heads("sinks, learned only, additive", region="sinks", learned_sink=True, score="additive")
pair("sinks, documents", region="documents+sinks", sinks=1, documents=True, query_lengths=[5, 1, 6])

# ---------------------------------------------------------------------------------------------------------------- time
case("static", time="static", score="general", query_width=6, key_width=3, value_width=2)
case("static, additive, no queries given", time="static", score="additive", query_width=6, key_width=3, value_width=2,
     query_lengths=None)
case("static, projected", time="static", query_width=6, key_width=3, heads=2, width=4, project=True)
heads("forced forward", time="forced_forward")
uneven("forced forward, additive", time="forced_forward", score="additive")
pair("forced forward, causal", time="forced_forward", region="causal", query_lengths=[5, 1, 6])
heads("guided", time="guided", guide_sigma=0.25, wants=["guide_cost"])
uneven("guided, additive, entropy", time="guided", guide_sigma=0.25, score="additive", wants=["guide_cost", "entropy"])
pair("guided, sparsemax", time="guided", guide_sigma=0.25, normalise="sparsemax", wants=["guide_cost"])
heads("forward only", time="forward_only", query_lengths=[5, 2, 4])
uneven("forward only, additive", time="forward_only", score="additive", query_lengths=[5, 2, 4])

# -------------------------------------------------------------------------------------------------------------- inputs
pair("plain mode", value_width=0)
heads("plain mode, additive, two heads", value_width=0, score="additive", hidden=2)
self_attention("self-attention", query_width=3, key_width=3, width=4, project=True)
self_attention("self-attention, causal, two heads on one", query_width=4, key_width=4, heads=2, kv_heads=1, width=6,
               project=True, project_output=True, region="causal")
case("cross-attention", input="cross_attention", query_width=5, key_width=3, width=4, project=True)
case("cross-attention, keys and values, output", input="cross_attention", query_width=4, key_width=3, value_width=2,
     heads=2, project=True, project_output=True)
pair("learned query", input="learned_query", queries=3, score="scaled_dot")
heads("learned query, two heads, additive", input="learned_query", queries=2, score="additive")

# ---------------------------------------------------------------------------------------------------------- structures
multi_head("multi head")
multi_head("multi head, the keys are the values", value_width=0, output_width=0)
multi_head("multi head, four on two", heads=4, kv_heads=2, width=8)
multi_head("multi head, additive", score="additive", hidden=2)
multi_head("multi head, cosine", score="cosine", learned_temperature=True)
multi_head("multi head, general, relative", score="general", position="relative", reach=2)
multi_head("multi head, projected, relu", score="projected", normalise="relu", hidden=2)
multi_head("multi head, mlp", score="mlp", depth=2, activation="gelu", hidden=3)
multi_head("multi head, sparsemax", normalise="sparsemax")
multi_head("multi head, entmax15, causal, softcap", normalise="entmax15", region="causal", softcap=1.5)
multi_head("multi head, local p", region="local_p", window=2)
multi_head("multi head, forced forward", time="forced_forward")
multi_head("multi head, guided", time="guided", wants=["guide_cost"])
multi_head("multi head, synthesizer dense", score="synthesizer_dense", max_length=6, hidden=2)
multi_head("multi head, synthesizer random", score="synthesizer_random", max_length=5)
multi_head("multi head, synthesizer mixture", score="synthesizer_mixture", max_length=5)
case("structured", structure="structured", key_width=3, hidden=4, queries=3)
case("structured, penalty", structure="structured", key_width=4, value_width=2, queries=2, wants=["penalty"])
summary = dict(structure="feed_forward", score="self_scored")
case("feed forward", key_width=3, form="linear", **summary)
case("feed forward, keys and values", key_width=3, value_width=2, form="linear", **summary)
case("feed forward, vector", key_width=3, hidden=4, **summary)
case("key value", structure="key_value", query_width=6, key_width=6, window=2, same_rows=True)
case("key value, predict", structure="key_value", query_width=6, key_width=6, window=3, predict=1, same_rows=True)
pair("hierarchical query", structure="hierarchical_query", score="additive", hidden=4, documents=True)
case("hierarchical query, keys are values", structure="hierarchical_query", query_width=3, key_width=3, documents=True,
     normalise="sparsemax")
case("location aware", structure="location_aware", query_width=4, key_width=3, value_width=2, hidden=3, filters=2,
     filter_reach=1)
case("location aware, sigmoid", structure="location_aware", query_width=3, key_width=3, filters=1, filter_reach=4,
     normalise="sigmoid")
case("hierarchical", structure="hierarchical", key_width=3, hidden=2, key_lengths=[3, 1, 2, 4], sentences=[0, 3, 4])
case("hierarchical, classes", structure="hierarchical", key_width=2, hidden=2, classes=3, key_lengths=[2, 3, 1],
     sentences=[0, 1, 3])

# ------------------------------------------------------------------------------------ several parts out of the ordinary
heads("local p, causal, alibi", region="causal+local_p", window=2, position="alibi", query_lengths=[5, 1, 6])
heads("local p, guided, softcap", region="local_p", window=2, time="guided", softcap=1.25, wants=["guide_cost"])
pair("masked, causal, sparsemax", region="causal+masked", mask=True, normalise="sparsemax", query_lengths=[5, 1, 6])
pair("documents, local m, sigmoid", region="documents+local_m", window=1, documents=True, normalise="sigmoid",
     query_lengths=[5, 1, 6])
pair("forced forward, masked", time="forced_forward", region="masked", mask=True)
heads("forward only, sparsemax, bias", time="forward_only", normalise="sparsemax", bias=True, query_lengths=[5, 2, 4])
heads("hard, guided", normalise="hard", time="guided", wants=["guide_cost"], straight_through=["queries", "keys"])
heads("hard sampled, expectation, entropy", normalise="hard_sampled", training=False, wants=["entropy"])
uneven("mlp, softcap, relu, divided", score="mlp", activation="gelu", softcap=1.5, normalise="relu",
       divide_by_visible=True)
case("additive, four heads on one, relative, causal", score="additive", query_width=8, key_width=3, value_width=2,
     heads=4, kv_heads=1, position="relative", reach=1, region="causal")
heads("self scored, linear, two heads, entmax15, masked", score="self_scored", form="linear", normalise="entmax15",
      region="masked", mask=True)
heads("synthesizer dense, alibi, sliding window", score="synthesizer_dense", max_length=7, hidden=3, position="alibi",
      region="sliding_window", window=2)
heads("cosine, zero rows, sigmoid", score="cosine", temperature=2, normalise="sigmoid",
      zero_rows={"queries": 4, "keys": 5})
multi_head("multi head, learned sink, sliding window", region="sliding_window+sinks", window=1, sinks=1,
           learned_sink=True)
multi_head("multi head, static", time="static", query_width=6)
multi_head("multi head, learned query", input="learned_query", queries=2)
multi_head("multi head, forward only, general", time="forward_only", score="general", query_lengths=[4, 2, 3])
multi_head("multi head, sigmoid, divided, masked", normalise="sigmoid", divide_by_visible=True, region="masked",
           mask=True)
multi_head("multi head, hard sampled, expectation", normalise="hard_sampled", training=False)
multi_head("multi head, self-attention, causal, alibi", input="self_attention", same_rows=True, query_width=3,
           value_width=0, region="causal", position="alibi")
uneven("self scored, vector, softcap", score="self_scored", softcap=0.5)
case("feed forward, softcap", key_width=3, form="linear", softcap=0.5, **summary)
pair("cosine, softcap, learned temperature", score="cosine", learned_temperature=True, softcap=0.5)
heads("cosine, four heads on two, negative temperature", score="cosine", temperature=-1.5, heads=4, kv_heads=2,
      query_width=12)
heads("general, softcap, two heads", score="general", softcap=0.5)
pair("local p, a window past all keys", region="local_p", window=20)
pair("local p, relu", region="local_p", window=2, normalise="relu")
heads("forward only, hard", time="forward_only", normalise="hard", straight_through=["queries", "keys"])
heads("forward only, causal", time="forward_only", region="causal", query_lengths=[5, 2, 4])
heads("forward only, local m", time="forward_only", region="local_m", window=1, query_lengths=[5, 2, 4])
heads("forward only, local p", time="forward_only", region="local_p", window=2, query_lengths=[5, 2, 4])
heads("forward only, sliding window, sinks", time="forward_only", region="sliding_window+sinks", window=1, sinks=3,
      query_lengths=[5, 2, 7])
heads("forward only, documents, sinks", time="forward_only", region="documents+sinks", documents=True, sinks=3,
      query_lengths=[5, 2, 7])
heads("synthesizer random, forward only", time="forward_only", score="synthesizer_random", max_length=7,
      query_lengths=[5, 2, 4])
heads("forced forward, local p", time="forced_forward", region="local_p", window=2)
heads("forced forward, self scored", time="forced_forward", score="self_scored")
heads("forced forward, synthesizer random, bias", time="forced_forward", score="synthesizer_random", max_length=7,
      bias=True)
pair("learned query, guided", input="learned_query", queries=3, time="guided", wants=["guide_cost"])

# -------------------------------------------------------------- lengths: keys past them are as if they were not there
pair("lengths, a length 0", lengths=[3, 0, 5])
pair("lengths, local p", region="local_p", window=2, lengths=[3, 1, 5])
pair("lengths, guided", time="guided", lengths=[3, 1, 5], wants=["guide_cost"])
case("lengths, static", time="static", score="general", query_width=6, key_width=3, value_width=2, lengths=[3, 1, 5])
heads("lengths, forced forward", time="forced_forward", lengths=[3, 1, 5])
heads("lengths, sigmoid, divided", normalise="sigmoid", divide_by_visible=True, lengths=[3, 1, 5])
multi_head("lengths, multi head, additive", lengths=[3, 1, 5], score="additive")
case("lengths, structured", structure="structured", key_width=3, hidden=4, queries=3, lengths=[3, 1, 5],
     wants=["penalty"])
case("lengths, feed forward", key_width=3, form="linear", lengths=[3, 1, 5], **summary)
