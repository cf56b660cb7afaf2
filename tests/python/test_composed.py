"""heed.attend with scores other than dot products: regions, places, masks and biases against formulas in double."""

import numpy as np
import pytest

import heed
from common import close, floats, softmax

B, H, G, TQ, TK, D, DV, HIDDEN = 2, 4, 2, 5, 7, 6, 3, 5
LAYOUTS = ("apart", "side_by_side")


def inputs(seed=0):
    rng = np.random.default_rng(seed)
    return floats(rng, B, H, TQ, D), floats(rng, B, G, TK, D), floats(rng, B, G, TK, DV), rng


def side_by_side(x):
    """[B, heads, T, width] -> [B, T, heads * width]"""
    return np.ascontiguousarray(x.transpose(0, 2, 1, 3)).reshape(x.shape[0], x.shape[2], -1)


def parameters_of(rng, *names, **options):
    widths = dict(query_width=H * D, key_width=G * D, value_width=G * DV, heads=H, kv_heads=G)
    shapes = heed.parameter_shapes(*names, **widths, **options)
    return {name: floats(rng, *shape) for name, shape in shapes.items()}


def additive_scores(q, k, p):
    q, k = np.float64(q), np.float64(k).repeat(H // G, 1)
    hidden = (q @ p["score.query.weight"].T)[:, :, :, None] + (k @ p["score.key.weight"].T)[:, :, None]
    return np.tanh(hidden + p["score.bias"]) @ p["score.v"]


def plain(scores, v, visible=True, bias=0.0):
    weights = softmax(np.where(np.broadcast_to(visible, scores.shape), scores + bias, -np.inf))
    return weights @ np.float64(v).repeat(H // G, 1)


def attended(layout, q, k, v, **options):
    if layout == "apart":
        return heed.attend_with_gradient(q, k, v, **options)
    beside = [side_by_side(x) for x in (q, k, v)]
    return heed.attend_with_gradient(*beside, q_heads=H, kv_heads=G, **options)


POSITION, KEY = np.arange(TQ)[:, None], np.arange(TK)[None, :]
QUERY_LENGTHS, KEY_LENGTHS = np.array([3, 5]), np.array([7, 4])
PLACES = {
    "left": (dict(window=(1, None)), KEY >= POSITION - 1),
    "right": (dict(window=(None, 2)), KEY <= POSITION + 2),
    "uneven": (dict(window=(2, 1)), (KEY >= POSITION - 2) & (KEY <= POSITION + 1)),
    "both": (dict(window=1), abs(KEY - POSITION) <= 1),
    "causal": (dict(window=(1, 3), causal=True), (KEY >= POSITION - 1) & (KEY <= POSITION)),
    "query_lengths": (dict(query_lengths=QUERY_LENGTHS), POSITION < QUERY_LENGTHS.reshape(B, 1, 1, 1)),
    "bottom_right": (dict(align="bottom_right", causal=True), KEY <= POSITION + TK - TQ),
    "bottom_right_query_lengths": (
        dict(align="bottom_right", causal=True, query_lengths=QUERY_LENGTHS),
        (KEY <= POSITION + TK - QUERY_LENGTHS.reshape(B, 1, 1, 1)) & (POSITION < QUERY_LENGTHS.reshape(B, 1, 1, 1)),
    ),
    "bottom_right_all_lengths": (
        dict(align="bottom_right", window=(2, 0), query_lengths=QUERY_LENGTHS, key_lengths=KEY_LENGTHS),
        (lambda at: (KEY <= at) & (KEY >= at - 2))(POSITION + (KEY_LENGTHS - QUERY_LENGTHS).reshape(B, 1, 1, 1))
        & (POSITION < QUERY_LENGTHS.reshape(B, 1, 1, 1))
        & (KEY < KEY_LENGTHS.reshape(B, 1, 1, 1)),
    ),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", PLACES)
def test_where_queries_stand_and_what_they_see(name, layout):
    options, visible = PLACES[name]
    q, k, v, rng = inputs()
    p = parameters_of(rng, "additive", hidden=HIDDEN)
    out, _ = attended(layout, q, k, v, score="additive", hidden=HIDDEN, parameters=p, **options)
    expected = plain(additive_scores(q, k, p), v, visible)
    close(out, expected if layout == "apart" else side_by_side(expected))
    beside = heed.attend(q, k, v, return_weights=True, **options).weights != 0
    assert np.array_equal(beside, np.broadcast_to(visible, beside.shape)), "the fused loop sees other pairs"


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_bias_and_a_mask_for_each_head(layout):
    q, k, v, rng = inputs(1)
    p = parameters_of(rng, "additive", hidden=HIDDEN)
    bias, mask = floats(rng, B, H, TQ, TK), rng.random((B, H, TQ, TK)) < 0.7
    given = dict(score="additive", hidden=HIDDEN, parameters=p)
    scores = additive_scores(q, k, p)
    out, gradient = attended(layout, q, k, v, bias=bias, mask=mask, **given)
    expected = plain(scores, v, mask, bias)
    close(out, expected if layout == "apart" else side_by_side(expected))
    d_out = floats(rng, *out.shape)
    step = 1e-2 * floats(rng, *bias.shape)
    slope = [
        float((np.float64(attended(layout, q, k, v, bias=bias + s * step, mask=mask, **given)[0]) * d_out).sum())
        for s in (np.float32(-1), np.float32(1))
    ]
    told = float((gradient(d_out)["bias"] * np.float64(step)).sum())
    assert abs((slope[1] - slope[0]) / 2 - told) <= 2e-3 * abs(told) + 1e-4
    one = attended(layout, q, k, v, bias=bias[:1, :, :1], **given)
    assert one[1](d_out)["bias"].shape == (1, H, 1, TK)


def test_modules_take_a_bias_and_a_mask_for_each_head():
    rng = np.random.default_rng(2)
    attention = heed.Attention("additive", query_width=8, key_width=8, heads=2, hidden=3)
    q, k = floats(rng, B, TQ, 8), floats(rng, B, TK, 8)
    bias, mask = floats(rng, B, 2, TQ, TK), rng.random((B, 2, TQ, TK)) < 0.8
    mask[..., 0] = True
    result = attention.forward(q, k, bias=bias, mask=mask, weights=True)
    plain_weights = attention.forward(q, k, weights=True).weights
    expected = np.where(mask, np.float64(plain_weights) * np.exp(np.float64(bias)), 0.0)
    close(result.weights, expected / expected.sum(-1, keepdims=True))
    assert result.backward(np.ones_like(result.context))["bias"].shape == bias.shape


def test_local_p_has_one_window():
    """Around the predicted place, and no other around the step."""
    rng = np.random.default_rng(3)
    q, k, v = floats(rng, 1, 1, TQ, D), floats(rng, 1, 1, 12, D), floats(rng, 1, 1, 12, DV)
    options = dict(region="local_p", window=2, hidden=HIDDEN)
    shapes = heed.parameter_shapes("scaled_dot", query_width=D, key_width=D, value_width=DV, **options)
    p = {name: floats(rng, *shape) for name, shape in shapes.items()}
    place = 12 / (1 + np.exp(-(np.tanh(np.float64(q) @ p["region.weight"].T) @ p["region.v"])))[..., None]
    off = np.arange(12) - place
    weights = softmax(np.where(abs(off) <= 2, np.float64(q) @ np.float64(k).swapaxes(-1, -2) / np.sqrt(D), -np.inf))
    expected = (weights * np.exp(-(off**2) / 2)) @ np.float64(v)
    close(heed.attend(q, k, v, parameters=p, **options), expected)
    causal = heed.attend(q, k, v, parameters=p, causal=True, return_weights=True, **options)
    assert (causal.weights[0, 0][np.arange(12) > np.arange(TQ)[:, None]] == 0).all()
    both = heed.attend(q, k, v, parameters=p, return_weights=True, **{**options, "region": "local_p+local_m"})
    assert (both.weights[0, 0][abs(np.arange(12) - np.arange(TQ)[:, None]) > 2] == 0).all()


@pytest.mark.parametrize("depth", (1, 2))
def test_an_option_counts_also_where_it_is_as_by_default(depth):
    q, k, v, rng = inputs(4)
    p = parameters_of(rng, "mlp", hidden=4, depth=depth)
    assert len(p) == {1: len(p), 2: len(parameters_of(rng, "mlp", hidden=4, depth=1)) + 2}[depth]
    widths = dict(query_width=H * D, key_width=G * D, value_width=G * DV, heads=H, kv_heads=G)
    attention = heed.Attention("mlp", **widths, hidden=4, depth=depth)
    attention.parameters.load(p)
    expected = attention.forward(*(side_by_side(x) for x in (q, k, v))).context
    close(side_by_side(heed.attend(q, k, v, score="mlp", hidden=4, depth=depth, parameters=p)), expected, 1e-6)


def test_a_score_keeps_its_own_region_unless_another_is_given():
    rng = np.random.default_rng(5)
    x = floats(rng, 1, 1, TQ, D)
    shapes = heed.parameter_shapes("intra", query_width=D, key_width=D, value_width=D)
    p = {name: floats(rng, *shape) for name, shape in shapes.items()}
    weights = heed.attend(x, x, x, score="intra", parameters=p, return_weights=True).weights
    assert (weights[0, 0][np.triu_indices(TQ)] == 0).all()
    with pytest.raises(heed.Error):
        heed.attend(x, x, x, score="intra", region="global", parameters=p)


def test_tables_begin_where_the_queries_stand():
    rng = np.random.default_rng(6)
    x, y = floats(rng, 2, 1, 3, D), floats(rng, 2, 1, 6, D)
    options = dict(score="synthesizer_random", max_length=6)
    table = floats(rng, 6, 6)
    lengths = [5, 6]
    asked = dict(align="bottom_right", key_lengths=lengths, return_weights=True)
    found = heed.attend(x, y, parameters={"score.table": table}, **asked, **options)
    for b, n in enumerate(lengths):
        expected = softmax(np.where(np.arange(6) < n, np.float64(table[n - 3 : n]), -np.inf))
        close(found.weights[b, 0], expected)
    with pytest.raises(heed.Error, match="position -1"):
        heed.attend(x, y, parameters={"score.table": table}, align=-1, **options)


@pytest.mark.parametrize("score", ("additive", "scaled_dot"))
def test_the_gradient_can_be_asked_for_again(score):
    q, k, v, rng = inputs(7)
    options = {"time": "forced_forward"} if score == "scaled_dot" else {"hidden": HIDDEN}
    p = parameters_of(rng, score, **({} if score == "scaled_dot" else options))
    out, gradient = heed.attend_with_gradient(q, k, v, score=score, parameters=p, dropout=0.3, seed=3, **options)
    d_out = floats(rng, *out.shape)
    first, second = gradient(d_out), gradient(d_out)
    for name in first:
        assert np.array_equal(first[name], second[name]), name
    for name, twice in gradient(2 * d_out).items():
        close(twice, 2 * first[name], 1e-6)


@pytest.mark.parametrize("what", ("rotary", "alibi", "relative", "forward_only"))
def test_a_padded_batch_is_as_its_sequences_alone(what):
    rng = np.random.default_rng(8)
    q, k, v = floats(rng, B, 2, TQ, D), floats(rng, B, 2, TK, D), floats(rng, B, 2, TK, DV)
    options = dict(time=what) if what == "forward_only" else dict(position=what)
    shapes = heed.parameter_shapes("cosine", query_width=2 * D, key_width=2 * D, heads=2, **options)
    options.update(score="cosine", parameters={name: floats(rng, *shape) for name, shape in shapes.items()})
    bias, mask = floats(rng, B, 2, TQ, TK), rng.random((B, 2, TQ, TK)) < 0.8
    place = {} if what == "forward_only" else dict(align="bottom_right")
    lengths = dict(query_lengths=[3, 4], key_lengths=[7, 5])
    found = heed.attend(q, k, v, bias=bias, mask=mask, window=(None, 3), **place, **lengths, **options)
    for b, (n, m) in enumerate(((3, 7), (4, 5))):
        one = [x[b : b + 1, :, :rows] for x, rows in ((q, n), (k, m), (v, m))]
        pairs = dict(bias=bias[b : b + 1, :, :n, :m], mask=mask[b : b + 1, :, :n, :m])
        place = {} if what == "forward_only" else dict(align=m - n)
        close(found[b : b + 1, :, :n], heed.attend(*one, **pairs, window=(None, 3), **place, **options), 1e-6)
        assert not found[b, :, n:].any()
