"""heed.attend against plain double-precision attention: layouts, options, gradients, ragged batches."""

import ast
import inspect
import pathlib
import re

import numpy as np
import pytest

import heed
from common import check_gradients, close, dot_attention, floats

B, H, G, TQ, TK, D, DV = 2, 4, 2, 5, 7, 8, 3
POSITION = np.arange(TQ)[:, None]
KEY = np.arange(TK)[None, :]


def inputs(seed=0):
    rng = np.random.default_rng(seed)
    return floats(rng, B, H, TQ, D), floats(rng, B, G, TK, D), floats(rng, B, G, TK, DV), rng


def side_by_side(x):
    """[B, heads, T, width] -> [B, T, heads * width]"""
    return np.ascontiguousarray(x.transpose(0, 2, 1, 3)).reshape(x.shape[0], x.shape[2], -1)


LAYOUTS = ("apart", "side_by_side", "strided")


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_and_gradients(layout):
    q, k, v, rng = inputs()
    d_out = floats(rng, B, H, TQ, DV)
    out, weights, gradients = dot_attention(q, k, v, d_out=d_out)
    back = lambda x: x  # noqa: E731
    options = {}
    if layout == "side_by_side":
        q, k, v, d_out, back = side_by_side(q), side_by_side(k), side_by_side(v), side_by_side(d_out), side_by_side
        options = {"q_heads": H, "kv_heads": G}
    elif layout == "strided":
        q = np.asfortranarray(q)
        k = np.repeat(k, 2, axis=3)[..., ::2]
        v = v[:, ::-1][:, ::-1]
    result, gradient = heed.attend_with_gradient(q, k, v, return_weights=True, **options)
    close(result.context, back(out))
    close(result.weights, weights)
    found = gradient(d_out)
    for name in "qkv":
        close(found[name], back(gradients[name]))
    close(heed.attend(q, k, v, **options), back(out))


def test_one_sequence_and_one_head():
    rng = np.random.default_rng(1)
    q, k, v = floats(rng, TQ, D), floats(rng, TK, D), floats(rng, TK, DV)
    out, _ = dot_attention(q[None, None], k[None, None], v[None, None])
    close(heed.attend(q, k, v), out[0, 0])
    close(heed.attend(q[None], k[None], v[None]), out[0])
    close(heed.attend(q, k), dot_attention(q[None, None], k[None, None], k[None, None])[0][0, 0])


OPTIONS = {
    "dot": (dict(score="dot"), dict(scale=1.0)),
    "scale": (dict(scale=0.3), dict(scale=0.3)),
    "softcap": (dict(softcap=0.8), dict(softcap=0.8)),
    "causal": (dict(causal=True), dict(visible=KEY <= POSITION)),
    "strict": (dict(causal=True, strict=True), dict(visible=KEY < POSITION)),
    "bottom_right": (dict(causal=True, align="bottom_right"), dict(visible=KEY <= POSITION + TK - TQ)),
    "offset": (dict(causal=True, align=1), dict(visible=KEY <= POSITION + 1)),
    "window": (dict(window=2), dict(visible=abs(KEY - POSITION) <= 2)),
    "window_both": (dict(window=(2, 1)), dict(visible=(KEY >= POSITION - 2) & (KEY <= POSITION + 1))),
    "window_open": (dict(window=(None, 1)), dict(visible=KEY <= POSITION + 1)),
    "sliding": (dict(region="sliding_window", window=2), dict(visible=(KEY <= POSITION) & (KEY >= POSITION - 2))),
    "sinks": (
        dict(causal=True, window=1, sinks=1),
        dict(visible=(KEY <= POSITION) & ((KEY >= POSITION - 1) | (KEY < 1))),
    ),
    "documents": (
        dict(query_documents=[[0, 0, 1, 1, 2]] * B, key_documents=[[0, 0, 0, 1, 1, 2, 2]] * B),
        dict(visible=np.array([0, 0, 1, 1, 2])[:, None] == np.array([0, 0, 0, 1, 1, 2, 2])),
    ),
    "lengths": (dict(key_lengths=[7, 3]), dict(visible=KEY < np.array([7, 3]).reshape(B, 1, 1, 1))),
    "query_lengths": (
        dict(query_lengths=[2, 5]),
        dict(visible=np.broadcast_to(POSITION < np.array([2, 5]).reshape(B, 1, 1, 1), (B, 1, TQ, TK))),
    ),
}


