"""heed.Attention: every mechanism of the catalogue by its name, and what a module can do besides."""

import copy
import pickle

import numpy as np
import pytest

import heed
from common import check_gradients, close, floats

B, TQ, TK, WIDTH = 3, 4, 6, 4
ALL = {m.name: m for m in heed.mechanisms()}


def make(name, **options):
    """A small one of this name, and the arrays that its forward takes."""
    rng = np.random.default_rng(sum(map(ord, name)))
    widths = dict(query_width=WIDTH, key_width=WIDTH, value_width=2)
    words = [name, *(w for part in options.values() if isinstance(part, str) for w in part.split("+") if w in ALL)]
    small = dict(window=2, max_length=TK, hidden=3)
    widths.update({option: n for option, n in small.items() if any(option in ALL[word].options for word in words)})
    arrays = {"queries": floats(rng, B, TQ, WIDTH), "keys": floats(rng, B, TK, WIDTH), "values": floats(rng, B, TK, 2)}
    given = {}
    if name in ("self_attention", "intra", "key_value"):
        del arrays["keys"], arrays["values"]
        widths["value_width"] = 0
    if name in ("learned_query", "structured", "feed_forward", "static"):
        del arrays["queries"]
    if name == "feed_forward":  # its linear form has no hidden layer
        widths.pop("hidden", None)
    if name == "plain_mode":
        del arrays["values"]
        widths["value_width"] = 0
    if name == "multi_head":
        widths["heads"] = 2
    if name == "hierarchical_query":  # compares the query with sentence vectors, too
        del arrays["values"]
        widths["value_width"] = 0
        given["key_documents"] = [[0, 0, 1, 1, 1, 2]] * B
    if name == "hierarchical":
        del arrays["queries"], arrays["values"]
        widths["value_width"] = 0
        given["sentences"] = [0, 2, 3]
    if name == "documents":
        given.update(query_documents=[[0, 0, 1, 1]] * B, key_documents=[[0, 0, 0, 1, 1, 1]] * B)
    if name == "masked":
        given["mask"] = rng.random((B, TQ, TK)) < 0.7
    return heed.Attention(name, seed=5, **{**widths, **options}), arrays, given, rng


def differentiable(name, arrays, attention):
    """Names whose gradient is that of the forward's numbers: choices have another, or none."""
    names = [*arrays, *attention.trainable]
    return [n for n in names if n == "values"] if name in ("hard", "hard_sampled") else names


@pytest.mark.parametrize("name", ALL)
def test_forward_and_backward_by_name(name):
    attention, arrays, given, rng = make(name)
    result = attention.forward(**arrays, **given, seed=1, weights=True)
    assert result.context.shape[-1] == attention.context_width
    d_context = floats(rng, *result.context.shape)
    gradients = attention.backward(d_context)
    assert set(gradients) == {*arrays, *attention.trainable}
    every = {**arrays, **attention.parameters}
    checked = {n: every[n] for n in differentiable(name, arrays, attention)}
    assert checked

    def loss():
        context = attention.forward(**arrays, **given, seed=1, gradient=False).context
        return float((context.astype(np.float64) * d_context).sum())

    kinks = ("relu", "sparsemax", "entmax15", "synthesizer_dense", "synthesizer_mixture", "local_p", "local_h")
    check_gradients(loss, checked, gradients, rng, 1e-3 if name in kinks else 1e-2)
    if result.weights is not None and name not in ("relu", "sigmoid", "identity", "local_p", "documents"):
        sums = result.weights.sum(-1)
        assert ((np.abs(sums - 1) < 1e-5) | (sums == 0)).all()


def test_the_catalogue():
    assert len(ALL) == len(heed.mechanisms()) >= 40
    parts = {m.part for m in ALL.values()}
    assert parts == {"score", "normalise", "region", "time", "input", "structure"}
    for m in ALL.values():
        assert m.id and m.title and m.formula and m.paper and m.time and m.memory and m.combines and m.page
        assert set(m.options) <= set(heed.default_options()), m.name
        assert heed.mechanism(m.name) == m and m.name in str(m)
        for alias in m.aliases:
            assert heed.mechanism(alias) == m
    assert [m.name for m in heed.mechanisms("score")] == [m.name for m in ALL.values() if m.part == "score"]
    with pytest.raises(heed.Error, match="did you mean 'additive'"):
        heed.mechanism("aditive")
    with pytest.raises(heed.Error, match="part: expected one of score"):
        heed.mechanisms("scores")


