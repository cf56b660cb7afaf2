"""What the tests share: inputs, plain double-precision references, the comparison of gradients, and Ctrl-C."""

import base64
import re
import subprocess
import sys

import numpy as np


def floats(rng, *shape):
    return rng.standard_normal(shape).astype(np.float32)


def softmax(scores):
    """Over the last axis; a row of -inf gives 0."""
    top = scores.max(axis=-1, keepdims=True, initial=-np.inf)
    e = np.exp(scores - np.where(np.isfinite(top), top, 0.0))
    total = e.sum(axis=-1, keepdims=True)
    return np.divide(e, total, out=np.zeros_like(e), where=total > 0)


def dot_attention(q, k, v, *, scale=None, softcap=0.0, visible=None, bias=None, d_out=None):
    """Plain attention of [B, H, Tq, D] on [B, G, Tk, D] in double; with d_out also gradients by name."""
    q, k, v = (np.asarray(x, np.float64) for x in (q, k, v))
    group = q.shape[1] // k.shape[1]
    kh, vh = k.repeat(group, 1), v.repeat(group, 1)
    scale = 1.0 / np.sqrt(q.shape[-1]) if scale is None else scale
    raw = scale * q @ kh.swapaxes(-1, -2)
    capped = softcap * np.tanh(raw / softcap) if softcap else raw
    scores = capped if bias is None else capped + bias
    if visible is not None:
        scores = np.where(visible, scores, -np.inf)
    weights = softmax(scores)
    out = weights @ vh
    if d_out is None:
        return out, weights
    d_out = np.asarray(d_out, np.float64)
    d_weights = d_out @ vh.swapaxes(-1, -2)
    d_scores = weights * (d_weights - (weights * d_weights).sum(-1, keepdims=True))
    d_raw = d_scores * (1.0 - (capped / softcap) ** 2) if softcap else d_scores
    share = lambda x: x.reshape(k.shape[0], k.shape[1], group, *x.shape[2:]).sum(2)  # noqa: E731
    gradients = {
        "q": scale * d_raw @ kh,
        "k": share(scale * d_raw.swapaxes(-1, -2) @ q),
        "v": share(weights.swapaxes(-1, -2) @ d_out),
        "scores": d_scores,
    }
    return out, weights, gradients


def close(found, expected, tolerance=2e-5, floor=1e-3):
    """Within a share of the largest number there, or of `floor` where that is larger."""
    found, expected = np.asarray(found, np.float64), np.asarray(expected, np.float64)
    assert found.shape == expected.shape, (found.shape, expected.shape)
    scale = max(floor, np.abs(expected).max(initial=0.0))
    worst = np.abs(found - expected).max(initial=0.0)
    assert worst <= tolerance * scale, f"off by {worst:.3g} where the largest is {scale:.3g}"


def check_gradients(loss, arrays, gradients, rng, step=1e-2):
    """Of each array along a random direction: central differences of fourth order against what the gradient says.

    loss() reads the arrays, which are put back. Gradients that are off by a share of 2e-3 of their length are found.
    """
    for name, array in arrays.items():
        before, gradient = np.array(array), np.asarray(gradients[name], np.float64)
        assert gradient.shape == array.shape, name
        direction = rng.standard_normal(array.shape)
        direction /= max(np.linalg.norm(direction), 1e-30)
        values = []
        for factor in (-2, -1, 1, 2):
            array[...] = before + factor * step * direction
            values.append(loss())
        array[...] = before
        slope = (values[0] - 8 * values[1] + 8 * values[2] - values[3]) / (12 * step)
        told = float((gradient * direction).sum())
        allowed = 2e-3 * np.linalg.norm(gradient) + 2e-4
        assert abs(slope - told) <= allowed, f"{name}: the slope is {slope:.6g}, the gradient says {told:.6g}"


_CTRL_C = """
import os, signal, sys, threading, time
{setup}
sent = []
def interrupt():
    time.sleep(0.7)
    sent.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt, daemon=True).start()
try:
    work()
    print("done before" if not sent else "not interrupted")
except KeyboardInterrupt:
    print("interrupted", time.monotonic() - sent[0] < 4.0)
{after}
"""


def output_with_ctrl_c(setup, after, argument):
    """What a program prints that gets Ctrl-C while it is in work(), which `setup` defines: "interrupted True" where
    that ended soon; then what `after` prints, of the same process. `argument` is its sys.argv[1]."""
    code = _CTRL_C.format(setup=setup, after=after)
    done = subprocess.run(
        [sys.executable, "-c", code, argument], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, (done.stdout, done.stderr)
    return done.stdout.splitlines()


def drawing_in(html):
    """The SVG in what a notebook shows."""
    return base64.b64decode(re.search('src="data:image/svg\\+xml;base64,([^"]*)"', html)[1]).decode()