@pytest.mark.parametrize("name", OPTIONS)
def test_options(name):
    given, plain = OPTIONS[name]
    q, k, v, rng = inputs(2)
    d_out = floats(rng, B, H, TQ, DV)
    expected, weights, gradients = dot_attention(q, k, v, d_out=d_out, **plain)
    result, gradient = heed.attend_with_gradient(q, k, v, return_weights=True, stages=("masked",), **given)
    close(result.context, expected)
    close(result.weights, weights)
    visible = np.broadcast_to(plain.get("visible", True), result.stages["masked"].shape)
    assert np.array_equal(np.isfinite(result.stages["masked"]), visible)
    found = gradient(d_out)
    for part in "qkv":
        close(found[part], gradients[part])


@pytest.mark.parametrize(
    "shape", [(TK,), (TQ, TK), (H, TQ, TK), (1, TQ, TK), (B, 1, TQ, TK), (B, H, TQ, TK), (B, H, TQ, 1)]
)
def test_bias_and_mask(shape):
    q, k, v, rng = inputs(3)
    d_out = floats(rng, B, H, TQ, DV)
    bias = floats(rng, *shape)
    expected, _, gradients = dot_attention(q, k, v, bias=bias, d_out=d_out)
    for name in ("bias", "mask"):
        out, gradient = heed.attend_with_gradient(q, k, v, **{name: bias})
        close(out, expected)
        found = gradient(d_out)
        full = (1,) * (4 - bias.ndim) + bias.shape
        axes = tuple(i for i in range(4) if full[i] == 1)
        close(found[name], gradients["scores"].sum(axis=axes, keepdims=True).reshape(shape), floor=1.0)
        close(found["q"], gradients["q"])
    mask = rng.random(shape) < 0.6
    out, weights = dot_attention(q, k, v, visible=mask)
    close(heed.attend(q, k, v, mask=mask), out)
    turned = np.array(mask.T).T  # the same numbers, other strides
    assert np.array_equal(heed.attend(q, k, v, mask=turned), heed.attend(q, k, v, mask=mask))


def test_a_query_without_keys_gives_zero():
    q, k, v, _ = inputs()
    mask = np.ones((TQ, TK), bool)
    mask[2] = False
    out = heed.attend(q, k, v, mask=mask)
    assert not out[:, :, 2].any() and out[:, :, 1].all()
    assert not heed.attend(q, k[:, :, :0], v[:, :, :0]).any()
    assert heed.attend(q[:, :, :0], k, v).shape == (B, H, 0, DV)
    assert heed.attend(q[:0], k[:0], v[:0]).shape == (0, H, TQ, DV)


@pytest.mark.parametrize("layout", ["apart", "side_by_side"])
@pytest.mark.parametrize("past", [0, 3])
@pytest.mark.parametrize("score", ["scaled_dot", "general"])
def test_past(layout, past, score):
    q, k, v, rng = inputs(4)
    past_key, past_value = floats(rng, B, G, past, D), floats(rng, B, G, past, DV)
    options = {"causal": True, "score": score}
    parameters = {}
    if score == "general":
        parameters = {"score.weight": floats(rng, D, D)}
        options["parameters"] = parameters
    whole = [np.concatenate(pair, axis=2) for pair in ((past_key, k), (past_value, v))]
    d_out = floats(rng, B, H, TQ, DV)
    expected, expected_gradient = heed.attend_with_gradient(q, *whole, align=past, **options)
    expected_gradients = expected_gradient(d_out)
    back = lambda x: x  # noqa: E731
    if layout == "side_by_side":
        q, k, v, d_out, back = side_by_side(q), side_by_side(k), side_by_side(v), side_by_side(d_out), side_by_side
        options.update(q_heads=H, kv_heads=G)
    result, gradient = heed.attend_with_gradient(q, k, v, past_key=past_key, past_value=past_value, **options)
    close(result.context, back(expected), 1e-6)
    assert np.array_equal(result.present_key, whole[0]) and np.array_equal(result.present_value, whole[1])
    found = gradient(d_out)
    close(found["q"], back(expected_gradients["q"]), 1e-6)
    for new, old in (("k", "past_key"), ("v", "past_value")):
        close(found[old], expected_gradients[new][:, :, :past], 1e-6)
        close(found[new], back(np.ascontiguousarray(expected_gradients[new][:, :, past:])), 1e-6)
    for name in parameters:
        close(found[name], expected_gradients[name], 1e-6)


