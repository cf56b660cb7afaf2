"""What comes in: nothing is copied, DLPack is spoken, and what is wrong is refused in words."""

import tracemalloc

import numpy as np
import pytest

import heed
from common import close, floats
from heed._attend import _call
from heed._question import Question


class Exporter:
    """Nothing but DLPack, as another library's array."""

    def __init__(self, array, device=(1, 0)):
        self.array = array
        self.where = device
        self.asked = 0

    def __dlpack__(self, *args, **kwargs):
        self.asked += 1
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return self.where


def peak_of(call):
    """Bytes that NumPy had allocated at once while it ran."""
    call()
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


T, H, D = 512, 4, 32


def big(*shape):
    return floats(np.random.default_rng(0), *shape)


LAYOUTS = {
    "heads apart": lambda: (big(1, H, T, D), {}),
    "heads side by side": lambda: (big(1, T, H * D), dict(q_heads=H)),
    "one sequence": lambda: (big(T, H * D), dict(q_heads=H)),
    "ragged": lambda: (big(T, H * D), dict(q_heads=H, query_offsets=[0, 100, T], key_offsets=[0, 100, T])),
    "ragged heads": lambda: (big(T, H, D), dict(query_offsets=[0, 100, T], key_offsets=[0, 100, T])),
}
STRIDED = {
    "transposed": lambda: (big(1, T, H, D).transpose(0, 2, 1, 3), {}),
    "every other": lambda: (big(1, H, 2 * T, D)[:, :, ::2], {}),
    "backwards": lambda: (big(1, H, T, D)[:, :, ::-1], {}),
    "columns first": lambda: (np.asfortranarray(big(1, H, T, D)), {}),
}


@pytest.mark.parametrize("layout", [*LAYOUTS, *STRIDED])
def test_nothing_is_copied(layout):
    x, options = {**LAYOUTS, **STRIDED}[layout]()
    out = np.empty(x.shape, np.float32)
    assert heed.attend(x, x, x, out=out, **options) is out
    assert peak_of(lambda: heed.attend(x, x, x, out=out, **options)) < x.nbytes / 8
    call = _call(x, x, x, Question(**options))
    assert all(np.shares_memory(view, x) for view in call.views)
    close(out, heed.attend(np.array(x), np.array(x), np.array(x), **options), 1e-6)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_scores_with_parameters_read_the_arrays_too(layout):
    """A tape's memory is not NumPy's; what NumPy would copy is counted. The output is copied once, from the tape."""
    x, options = LAYOUTS[layout]()
    out = np.empty(x.shape, np.float32)
    options["score"] = "cosine"
    assert heed.attend(x, x, x, out=out, **options) is out
    assert peak_of(lambda: heed.attend(x, x, x, out=out, **options)) < x.nbytes / 8


def test_modules_read_arrays_without_gaps_where_they_are():
    attention = heed.Attention("general", query_width=D, key_width=D).eval()
    x = big(2, T, D)
    assert peak_of(lambda: attention.forward(x, x, gradient=False)) < x.nbytes / 8
    gaps = big(2, T, 2 * D)[..., ::2]
    close(attention.forward(gaps, gaps).context, attention.forward(np.array(gaps), np.array(gaps)).context, 1e-6)


def test_out_is_written_where_it_lies():
    x = big(2, 3, 5, 4)
    whole = np.zeros((2, 5, 3, 4), np.float32)
    view = whole.transpose(0, 2, 1, 3)
    heed.attend(x, x, x, out=view)
    close(whole.transpose(0, 2, 1, 3), heed.attend(x, x, x), 1e-7)
    for out, message in (
        (np.zeros((2, 3, 5, 3), np.float32), r"out: expected shape \[2, 3, 5, 4\], got \[2, 3, 5, 3\]"),
        (np.zeros((2, 3, 5, 4)), "out: expected float32, got float64"),
        (np.broadcast_to(np.float32(0), (2, 3, 5, 4)), "out: expected a writable array"),
    ):
        with pytest.raises(heed.Error, match=message):
            heed.attend(x, x, x, out=out)


def test_memory_that_is_not_aligned():
    x = big(1, 2, 5, 4)
    odd = np.frombuffer(b"\0" + x.tobytes(), np.float32, offset=1).reshape(x.shape)
    assert not odd.flags.aligned
    assert np.array_equal(heed.attend(odd, odd, odd), heed.attend(x, x, x))


