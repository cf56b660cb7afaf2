# slow: 5 s
"""Threads inside a call, and around it."""

import threading
import time

import numpy as np
import pytest

import heed
from common import floats, output_with_ctrl_c


@pytest.fixture(autouse=True)
def threads_as_before():
    yield
    heed.set_threads(0)


def test_the_same_bits_for_any_number_of_threads():
    rng = np.random.default_rng(0)
    q, k, v, d_out = (floats(rng, 2, 4, 300, 16) for _ in range(4))
    attention = heed.Attention("additive", query_width=16, key_width=16)
    rows = floats(rng, 2, 200, 16)
    found = []
    for count in (1, 2, 3):
        heed.set_threads(count)
        assert heed.threads() == count
        out, gradient = heed.attend_with_gradient(q, k, v, causal=True)
        context = attention.forward(rows, rows).context.copy()
        found.append([out, *gradient(d_out).values(), context, *attention.backward(context).values()])
    for other in found[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(found[0], other))
    heed.set_threads(0)
    assert heed.threads() >= 1
    with pytest.raises(heed.Error, match="set_threads: expected 0"):
        heed.set_threads(-1)


def share_of_others(call):
    """The processor time that other threads of this process took while `call` ran, per time of this one."""
    time.sleep(0.2)  # workers of an earlier call have gone to sleep
    everyone, mine = time.process_time(), time.thread_time()
    call()
    mine = time.thread_time() - mine
    return (time.process_time() - everyone - mine) / mine


@pytest.mark.parametrize("what", ["attend", "module"])
def test_the_number_of_threads_is_kept(what):
    x = floats(np.random.default_rng(0), 1, 3000, 64)
    attention = heed.Attention("general", query_width=64, key_width=64)
    call = {"attend": lambda: heed.attend(x, x, x), "module": lambda: attention.forward(x, x)}[what]
    heed.set_threads(1)
    assert share_of_others(call) < 0.1
    heed.set_threads(2)
    assert share_of_others(call) > 0.3


def longest_pause(call):
    """How long another Python thread had to wait at most while `call` ran, and how long that took."""
    stop, pauses = threading.Event(), []

    def tick():
        last = time.perf_counter()
        while not stop.is_set():
            time.sleep(0.001)
            now = time.perf_counter()
            pauses.append(now - last)
            last = now

    other = threading.Thread(target=tick)
    other.start()
    start = time.perf_counter()
    call()
    took = time.perf_counter() - start
    stop.set()
    other.join()
    return max(pauses), took


@pytest.mark.parametrize("what", ["attend", "gradient", "weights", "module", "module_backward"])
def test_other_python_threads_run_meanwhile(what):
    heed.set_threads(1)
    rng = np.random.default_rng(0)
    attention = heed.Attention("additive", query_width=64, key_width=64)
    calls = {}
    for size in (500, 1000, 2000, 4000, 8000, 16000, 32000):
        x = floats(rng, 1, size, 64)
        out, gradient = heed.attend_with_gradient(x, x, x)
        calls["attend"] = lambda: heed.attend(x, x, x)
        calls["gradient"] = lambda: gradient(out)
        calls["weights"] = lambda: heed.attend(x, x, x, return_weights=True)
        calls["module"] = lambda: attention.forward(x, x)
        if what == "module_backward":
            result = attention.forward(x, x)
            calls["module_backward"] = lambda: result.backward(result.context)
        pause, took = longest_pause(calls[what])
        if took > 0.3:
            break
    # A call that held the lock would be one pause.
    assert took > 0.1 and pause < 0.5 * took, (pause, took)


def test_many_threads_at_once():
    """One module, used by several threads: every one gets its own gradients."""
    attention = heed.Attention("additive", query_width=8, key_width=8, seed=1)
    inputs = [floats(np.random.default_rng(n), 2, 50, 8) for n in range(4)]

    def once(x):
        result = attention.forward(x, x)
        return result.backward(result.context)

    expected = [once(x) for x in inputs]
    found = [[] for _ in inputs]

    def work(n):
        for _ in range(10):
            found[n].append(once(inputs[n]))

    workers = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for mine, right in zip(found, expected):
        assert len(mine) == 10
        for gradients in mine:
            assert all(np.array_equal(gradients[name], right[name]) for name in right)


def test_instruction_sets():
    best = heed.isa()
    assert heed.available_isas()[0] == best
    x = floats(np.random.default_rng(0), 1, 2, 9, 8)
    expected = heed.attend(x, x, x)
    for name in heed.available_isas():
        heed.use_isa(name)
        assert heed.isa() == name
        np.testing.assert_allclose(heed.attend(x, x, x), expected, rtol=1e-5, atol=1e-6)
    heed.use_isa("")
    assert heed.isa() == best
    with pytest.raises(heed.Error, match="nothing_like_it"):
        heed.use_isa("nothing_like_it")


LONG_CALLS = """
import numpy as np
import heed

heed.set_threads(2)
x = np.zeros((1, 1, 60_000, 64), np.float32)
attention = heed.Attention("forward_only", key_width=8)
work = {
    "attend": lambda: heed.attend(x, x),
    "gradient": lambda: heed.attend_with_gradient(x, x)[1](x),
    "steps": lambda: attention.forward(np.zeros((1, 100_000, 8), np.float32), np.zeros((1, 2_000, 8), np.float32)),
}[sys.argv[1]]
"""


@pytest.mark.parametrize("kind", ("attend", "gradient", "steps"))
def test_ctrl_c_ends_long_calls(kind):
    after = "assert np.isfinite(heed.attend(x[:, :, :5], x[:, :, :5])).all()"
    assert output_with_ctrl_c(LONG_CALLS, after, kind) == ["interrupted True"]