SCORES = [m.name for m in heed.mechanisms("score")]


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("layout", ["apart", "side_by_side"])
def test_every_score_has_gradients(score, layout):
    """Of every input and parameter, by central differences."""
    q, k, v, rng = inputs(7)
    widths = dict(query_width=H * D, key_width=G * D, value_width=G * DV, heads=H, kv_heads=G, input="external")
    options = dict(max_length=TK) if "synthesizer" in score else {}
    parameters = {n: 0.5 * floats(rng, *s) for n, s in heed.parameter_shapes(score, **widths, **options).items()}
    if layout == "side_by_side":
        q, k, v = side_by_side(q), side_by_side(k), side_by_side(v)
        options.update(q_heads=H, kv_heads=G)
    ask = lambda: heed.attend_with_gradient(
        q, k, v, score=score, parameters=parameters or None, **options
    )  # noqa: E731
    out, gradient = ask()
    d_out = floats(rng, *out.shape)
    gradients = gradient(d_out)
    assert set(gradients) == {"q", "k", "v", *parameters}
    arrays = {"q": q, "k": k, "v": v, **parameters}
    step = 1e-3 if score in ("synthesizer_dense", "synthesizer_mixture") else 1e-2  # the relu inside has kinks
    check_gradients(lambda: float((ask()[0].astype(np.float64) * d_out).sum()), arrays, gradients, rng, step)


@pytest.mark.parametrize("score", [s for s in SCORES if s not in ("dot", "scaled_dot")])
def test_both_layouts_and_the_module_agree(score):
    q, k, v, rng = inputs(8)
    options = dict(max_length=TK) if "synthesizer" in score else {}
    widths = dict(
        query_width=H * D, key_width=G * D, value_width=G * DV, heads=H, kv_heads=G, input="external", **options
    )
    attention = heed.Attention(score, seed=3, **widths)
    parameters = dict(attention.parameters) or None
    region = {"causal": score != "intra", "align": TK - TQ}  # intra brings its own
    apart = heed.attend(q, k, v, score=score, parameters=parameters, **region, **options, return_weights=True)
    flat = [side_by_side(x) for x in (q, k, v)]
    beside = heed.attend(
        *flat, q_heads=H, kv_heads=G, score=score, parameters=parameters, **region, **options, return_weights=True
    )
    close(beside.context, side_by_side(apart.context), 1e-6)
    close(beside.weights, apart.weights, 1e-6)
    module = heed.Attention(score, **widths, **({} if score == "intra" else {"region": "causal"}))
    module.parameters.load(attention.parameters)
    result = module.attend(flat[0], module.prepare(flat[1], flat[2]), step=TK - TQ, weights=True)
    close(result.context, beside.context, 1e-6)


@pytest.mark.parametrize("normalise", [m.name for m in heed.mechanisms("normalise") if m.name != "hard_sampled"])
def test_normalisers(normalise):
    """The loop on the arrays themselves, and the same by way of a module."""
    q, k, v, rng = inputs(9)
    flat = [side_by_side(x) for x in (q, k, v)]
    module = heed.Attention(normalise, query_width=H * D, key_width=G * D, value_width=G * DV, heads=H, kv_heads=G)
    result = module.forward(*flat, weights=True)
    out = heed.attend(*flat, q_heads=H, kv_heads=G, normalise=normalise, return_weights=True)
    close(out.context, result.context, 1e-6)
    close(out.weights, result.weights, 1e-6)


def test_aliases():
    q, k, v, rng = inputs()
    parameters = {n: floats(rng, *s) for n, s in heed.parameter_shapes("concat", query_width=D, key_width=D).items()}
    both = [heed.attend(q, k, v, score=score, parameters=parameters) for score in ("concat", "additive")]
    assert np.array_equal(*both)


def test_forced_forward_as_time():
    q, k, v, rng = inputs(10)
    flat = [side_by_side(x) for x in (q, k, v)]
    module = heed.Attention(
        "forced_forward", query_width=H * D, key_width=G * D, value_width=G * DV, heads=H, kv_heads=G
    )
    close(heed.attend(*flat, q_heads=H, kv_heads=G, time="forced_forward"), module.forward(*flat).context, 1e-6)
    with pytest.raises(heed.Error, match="depend on earlier steps"):
        heed.attend(q, k, v, time="forced_forward", stages="raw")


@pytest.mark.parametrize("score", ["scaled_dot", "cosine"])
def test_dropout_and_seeds(score):
    q, k, v, _ = inputs(11)
    drop = lambda **o: heed.attend(q, k, v, score=score, dropout=0.5, **o)  # noqa: E731
    assert np.array_equal(drop(seed=1), drop(seed=1))
    assert not np.array_equal(drop(seed=1), drop(seed=2))
    close(drop(seed=1, training=False), heed.attend(q, k, v, score=score), 1e-6)