def test_dlpack():
    x = big(1, 2, 5, 4)
    x.flags.writeable = True
    q, k, v = Exporter(x), Exporter(x), Exporter(x)
    assert np.array_equal(heed.attend(q, k, v), heed.attend(x, x, x))
    assert q.asked == 1
    assert np.shares_memory(_call(q, k, v, Question()).views[0], x)
    attention = heed.Attention("additive", query_width=4, key_width=4)
    rows = x[0]
    result = attention.forward(Exporter(rows), Exporter(rows))
    assert np.array_equal(result.context, attention.forward(rows, rows).context)
    attention.parameters["score.v"] = Exporter(np.arange(4, dtype=np.float32))
    assert attention.parameters["score.v"][3] == 3


def test_devices_and_types_are_refused():
    x = big(1, 2, 5, 4)
    for bad, message in (
        (Exporter(x, (2, 0)), "q: expected CPU memory, got an array on DLPack device 2"),
        (x.astype(np.float64), r"q: expected float32, got float64; convert with .astype\(numpy.float32\)"),
        (x.astype(np.float16), "q: expected float32, got float16"),
        (x.astype(np.int32), "q: expected float32, got int32"),
        (Exporter(x.astype(np.float64)), "q: expected float32, got float64"),
        (x.tolist(), "q: expected a NumPy array or an object with __dlpack__, got list"),
        (None, "q: expected a NumPy array or an object with __dlpack__, got NoneType"),
        (x[0, 0, 0], r"q: expected \[B, heads, T, width\], \[B, T, heads \* width\] or \[T, width\], got \[4\]"),
    ):
        with pytest.raises(heed.Error, match=message):
            heed.attend(bad, x, x)
    with pytest.raises(ValueError):  # heed.Error is one
        heed.attend(x.astype(np.float64), x, x)


def test_shapes_are_refused():
    x, other = big(2, 4, 5, 8), big(2, 4, 6, 8)
    flat = big(2, 5, 12)
    for arguments, options, message in (
        (
            (x, other[..., :4], other),
            {},
            r"k: expected \[2, kv_heads, keys, 8\] .* beside q \[2, 4, 5, 8\], got \[2, 4, 6, 4\]",
        ),
        ((x, other[:1], other), {}, r"k: expected \[2, kv_heads, keys, 8\]"),
        ((x, other, x), {}, r"v: expected \[2, 4, 6, width\] .* beside k \[2, 4, 6, 8\], got \[2, 4, 5, 8\]"),
        ((x, big(2, 3, 6, 8), big(2, 3, 6, 8)), {}, "kv_heads: expected a divisor of the 4 heads of q, got 3"),
        ((flat, flat, flat), dict(q_heads=5), r"q: expected a width that is a multiple of 5 heads, got \[2, 5, 12\]"),
        ((x, x, x), dict(q_heads=3), r"q: expected 3 heads, got \[2, 4, 5, 8\]"),
        ((x, x, x), dict(mask=np.ones((5, 4), np.int32)), "mask: expected bool .* or float32 .*, got int32"),
        (
            (x, x, x),
            dict(mask=np.ones((3, 5, 5), bool)),
            r"mask: expected to broadcast to \[B, H, Tq, Tk\] = \[2, 4, 5, 5\], got \[3, 5, 5\]",
        ),
        ((x, x, x), dict(key_lengths=[1.5, 2.0]), "key_lengths: expected whole numbers, got float64"),
        ((x, x, x), dict(key_lengths=[1]), r"key_lengths: expected shape \[2\], got \[1\]"),
        (
            (x, x, x),
            dict(past_key=x[..., :3], past_value=x),
            r"past_key: expected \[2, 4, past length, 8\], got \[2, 4, 5, 3\]",
        ),
        (
            (x, x, x),
            dict(past_key=x[:, :, :2], past_value=x),
            r"past_value: expected 2 rows like past_key, got \[2, 4, 5, 8\]",
        ),
        (
            (flat[0], flat[0], flat[0]),
            dict(query_offsets=[0, 3], key_offsets=[0, 5]),
            r"query_offsets: expected numbers that rise from 0 to 5",
        ),
        (
            (flat[0], flat[0], flat[0]),
            dict(query_offsets=[0, 5], key_offsets=[0, 2, 5]),
            "key_offsets: expected 2 numbers like query_offsets, got 3",
        ),
    ):
        with pytest.raises(heed.Error, match=message):
            heed.attend(*arguments, **options)
    out, gradient = heed.attend_with_gradient(x, x, x)
    with pytest.raises(heed.Error, match=r"d_out: expected \[2, 4, 5, 8\] like the output, got \[2, 4, 5, 1\]"):
        gradient(out[..., :1])