@pytest.mark.parametrize("name", [n for n in ALL if n not in ("hierarchical", "hard_sampled")])
def test_ragged_batches_give_the_same(name):
    """[B, T, width] with lengths, and the same rows packed with offsets."""
    attention, arrays, given, rng = make(name)
    attention.eval()
    lengths = {"queries": np.array([4, 1, 3]), "keys": np.array([6, 2, 5])}
    lengths["values"] = lengths["keys"]
    packed, offsets = {}, {}
    for part, array in arrays.items():
        packed[part] = np.concatenate([array[b, : lengths[part][b]] for b in range(B)])
        offsets[part] = np.concatenate(([0], np.cumsum(lengths[part])))
    padded_given, packed_given = dict(given), dict(given)
    if "mask" in given:
        packed_given["mask"] = np.concatenate([given["mask"][b, : lengths["queries"][b]] for b in range(B)])
    for part in ("query_documents", "key_documents"):
        if part in given:
            rows = lengths["queries" if part == "query_documents" else "keys"]
            packed_given[part] = np.concatenate([given[part][b][: rows[b]] for b in range(B)])
    if "queries" in arrays:
        padded_given["query_lengths"] = lengths["queries"]
        packed_given["query_offsets"] = offsets["queries"]
    if "keys" in arrays:
        padded_given["key_lengths"] = lengths["keys"]
        packed_given["key_offsets"] = offsets["keys"]
    whole = attention.forward(**arrays, **padded_given)
    rows = attention.forward(**packed, **packed_given)
    if "queries" in arrays:
        d_rows = floats(rng, *rows.context.shape)
        d_whole = np.zeros(whole.context.shape, np.float32)
        for b in range(B):
            n, at = lengths["queries"][b], offsets["queries"][b]
            close(whole.context[b, :n], rows.context[at : at + n], 1e-6)
            assert not whole.context[b, n:].any()
            d_whole[b, :n] = d_rows[at : at + n]
    else:
        close(whole.context, rows.context, 1e-6)
        d_whole = d_rows = floats(rng, *rows.context.shape)
    of_whole, of_rows = whole.backward(d_whole), rows.backward(d_rows)
    for part in of_whole:
        if part not in arrays:
            close(of_whole[part], of_rows[part], 1e-5)
            continue
        for b in range(B):
            n, at = lengths[part][b], offsets[part][b]
            close(of_whole[part][b, :n], of_rows[part][at : at + n], 1e-5)
            assert not of_whole[part][b, n:].any()


STEPPED = (
    "scaled_dot",
    "additive",
    "causal",
    "local_m",
    "local_p",
    "forced_forward",
    "forward_only",
    "static",
    "multi_head",
)


@pytest.mark.parametrize("name", STEPPED)
def test_step_by_step_is_the_same_as_all_at_once(name):
    attention, arrays, given, rng = make(name)
    queries = arrays.pop("queries", None)
    if queries is None:
        queries = floats(rng, B, TQ, 2 * WIDTH)
    whole = attention.forward(queries, **arrays)
    d_context = floats(rng, *whole.context.shape)
    expected = whole.backward(d_context)
    memory = attention.prepare(**arrays)
    state, steps = None, []
    for t in range(TQ):
        step = attention.attend(np.ascontiguousarray(queries[:, t]), memory, state)
        state = step.state
        assert state.step == t + 1 and f"step {t + 1}" in repr(state)
        close(step.context, whole.context[:, t], 1e-6)
        steps.append((step, d_context[:, t]))
    found = memory.backward(steps)
    close(np.stack(found.pop("queries"), axis=1), expected.pop("queries"), 1e-5)
    for part, gradient in expected.items():
        close(found[part], gradient, 1e-5, floor=0.1)