def test_sampling_follows_the_seed():
    q, k, v, _ = inputs(12)
    draw = lambda **o: heed.attend(q, k, v, normalise="hard_sampled", **o)  # noqa: E731
    assert np.array_equal(draw(seed=1), draw(seed=1))
    assert not np.array_equal(draw(seed=1), draw(seed=2))
    close(draw(training=False), heed.attend(q, k, v), 1e-6)


@pytest.mark.parametrize("score", ["scaled_dot", "additive"])
def test_lengths_masks_and_biases_with_every_path(score):
    q, k, v, rng = inputs(13)
    parameters = None
    if score == "additive":
        shapes = heed.parameter_shapes(score, query_width=D, key_width=D)
        parameters = {name: floats(rng, *shape) for name, shape in shapes.items()}
    mask = rng.random((B, 1, TQ, TK)) < 0.7
    bias = floats(rng, B, 1, TQ, TK)
    lengths, query_lengths = np.array([4, 7]), np.array([5, 3])
    common = dict(score=score, parameters=parameters)
    given = heed.attend(
        q, k, v, mask=mask, bias=bias, key_lengths=lengths, query_lengths=query_lengths, window=4, **common
    )
    shown = (
        mask
        & (KEY < lengths.reshape(B, 1, 1, 1))
        & (POSITION < query_lengths.reshape(B, 1, 1, 1))
        & (abs(KEY - POSITION) <= 4)
    )
    close(given, heed.attend(q, k, v, bias=np.where(shown, bias, -np.inf).astype(np.float32), **common), 1e-6)


def test_combinations_are_refused_in_words():
    q, k, v, _ = inputs()
    for options, message in (
        (dict(score="additiv"), "did you mean 'additive'"),
        (dict(normalise="softmx"), "did you mean 'softmax'"),
        (dict(score="softmax"), "score: expected one of dot, .*, got softmax, which is a normalise"),
        (dict(score="additive"), r"parameters: expected score.query.weight \[8, 8\].*missing: score.query.weight"),
        (
            dict(score="general", parameters={"score.weight": np.zeros((3, 3), np.float32)}),
            r"score.weight: expected \[8, 8\], got \[3, 3\]",
        ),
        (dict(parameters={"w": q}), "scaled_dot has none, got w"),
        (dict(score="cosine", scale=2.0), "scale: only for dot and scaled_dot"),
        (dict(score="cosine", stages="raw"), "cosine only has weights"),
        (dict(hiden=3, score="additive"), "no option hiden; did you mean hidden"),
        (dict(past_key=k), "past_key, past_value: expected both or neither"),
        (dict(query_offsets=[0, 1]), "query_offsets, key_offsets: expected both or neither"),
        (dict(align="left"), "align: expected top_left, bottom_right or a whole number, got left"),
        (dict(stages="softmax"), "stages: expected some of raw, softcap, masked, weights"),
        (dict(window=-3), r"window: expected a whole number from 0 to 2\^30, got -3"),
        (
            dict(bias=np.zeros((TQ, TK), np.float32), mask=np.zeros((TQ, TK), np.float32)),
            "expected one of them, got both",
        ),
        (dict(region="documents"), "expected query_documents and key_documents"),
        (dict(softcap=-1.0), "score.softcap: expected 0"),
        (dict(dropout=1.5), "dropout.p: expected 0 to less than 1"),
        (dict(key_lengths=[1, 9]), r"key_lengths: expected 0 to \[7, 7\], got \[1, 9\]"),
    ):
        with pytest.raises(heed.Error, match=message):
            heed.attend(q, k, v, **options)


def test_every_stage_and_the_weights_belong_together():
    q, k, v, rng = inputs(14)
    result = heed.attend(q, k, v, causal=True, softcap=1.1, return_weights=True, stages=heed.STAGES)
    raw = q.astype(np.float64) @ k.repeat(2, 1).swapaxes(-1, -2) / np.sqrt(D)
    close(result.stages["raw"], raw)
    close(result.stages["softcap"], 1.1 * np.tanh(raw / 1.1))
    assert np.array_equal(result.stages["weights"], result.weights)
    assert tuple(result.stages) == heed.STAGES


