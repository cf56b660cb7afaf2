"""Every mechanism of heed's catalogue once more, plainly, in PyTorch: the formulas of torch_parts.py put together.

Nothing here shares code with heed. Options have the names and the meaning of heed::attend::Options, parameters the
names and shapes that heed gives them; batches are ragged: sequence b holds the rows from offsets[b] to offsets[b + 1].
"""
from types import SimpleNamespace

import torch

import torch_parts as parts

DEFAULTS = dict(
    structure="single", input="external", score="scaled_dot", normalise="softmax", region="global", time="dynamic",
    query_width=0, key_width=0, value_width=0, heads=1, kv_heads=0, project=False, project_output=False, width=0,
    output_width=0, hidden=0, depth=1, activation="tanh", learned_temperature=False, temperature=1.0,
    shared_projection=False, form="vector", max_length=64, fixed_table=False, softcap=0.0, position="none", reach=16,
    divide_by_visible=False, samples=1, at_test="expectation", baseline_decay=0.9, entropy_weight=0.0,
    dropout=0.0, window=8, sigma=0.0, strict=False, sinks=0, learned_sink=False, guide_sigma=0.2,
    guide_weight=1.0, queries=1, classes=0, predict=0, over_all=False, straight_through=False, filters=10,
    filter_reach=5)


def options(**given):
    unknown = set(given) - set(DEFAULTS)
    if unknown:
        raise ValueError("no such option: %s" % ", ".join(sorted(unknown)))
    return SimpleNamespace(**{**DEFAULTS, **given})


# ------------------------------------------------------------------------------------------ parameters and their shapes