def test_a_memory_that_grows():
    attention = heed.Attention(
        "multi_head", query_width=4, key_width=4, heads=2, region="causal", input="self_attention"
    )
    rng = np.random.default_rng(1)
    x = floats(rng, B, TQ, 4)
    whole = attention.forward(x)
    d_context = floats(rng, *whole.context.shape)
    expected = whole.backward(d_context)
    memory = attention.grow(B, capacity=TQ)
    state, steps = None, []
    for t in range(TQ):
        row = np.ascontiguousarray(x[:, t])
        memory.extend(row)
        step = attention.attend(row, memory, state)
        state = step.state
        close(step.context, whole.context[:, t], 1e-6)
        steps.append((step, d_context[:, t]))
    found = memory.backward(steps)
    both = np.stack([a + b for a, b in zip(found["queries"], found["keys"])], axis=1)
    close(both, expected["queries"], 1e-5)
    close(found["output.weight"], expected["output.weight"], 1e-5)
    with pytest.raises(heed.Error, match="extend: this memory is complete"):
        attention.prepare(x).extend(x[:, 0])


@pytest.mark.parametrize("shape", [(TQ, TK), (B, TQ, TK), (1, TQ, TK), (B, 1, TK)])
def test_bias(shape):
    attention, arrays, _, rng = make("additive")
    bias = floats(rng, *shape)
    result = attention.forward(**arrays, bias=bias)
    d_context = floats(rng, *result.context.shape)
    gradients = result.backward(d_context)
    loss = lambda: float(
        (attention.forward(**arrays, bias=bias).context.astype(np.float64) * d_context).sum()
    )  # noqa: E731
    check_gradients(loss, {"bias": bias}, gradients, rng)
    hidden = np.where(rng.random(shape) < 0.5, np.float32(-np.inf), np.float32(0))
    shown = attention.forward(**arrays, mask=hidden == 0).context
    close(attention.forward(**arrays, bias=hidden).context, shown, 1e-6)


def test_other_outputs_and_their_gradients():
    for name, wanted, d_name in (("softmax", "entropy", "d_entropy"), ("guided", "guide_cost", "d_guide_cost")):
        attention, arrays, given, rng = make(name, heads=2)
        result = attention.forward(**arrays, **{wanted: True})
        assert getattr(result, wanted).shape == (B, 2, TQ) and wanted in repr(result)
        d_other = floats(rng, B, 2, TQ)
        gradients = result.backward(**{d_name: d_other})
        loss = lambda: float(
            (getattr(attention.forward(**arrays, **{wanted: True}), wanted) * d_other).sum()
        )  # noqa: E731
        check_gradients(loss, {n: arrays[n] for n in ("queries", "keys")}, gradients, rng)
        assert not gradients["values"].any()
    attention, arrays, given, rng = make("structured")
    result = attention.forward(**arrays, penalty=True)
    assert result.penalty > 0 and result.context.shape == (B, 4, 2)
    gradients = result.backward(d_penalty=0.5)
    loss = lambda: 0.5 * attention.forward(**arrays, penalty=True).penalty  # noqa: E731
    check_gradients(loss, {"keys": arrays["keys"], **attention.parameters}, gradients, rng)


def test_sampling_and_its_log_probability():
    attention, arrays, given, rng = make("hard_sampled", samples=3, heads=2)
    result = attention.forward(**arrays, seed=4)
    assert result.log_prob.shape == (3, B, 2, TQ) and (result.log_prob <= 0).all()
    d_log_prob = floats(rng, *result.log_prob.shape)
    gradients = result.backward(d_log_prob=d_log_prob)
    again = lambda: attention.forward(**arrays, seed=4).log_prob  # noqa: E731
    check_gradients(
        lambda: float((again() * d_log_prob).sum()), {n: arrays[n] for n in ("queries", "keys")}, gradients, rng, 1e-3
    )
    assert np.array_equal(attention.forward(**arrays, seed=4).context, result.context)
    drawn = [attention.forward(**arrays).context for _ in range(4)]
    assert any(not np.array_equal(drawn[0], other) for other in drawn[1:])
    attention.eval()
    assert attention.forward(**arrays).log_prob is None
    expected = heed.Attention("softmax", **attention._given | {"samples": 1}).forward(**arrays).context
    close(attention.forward(**arrays).context, expected, 1e-6)


