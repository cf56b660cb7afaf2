#!/usr/bin/env python3
"""Golden values for the layers and the training, by another program: PyTorch in double, gradients by its autograd.

    python3 tests/golden/make_layers.py > tests/golden/layers.json

Needs NumPy and PyTorch (1.13 or later). Inputs are multiples of 1/64, exact in float32, so that float and double start
from the same numbers.
"""
import json
import sys

import numpy as np
import torch
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

torch.set_default_dtype(torch.float64)


class Source:
    """Random numbers on a grid of 1/64."""

    def __init__(self, seed):
        self.random = np.random.RandomState(seed)

    def normal(self, *shape, scale=1.0):
        return torch.tensor(np.round(self.random.standard_normal(shape) * scale * 64) / 64)


def numbers(t):
    """A tensor as a flat list with ten digits."""
    short = [float("%.10g" % v) for v in t.detach().reshape(-1).tolist()]
    return [int(v) if v == int(v) else v for v in short]


def our_name(theirs):
    """weight_ih_l0_reverse -> 0.backward.input.weight"""
    part, what, layer = theirs.split("_")[:3]
    direction = "backward" if theirs.endswith("_reverse") else "forward"
    return "%s.%s.%s.%s" % (layer[1:], direction, {"ih": "input", "hh": "state"}[what], part)


def recurrent(seed, kind, layers, bidirectional, lengths, with_start):
    """Rows are packed: the sequences below each other. States are [layers * directions, batch, hidden]."""
    source = Source(seed)
    width, hidden = 3, 4
    make = {"gru": torch.nn.GRU, "lstm": torch.nn.LSTM}[kind]
    net = make(width, hidden, layers, bidirectional=bidirectional, batch_first=True)
    for p in net.parameters():
        p.data = source.normal(*p.shape, scale=0.5)
    x = [source.normal(n, width).requires_grad_() for n in lengths]
    directions = 2 if bidirectional else 1
    start = [source.normal(layers * directions, len(lengths), hidden).requires_grad_()
             for _ in range(2 if kind == "lstm" else 1)]
    packed = pack_padded_sequence(pad_sequence(x, batch_first=True), lengths, batch_first=True, enforce_sorted=False)
    given = (tuple(start) if kind == "lstm" else start[0]) if with_start else None
    out, final = net(packed, given)
    padded = pad_packed_sequence(out, batch_first=True)[0]
    rows = torch.cat([padded[b, :n] for b, n in enumerate(lengths)])
    final = list(final) if kind == "lstm" else [final]

    results = dict(zip(["rows", "h", "c"], [rows] + final))
    upstream = {key: source.normal(*value.shape) for key, value in results.items()}
    loss = sum((results[key] * upstream[key]).sum() for key in results)
    loss.backward()
    starts = dict(zip(["h", "c"], start)) if with_start else {}
    return {
        "kind": kind, "layers": layers, "bidirectional": bidirectional, "input": width, "hidden": hidden,
        "lengths": lengths, "x": numbers(torch.cat(x)),
        "parameters": {our_name(n): numbers(p) for n, p in net.named_parameters()},
        "start": {key: numbers(value) for key, value in starts.items()},
        "upstream": {key: numbers(value) for key, value in upstream.items()},
        "results": {key: numbers(value) for key, value in results.items()},
        "gradients": {our_name(n): numbers(p.grad) for n, p in net.named_parameters()},
        "d_x": numbers(torch.cat([t.grad for t in x])),
        "d_start": {key: numbers(value.grad) for key, value in starts.items()},
    }


def adam(seed, kind, options):
    """Values of a matrix and a vector after each step. A gradient of null: none arrived."""
    source = Source(seed)
    weight = torch.nn.Parameter(source.normal(2, 3))
    bias = torch.nn.Parameter(source.normal(4))
    optimiser = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[kind]([weight, bias], **options)
    case = {"kind": kind, "options": options, "weight": numbers(weight), "bias": numbers(bias), "steps": []}
    for t in range(6):
        weight.grad = source.normal(2, 3)
        bias.grad = source.normal(4, scale=0.1) if t not in (0, 3) else None
        step = {"d_weight": numbers(weight.grad), "d_bias": None if bias.grad is None else numbers(bias.grad)}
        optimiser.step()
        step.update({"weight": numbers(weight), "bias": numbers(bias)})
        case["steps"].append(step)
    return case


def main():
    recurrents = [
        recurrent(1, "gru", 1, False, [3, 3], False),
        recurrent(2, "lstm", 1, False, [2, 4], True),
        recurrent(3, "gru", 2, True, [4, 1, 3], True),
        recurrent(4, "lstm", 2, True, [1, 5, 2], True),
    ]
    adams = [
        adam(5, "adam", {"lr": 0.125}),
        adam(6, "adam", {"lr": 0.0625, "betas": [0.75, 0.9375], "eps": 1e-3, "weight_decay": 0.25}),
        adam(7, "adamw", {"lr": 0.125, "betas": [0.875, 0.96875], "weight_decay": 0.25}),
    ]

    def lines(cases):
        return ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)

    sys.stdout.write('{"recurrent":[\n%s\n],"adam":[\n%s\n]}\n' % (lines(recurrents), lines(adams)))


if __name__ == "__main__":
    main()