def widths(o):
    """Of one head as it enters the score: query, key, value."""
    groups = o.kv_heads or o.heads
    if o.project:
        return ((o.width or o.query_width) // o.heads,) * 3
    query = 2 * o.key_width if o.time == "static" else o.query_width
    return query // o.heads, o.key_width // groups, (o.value_width or o.key_width) // groups


def score_shapes(o):
    dq, dk, _ = widths(o)
    hidden = o.hidden or dk
    pair = {"key.weight": [hidden, dk], "query.weight": [hidden, dq], "bias": [hidden], "v": [hidden]}
    layers = {}
    for n in range(1, o.depth):
        layers.update({"layer.%d.weight" % n: [hidden, hidden], "layer.%d.bias" % n: [hidden]})
    both = {"query.weight": [hidden, dq], "key.weight": [hidden, dk], "bias": [1]}
    if o.shared_projection:
        del both["key.weight"]
    dense = {"hidden.weight": [hidden, dq], "hidden.bias": [hidden], "row.weight": [o.max_length, hidden],
             "row.bias": [o.max_length]}
    table = {"table": [o.heads * o.max_length, o.max_length]}
    return {
        "dot": {}, "scaled_dot": {}, "cosine": {"temperature": [1]} if o.learned_temperature else {},
        "general": {"weight": [dq, dk]}, "intra": {"weight": [dq, dk]}, "additive": pair, "concat": pair,
        "mlp": {**pair, **layers}, "projected": both,
        "self_scored": {"linear": {"weight": [1, dk], "bias": [1]},
                        "vector": {"weight": [hidden, dk], "v": [hidden]}}[o.form],
        "synthesizer_dense": dense, "synthesizer_random": table, "synthesizer_mixture": {**dense, **table, "mix": [3]},
    }[o.score]


def single_shapes(o):
    dq, dk, dv = widths(o)
    groups = o.kv_heads or o.heads
    shapes = {"score." + name: shape for name, shape in score_shapes(o).items()}

    def linear(name, out, into):
        shapes.update({name + ".weight": [out, into], name + ".bias": [out]})
    if o.project:
        if o.input != "learned_query":
            linear("query", o.heads * dq, 2 * o.key_width if o.time == "static" else o.query_width)
        linear("key", groups * dk, o.key_width)
        linear("value", groups * dv, o.value_width or o.key_width)
    if o.project_output:
        linear("output", o.output_width or o.query_width, o.heads * dv)
    if o.input == "learned_query":
        shapes["queries"] = [o.queries, o.heads * dq]
    if "local_p" in o.region.split("+"):
        shapes.update({"region.weight": [o.hidden or dk, dq], "region.v": [o.hidden or dk]})
    if o.learned_sink:
        shapes["sink"] = [o.heads]
    if o.position == "relative":
        shapes["position.table"] = [o.heads, 2 * o.reach + 1]
    return shapes


def hierarchical_shapes(o):
    shapes, h = {}, o.hidden
    for level, width in (("word", o.key_width), ("sentence", 2 * h)):
        for direction in ("forward", "backward"):
            cell = "%s.gru.0.%s." % (level, direction)
            shapes.update({cell + "input.weight": [3 * h, width], cell + "state.weight": [3 * h, h],
                           cell + "input.bias": [3 * h], cell + "state.bias": [3 * h]})
        shapes.update({level + ".score.weight": [h, 2 * h], level + ".score.bias": [h], level + ".queries": [1, h]})
    if o.classes:
        shapes.update({"classifier.weight": [o.classes, 2 * h], "classifier.bias": [o.classes]})
    return shapes


def parameter_shapes(o):
    """Name -> shape of everything that is learned."""
    hidden = o.hidden or o.key_width
    d = o.key_width // (3 if o.predict else 2)
    return {
        "single": lambda: single_shapes(o), "multi_head": lambda: single_shapes(o),
        "structured": lambda: {"score.weight": [hidden, o.key_width], "queries": [o.queries, hidden]},
        "feed_forward": lambda: {"score." + name: shape for name, shape in score_shapes(o).items()},
        "key_value": lambda: {**{"%s.weight" % name: [d, d] for name in (
            "score.key", "score.query", "output.context", "output.value")}, "score.v": [d]},
        "hierarchical": lambda: hierarchical_shapes(o),
        "hierarchical_query": lambda: {
            **{"word." + name: shape for name, shape in single_shapes(o).items()},
            **{"sentence." + name: shape for name, shape in single_shapes(SimpleNamespace(
                **{**vars(o), "key_width": o.value_width or o.key_width, "value_width": 0})).items()}},
        "location_aware": lambda: {
            "score.key.weight": [hidden, o.key_width], "score.query.weight": [hidden, o.query_width],
            "score.bias": [hidden], "score.v": [hidden], "location.filters.weight": [o.filters, 2 * o.filter_reach + 1],
            "location.weight": [hidden, o.filters]},
    }[o.structure]()


# ------------------------------------------------------------------------------------------ one sequence, all its heads

def score(o, p, q, k, step=0):
    """The score that the options name, with its parameters out of p. q [H, Tq, Dq], k [H, Tk, Dk]."""
    def get(*names):
        return [p["score." + name] for name in names]

    def dense():
        return parts.synthesizer_dense(q, k.shape[-2], *get("hidden.weight", "hidden.bias", "row.weight", "row.bias"))

    def random():
        return parts.synthesizer_random(p["score.table"], o.heads, step, q.shape[-2], k.shape[-2])

    first = ["key.weight", "query.weight", "bias"]
    layers = [get("layer.%d.weight" % n, "layer.%d.bias" % n) for n in range(1, o.depth)] if o.score == "mlp" else []
    vector = o.form == "vector"
    return {
        "dot": lambda: parts.dot(q, k),
        "scaled_dot": lambda: parts.scaled_dot(q, k),
        "cosine": lambda: parts.cosine(q, k, p["score.temperature"] if o.learned_temperature else o.temperature),
        "general": lambda: parts.general(q, k, *get("weight")),
        "intra": lambda: parts.general(q, k, *get("weight")),
        "additive": lambda: parts.additive(q, k, *get(*first, "v")),
        "concat": lambda: parts.additive(q, k, *get(*first, "v")),
        "mlp": lambda: parts.mlp(
            parts.pairs(q, k, *get(*first)), layers, p["score.v"], parts.ACTIVATIONS[o.activation]),
        "projected": lambda: parts.projected(
            q, k, *get("query.weight", "query.weight" if o.shared_projection else "key.weight", "bias")),
        "self_scored": lambda: (parts.self_scored_vector if vector else parts.self_scored_linear)(
            q, k, *get("weight", "v" if vector else "bias")),
        "synthesizer_dense": dense,
        "synthesizer_random": random,
        "synthesizer_mixture": lambda: parts.synthesizer_mixture(
            p["score.mix"], [parts.scaled_dot(q, k), dense(), random()]),
    }[o.score]()


def split_heads(rows, heads):
    """[T, heads * D] -> [heads, T, D]"""
    return rows.reshape(rows.shape[0], heads, rows.shape[1] // heads).transpose(0, 1)


def join_heads(rows):
    """[heads, T, D] -> [T, heads * D]"""
    return rows.transpose(0, 1).reshape(rows.shape[1], rows.shape[0] * rows.shape[2])


def attend_heads(o, p, q, k, v, ask):
    """q [H, Tq, Dq], k [H, Tk, Dk], v [H, Tk, Dv]. `ask.step`: where the first query stands."""
    tq, tk = q.shape[-2], k.shape[-2]
    where, j = torch.arange(tq)[:, None] + ask.step, torch.arange(tk)[None, :]
    turn = parts.rotary if o.position == "rotary" else lambda x, _: x
    e = parts.soft_cap(score(o, p, turn(q, ask.step), turn(k, 0), ask.step), o.softcap)
    if o.position == "alibi":
        e = e + parts.alibi(where, j, o.heads).to(e.dtype)
    if o.position == "relative":
        e = e + parts.relative(where, j, p["position.table"], o.reach)
    if ask.bias is not None:
        e = e + ask.bias[:, :tk]
    visible = parts.region(o, where, j, ask).expand(e.shape)
    centre = None
    if "local_p" in o.region.split("+"):
        centre = parts.local_centre(q, tk, p["region.weight"], p["region.v"])
        near = (j - centre.detach()[..., None]).abs() <= o.window
        visible = visible if o.over_all else visible & near
    if "local_h" in o.region.split("+"):
        centre, near = parts.around_best(e, visible, o.window, o.straight_through)
        visible = visible & near
        centre = centre if o.sigma else None
    sink = p["sink"] if o.learned_sink else None
    if o.time == "forced_forward":
        e = parts.forced_forward(e, visible)
    factor = None if centre is None else parts.gaussian(j, centre, o.sigma or o.window / 2.0)
    if o.over_all:
        factor = factor * near
    if o.time == "forward_only":
        weights = parts.forward_only(o, e, visible, sink, factor)
    else:
        weights = parts.normalise(o, e, visible, sink) * (1.0 if factor is None else factor)
    result = SimpleNamespace(context=weights @ v, weights=weights, entropy=parts.entropy(e, visible))
    result.guide_cost = (weights * parts.guide(tq, tk, o.guide_sigma).to(e.dtype)).sum(-1)
    return result


# ------------------------------------------------------------------------------------------------------- ragged batches

def rows_of(rows, offsets, b, lengths=None):
    """The rows of sequence b; with lengths those that count. The others are as if they were not there."""
    end = offsets[b + 1] if lengths is None else offsets[b] + lengths[b]
    return rows[offsets[b]:end]


def keys_of(memory, rows, b):
    return rows_of(rows, memory.offsets, b, memory.lengths)


def linear(p, name, rows):
    return rows @ p[name + ".weight"].T + p[name + ".bias"]


def query_rows(o, p, memory, queries, b):
    """The queries of sequence b as they enter the score."""
    if o.input == "learned_query":
        return p["queries"]
    if o.time == "static":
        keys = keys_of(memory, memory.keys, b)
        rows = torch.cat([keys[0], keys[-1]])[None]
    else:
        rows = rows_of(queries.rows, queries.offsets, b)
    return linear(p, "query", rows) if o.project else rows


def asked(o, memory, queries, b):
    """What region and bias need to know of sequence b."""
    def of_queries(t):
        return None if t is None else rows_of(t, queries.offsets, b)
    documents = None if memory.documents is None else keys_of(memory, memory.documents, b)
    mask = of_queries(queries.mask)
    return SimpleNamespace(
        step=queries.step, bias=of_queries(queries.bias), key_documents=documents,
        query_documents=of_queries(queries.documents),
        mask=torch.ones(1, len(memory.keys), dtype=torch.bool) if mask is None else mask != 0)


def single(o, p, memory, queries):
    """Structures single and multi_head: heads, projections before and after."""
    groups = o.kv_heads or o.heads
    keys, values = memory.keys, memory.keys if memory.values is None else memory.values
    if o.project:
        keys, values = linear(p, "key", keys), linear(p, "value", values)
    results = []
    for b in range(len(memory.offsets) - 1):
        def of_memory(rows):
            return split_heads(keys_of(memory, rows, b), groups).repeat_interleave(o.heads // groups, 0)
        q = split_heads(query_rows(o, p, memory, queries, b), o.heads)
        one = attend_heads(o, p, q, of_memory(keys), of_memory(values), asked(o, memory, queries, b))
        if o.time == "static" and queries.rows is not None:  # one context for all steps
            steps = queries.offsets[b + 1] - queries.offsets[b]
            one = SimpleNamespace(**{name: t.repeat_interleave(steps, 1) for name, t in vars(one).items()})
        results.append(one)
    context = torch.cat([join_heads(one.context) for one in results])
    return SimpleNamespace(
        context=linear(p, "output", context) if o.project_output else context,
        weights=[one.weights for one in results], entropy=torch.cat([one.entropy for one in results], -1),
        guide_cost=torch.cat([one.guide_cost for one in results], -1))


def structured(o, p, memory, queries):
    """Lin et al. 2017: A = parts.softmax(V_a tanh(W_a H^T)), C = A H, penalty |A A^T - I|^2."""
    values = memory.keys if memory.values is None else memory.values
    context, weights, penalty = [], [], 0.0
    for b in range(len(memory.offsets) - 1):
        h = keys_of(memory, memory.keys, b)
        a = torch.softmax(p["queries"] @ torch.tanh(p["score.weight"] @ h.T), -1)
        penalty = penalty + ((a @ a.T - torch.eye(len(a), dtype=a.dtype)) ** 2).sum()
        context.append(a @ keys_of(memory, values, b))
        weights.append(a[None])
    return SimpleNamespace(context=torch.cat(context), weights=weights, penalty=penalty.reshape(1, 1))


def feed_forward(o, p, memory, queries):
    """Raffel and Ellis 2015: the sequence as one vector."""
    values = memory.keys if memory.values is None else memory.values
    context, weights = [], []
    for b in range(len(memory.offsets) - 1):
        h = keys_of(memory, memory.keys, b)
        e = parts.soft_cap(score(o, p, h[:1], h), o.softcap)  # h[:1] stands for a query: the score looks at keys only
        a = torch.softmax(e, -1)
        context.append(a @ keys_of(memory, values, b))
        weights.append(a[None])
    return SimpleNamespace(context=torch.cat(context), weights=weights)


def key_value(o, p, memory, queries):
    """Daniluk et al. 2017: a row attends to the `window` rows before it. Rows are [key; value] or [key; value; predict]
    and are queries and memory at once."""
    context, weights = [], []
    for b in range(len(memory.offsets) - 1):
        rows = keys_of(memory, memory.keys, b)
        split = rows.chunk(3 if o.predict else 2, -1)
        k, v, last = split[0], split[1], split[-1]
        t = torch.arange(len(rows))
        visible = (t[None, :] < t[:, None]) & (t[:, None] - t[None, :] <= o.window)
        zero = torch.zeros(1, dtype=k.dtype)
        e = parts.additive(k, k, p["score.key.weight"], p["score.query.weight"], zero, p["score.v"])
        a = parts.softmax(e, visible)
        context.append(torch.tanh(a @ v @ p["output.context.weight"].T + last @ p["output.value.weight"].T))
        weights.append(a[None])
    return SimpleNamespace(context=torch.cat(context), weights=weights)


def hierarchical_query(o, p, memory, queries):
    """For each query: words of a sentence -> its vector; sentence vectors -> context."""
    def level(name):
        return {key[len(name) + 1:]: value for key, value in p.items() if key.startswith(name + ".")}
    context, weights = [], []
    for b in range(len(memory.offsets) - 1):
        k = keys_of(memory, memory.keys, b)
        v = k if memory.values is None else keys_of(memory, memory.values, b)
        q = rows_of(queries.rows, queries.offsets, b)
        ids = keys_of(memory, memory.documents, b)
        inside, vectors = [], []
        for s in torch.unique(ids):
            e = score(o, level("word"), q[None], k[ids == s][None])
            a = parts.normalise(o, e, torch.ones_like(e, dtype=torch.bool), None)
            inside.append(a[0])
            vectors.append(a[0] @ v[ids == s])
        vectors = torch.stack(vectors, 1)  # [Tq, K, Dv]
        e = score(o, level("sentence"), q[:, None, :], vectors)
        outer = parts.normalise(o, e, torch.ones_like(e, dtype=torch.bool), None)[:, 0, :]
        context.append((outer[:, :, None] * vectors).sum(1))
        weights.append(torch.cat([outer[:, n:n + 1] * a for n, a in enumerate(inside)], -1)[None])
    return SimpleNamespace(context=torch.cat(context), weights=weights)


def location_aware(o, p, memory, queries):
    """Chorowski et al. 2015: additive, with a convolution over the weights of the step before added to the keys."""
    context, weights = [], []
    filters = p["location.filters.weight"][:, None, :]
    for b in range(len(memory.offsets) - 1):
        k = keys_of(memory, memory.keys, b)
        v = k if memory.values is None else keys_of(memory, memory.values, b)
        q = rows_of(queries.rows, queries.offsets, b)
        first = k @ p["score.key.weight"].T + p["score.bias"]
        a, rows = None, []
        for t in range(len(q)):
            keys = first
            if a is not None:
                f = torch.nn.functional.conv1d(a[None, None, :], filters, padding=o.filter_reach)[0]
                keys = keys + f.T @ p["location.weight"].T
            e = torch.tanh(keys + q[t] @ p["score.query.weight"].T) @ p["score.v"]
            see = torch.ones(1, len(k), dtype=torch.bool)
            a = parts.normalise(o, e[None], see, None)[0]
            rows.append(a)
        a = torch.stack(rows)
        context.append(a @ v)
        weights.append(a[None])
    return SimpleNamespace(context=torch.cat(context), weights=weights)


def bidirectional_gru(p, prefix, rows):
    flat = [p["%s.0.%s.%s" % (prefix, direction, part)] for direction in ("forward", "backward")
            for part in ("input.weight", "state.weight", "input.bias", "state.bias")]
    start = torch.zeros(2, 1, flat[1].shape[1], dtype=rows.dtype)
    return torch.gru(rows[:, None, :], start, flat, True, 1, 0.0, False, True, False)[0][:, 0, :]


def pool(p, level, rows):
    """Rows [T, n] -> their weighted sum [1, 2h], and the weights [1, 1, T]."""
    h = bidirectional_gru(p, level + ".gru", rows)
    u = torch.tanh(h @ p[level + ".score.weight"].T + p[level + ".score.bias"])
    a = torch.softmax(p[level + ".queries"] @ u.T, -1)
    return a @ h, a[None]


def hierarchical(o, p, memory, queries):
    """Yang et al. 2016: words make sentence vectors, these make the vector of the document."""
    sentences = [pool(p, "word", rows_of(memory.keys, memory.offsets, b)) for b in range(len(memory.offsets) - 1)]
    vectors = torch.cat([vector for vector, _ in sentences])
    documents = [pool(p, "sentence", rows_of(vectors, memory.sentences, d)) for d in range(len(memory.sentences) - 1)]
    context = torch.cat([vector for vector, _ in documents])
    return SimpleNamespace(context=linear(p, "classifier", context) if o.classes else context,
                           weights=[a for _, a in documents], inner_weights=[a for _, a in sentences])


def attention(o, p, memory, queries):
    """memory: keys [n, key_width], values or None, offsets, documents, lengths, sentences (None where there are none).
    queries: rows [m, query_width] or None, offsets, documents, mask, bias, step.
    Gives context [.., ..], weights (per sequence [H, Tq, Tk]) and what else the mechanism has."""
    structures = dict(single=single, multi_head=single, structured=structured, feed_forward=feed_forward,
                      key_value=key_value, hierarchical=hierarchical, location_aware=location_aware,
                      hierarchical_query=hierarchical_query)
    return structures[o.structure](o, p, memory, queries)
