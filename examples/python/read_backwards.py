#!/usr/bin/env python3
"""Attention learns to read backwards: each output step must find the input letter that mirrors it.

Nothing but NumPy and heed.Attention: a table of vectors for letters and positions, additive attention, plain gradient
descent on what backward() gives. Prints the loss, then the weights of one word as a picture.

    PYTHONPATH=build/python python3 examples/python/read_backwards.py
"""

import numpy as np

import heed

LETTERS, LENGTH, WIDTH, BATCH = 8, 6, 16, 64
rng = np.random.default_rng(0)
letters = rng.standard_normal((LETTERS, WIDTH)).astype(np.float32)
places = rng.standard_normal((LENGTH, WIDTH)).astype(np.float32)
read_out = (0.1 * rng.standard_normal((WIDTH, LETTERS))).astype(np.float32)
attention = heed.Attention("additive", query_width=WIDTH, key_width=WIDTH, value_width=WIDTH, seed=1)


def forward(words):
    """words [B, LENGTH] -> the result of the attention and the scores of each letter [B, LENGTH, LETTERS]."""
    values = letters[words]
    keys = values + places
    queries = np.ascontiguousarray(np.broadcast_to(places, (len(words), LENGTH, WIDTH)))
    result = attention.forward(queries, keys, values, weights=True)
    return result, result.context @ read_out


def train(steps, rate=0.5):
    for step in range(steps):
        words = rng.integers(LETTERS, size=(BATCH, LENGTH))
        wanted = words[:, ::-1]
        result, scores = forward(words)
        e = np.exp(scores - scores.max(-1, keepdims=True))
        probability = e / e.sum(-1, keepdims=True)
        chosen = np.take_along_axis(probability, wanted[..., None], -1)
        d_scores = probability.copy()
        np.put_along_axis(d_scores, wanted[..., None], chosen - 1.0, -1)
        d_scores /= wanted.size
        gradients = attention.backward(d_scores @ read_out.T)
        read_out[...] -= rate * np.einsum("btw,btl->wl", result.context, d_scores)
        for name in attention.trainable:
            attention.parameters[name] -= rate * gradients[name]
        if step % (steps // 5) == 0 or step == steps - 1:
            print(
                f"step {step:4d}   loss {-np.log(chosen).mean():.3f}   right {(scores.argmax(-1) == wanted).mean():.0%}"
            )
    return (scores.argmax(-1) == wanted).mean()


def main():
    right = train(250)
    result, _ = forward(rng.integers(LETTERS, size=(1, LENGTH)))
    print("\nwhere each step looks (rows: output, columns: input):")
    for row in result.weights[0, 0]:
        print("   " + " ".join(" .:-=+*#%@"[min(9, int(10 * weight))] * 2 for weight in row))
    return 0 if right > 0.95 else 1


if __name__ == "__main__":
    raise SystemExit(main())