def test_every_argument_is_in_the_signature_and_the_help():
    signature = inspect.signature(heed.attend)
    stub = ast.parse((pathlib.Path(heed.__file__).parent / "_attend.pyi").read_text(encoding="utf-8"))
    (said,) = [node.args for node in stub.body if isinstance(node, ast.FunctionDef) and node.name == "attend"]
    by_keyword = dict(zip((a.arg for a in said.kwonlyargs), map(ast.literal_eval, said.kw_defaults)))
    of_signature = {p.name: p.default for p in signature.parameters.values() if p.kind is p.KEYWORD_ONLY}
    assert list(of_signature.items()) == list(by_keyword.items())
    assert len(of_signature) > 30 and list(signature.parameters)[-1] == said.kwarg.arg == "options"
    assert "{question}" not in heed.attend.__doc__
    for name in of_signature:
        assert re.search(rf"\b{name}\b", heed.attend.__doc__), name


@pytest.mark.parametrize("normalise", ["softmax", "hard", "sparsemax", "relu"])
def test_no_queries_at_all(normalise):
    keys = np.ones((3, 4), np.float32)
    none = np.zeros((0, 4), np.float32)
    found = heed.attend(none, keys, keys, normalise=normalise, return_weights=True)
    assert found.context.shape == (0, 4) and found.weights.shape == (1, 1, 0, 3)
    result, gradient = heed.attend_with_gradient(none, keys, keys, normalise=normalise, return_weights=True)
    assert result.weights.size == 0 and not gradient(none)["k"].any()


def test_numbers_too_large_for_float32_are_refused():
    """docs/numerics.md: 1e20 * 1e20 is no float32. Of either sign: +inf would be NaN, -inf look like a hidden key."""
    large, small = np.full((2, 3, 4), 1e20, np.float32), np.ones((2, 3, 4), np.float32)
    for normalise in ("softmax", "sparsemax", "entmax15"):
        for sign in (1, -1):
            with pytest.raises(heed.Error, match=r"too large for float32.*q 1e\+20, k 1e\+20, v 1"):
                heed.attend(large, sign * large, small, normalise=normalise)
    with pytest.raises(heed.Error, match="too large"):
        heed.attend(large.reshape(6, 4), -large.reshape(6, 4), small.reshape(6, 4), query_offsets=[0, 2, 6],
                    key_offsets=[0, 3, 6])
    with pytest.raises(heed.Error, match="too large"):
        heed.attend(large, large, small, score="general", parameters={"score.weight": np.eye(4, dtype=np.float32)})
    with pytest.raises(heed.Error, match=r"keys: .*too large"):
        heed.Attention("dot", key_width=4)(large, large)
    with pytest.raises(heed.Error, match=r"^v: .*too large"):
        heed.attend(small, small, np.full((2, 3, 4), 3e38, np.float32), normalise="identity")


def test_what_is_large_but_fits_or_came_in_broken_is_left_alone():
    large, small = np.full((2, 3, 4), 1e18, np.float32), np.ones((2, 3, 4), np.float32)
    assert (heed.attend(large, large, small) == 1).all()
    assert (heed.attend(100 * large, -100 * large, small, softcap=5) == 1).all()
    assert (heed.attend(100 * large, -100 * large, small, normalise="relu") == 0).all()
    # One key of many is too far below to matter, and rows that see nothing stay 0.
    keys = np.array([[-1e20] * 4, [0] * 4], np.float32)
    assert (heed.attend(np.full((1, 4), 1e20, np.float32), keys, np.array([[7.0], [3.0]], np.float32)) == 3).all()
    hidden = heed.attend(large, small, small, mask=np.zeros((3, 3), bool))
    assert (hidden == 0).all()
    broken = small.copy()
    broken[0, 0, 0] = np.nan
    assert np.isnan(heed.attend(broken, small, small)[0, 0]).all()


def test_sentences_and_regions_that_mean_nothing_are_refused():
    rows = np.ones((2, 3, 4), np.float32)
    with pytest.raises(heed.Error, match="sentences: expected with hierarchical"):
        heed.Attention("dot", key_width=4)(rows, rows, sentences=[0, 2])
    with pytest.raises(heed.Error, match="names causal twice"):
        heed.attend(rows, rows, rows, region="causal+causal")
    with pytest.raises(heed.Error, match="names causal twice"):
        heed.Attention("dot", key_width=4, region="causal+causal")
    with pytest.raises(heed.Error, match="kv_heads = 2 of heads = 4.*query_width must be 16"):
        heed.Attention("intra", key_width=8, heads=4, kv_heads=2)