def test_dropout_only_while_training():
    attention, arrays, _, _ = make("scaled_dot", dropout=0.5)
    assert not np.array_equal(attention.forward(**arrays).context, attention.forward(**arrays).context)
    attention.eval()
    assert np.array_equal(attention.forward(**arrays).context, attention.forward(**arrays).context)


def test_parameters_are_views_that_can_be_assigned():
    attention, arrays, _, rng = make("additive")
    before = attention.forward(**arrays).context.copy()
    view = attention.parameters["score.v"]
    assert view is attention.parameters["score.v"] and view.flags.writeable
    view *= -1
    assert not np.allclose(before, attention.forward(**arrays).context)
    attention.parameters["score.v"] = -view
    close(attention.forward(**arrays).context, before, 1e-6)
    assert list(attention.parameters) == list(heed.parameter_shapes("additive", **attention._given))
    with pytest.raises(heed.Error, match=r"score.v: expected \[3\], got \[4\]"):
        attention.parameters["score.v"] = np.zeros(4, np.float32)
    with pytest.raises(KeyError, match="no parameter score.w; there are: score"):
        attention.parameters["score.w"]
    with pytest.raises(heed.Error, match=r"expected score.query.weight \[3, 4\].*missing: score.v; unknown: w"):
        attention.parameters.load({**{n: a for n, a in attention.parameters.items() if n != "score.v"}, "w": view})
    keep = attention.parameters["score.v"]
    del attention
    assert np.isfinite(keep).all()  # the view keeps its owner


def test_the_seed_decides():
    a, b, c = (heed.Attention("mlp", query_width=3, key_width=3, seed=s).parameters["score.v"] for s in (1, 1, 2))
    assert np.array_equal(a, b) and not np.array_equal(a, c)


def test_fixed_parameters_have_no_gradient():
    attention = heed.Attention("synthesizer_random", query_width=3, key_width=3, max_length=TK, fixed_table=True)
    assert list(attention.parameters) == ["score.table"] and attention.trainable == ()
    result = attention.forward(floats(np.random.default_rng(0), B, TQ, 3), floats(np.random.default_rng(1), B, TK, 3))
    assert set(result.backward(np.ones_like(result.context))) == {"queries", "keys"}


@pytest.mark.parametrize("how", [copy.deepcopy, lambda a: pickle.loads(pickle.dumps(a))])
def test_copies(how):
    attention, arrays, _, _ = make("additive")
    attention.parameters["score.v"][...] += 1
    other = how(attention.eval())
    assert not other.training and other.options == attention.options
    assert np.array_equal(other.forward(**arrays).context, attention.forward(**arrays).context)
    other.parameters["score.v"][...] += 1
    assert not np.array_equal(other.forward(**arrays).context, attention.forward(**arrays).context)


def test_repr():
    attention, arrays, _, _ = make("additive")
    assert repr(attention).startswith("heed.Attention('additive', query_width=4, ") and "score.v [3]" in repr(attention)
    assert "tanh" in repr(attention) and "score.v [3]" in repr(attention.parameters)
    assert repr(attention.forward(**arrays, weights=True)) == "<heed result: context [3, 4, 2], weights [3, 1, 4, 6]>"


def test_names_win_over_presets():
    assert heed.Attention("multi_head", query_width=8, key_width=8).options["heads"] == 4
    assert heed.Attention("multi_head", query_width=8, key_width=8, heads=1).options["heads"] == 1
    assert heed.Attention("concat", query_width=8, key_width=8).name == "additive"


def test_backward_is_taken_once():
    attention, arrays, _, _ = make("additive")
    with pytest.raises(heed.Error, match="expected a forward before it"):
        attention.backward(np.zeros((B, TQ, 2), np.float32))
    result = attention.forward(**arrays)
    result.backward(np.zeros_like(result.context))
    with pytest.raises(heed.Error, match="already taken; call forward again"):
        result.backward(np.zeros_like(result.context))
    result = attention.forward(**arrays, gradient=False)
    with pytest.raises(heed.Error, match="gradient=False"):
        result.backward(np.zeros_like(result.context))


def test_results_outlive_everything_else():
    attention, arrays, _, _ = make("additive")
    context = attention.forward(**arrays, gradient=False).context
    expected = context.copy()
    del attention
    for _ in range(3):
        make("additive")[0].forward(**arrays)
    assert np.array_equal(context, expected) and not context.flags.writeable


def test_refused_in_words():
    attention, arrays, _, _ = make("additive")
    q, k, v = arrays["queries"], arrays["keys"], arrays["values"]
    zeros = np.zeros((B, TQ, 2), np.float32)
    for call, message in (
        (lambda: heed.Attention("additve", key_width=3), "did you mean 'additive'"),
        (lambda: heed.Attention("additive", key_wdth=3), "no option key_wdth; did you mean key_width"),
        (lambda: heed.Attention("additive", key_width="3"), "key_width: expected a whole number, got '3'"),
        (lambda: heed.Attention("additive", key_width=3.0), "key_width: expected a whole number, got 3.0"),
        (lambda: heed.Attention("causal", key_width=3, strict=1), "strict: expected True or False, got 1"),
        (lambda: heed.Attention("mlp", key_width=3, activation=1), "activation: expected a word, got 1"),
        (lambda: heed.Attention("cosine", key_width=3, temperature="a"), "temperature: expected a number, got 'a'"),
        (lambda: heed.Attention("additive"), "key_width must be above 0"),
        (lambda: attention.forward(q[..., :3], k, v), "3 columns, query_width is 4"),
        (lambda: attention.forward(q, k[..., :3], v), "3 columns, key_width is 4"),
        (
            lambda: attention.forward(q, k, v[:, :3]),
            r"values: expected \[3, 6, value_width\] beside keys \[3, 6, 4\], got \[3, 3, 2\]",
        ),
        (lambda: attention.forward(q[:2], k, v), "2 sequences of queries, but 3 in the memory"),
        (
            lambda: attention.forward(q[0], k, v),
            r"queries: expected \[3, Tq, width\], \[3, width\] for one step.*got \[4, 4\]",
        ),
        (
            lambda: attention.forward(q, k, v, key_lengths=[7, 1, 1]),
            r"key_lengths: expected 0 to \[6, 6, 6\], got \[7, 1, 1\]",
        ),
        (lambda: attention.forward(q, k, v, key_lengths=[1, 1]), r"key_lengths: expected shape \[3\], got \[2\]"),
        (
            lambda: attention.forward(q, k, v, mask=np.ones((TQ, 3), bool)),
            r"mask: expected to broadcast to .* = \[3, 1, 4, 6\], got \[4, 3\]",
        ),
        (lambda: attention.forward(q, k, v, mask=zeros), "mask: expected bool"),
        (
            lambda: attention.forward(q.astype(np.float64), k, v),
            "queries: expected float32, got float64; convert with .astype",
        ),
        (lambda: attention.forward(q[0, 0], k, v), r"queries: expected \[B, T, width\]"),
        (lambda: attention.forward(), "expected queries or keys, got neither"),
        (
            lambda: attention.forward(q, k, v).backward(zeros[:1]),
            r"d_context: expected \[3, 4, 2\] like context, got \[1, 4, 2\]",
        ),
        (lambda: attention.forward(q, k, v).backward(), "expected d_context or another gradient, got none"),
        (lambda: attention.forward(q, k, v).backward(d_entropy=zeros), "pass entropy=True to forward first"),
        (
            lambda: attention.forward(k[0], k[0], v[0], query_offsets=[0, 5], key_offsets=[0, 6]),
            "numbers that rise from 0 to 6",
        ),
        (
            lambda: make("learned_query")[0].forward(keys=k, values=v, mask=np.ones((TQ, TK), bool)),
            "this mechanism has its own",
        ),
    ):
        with pytest.raises(heed.Error, match=message):
            call()
