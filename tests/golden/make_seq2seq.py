#!/usr/bin/env python3
"""Writes seq2seq.json: the losses of ten training steps of tiny models, as PyTorch has them.

usage: make_seq2seq.py > seq2seq.json

The models are those of bench/peers/torch_seq2seq.py. The weights have four decimals and are written out, so that both
programs start from the same numbers.
"""
import json
import pathlib
import sys

import numpy
import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench" / "peers"))
import torch_seq2seq  # noqa: E402

STEPS, VOCABULARY, WIDTH = 10, 11, 8


def linear(name, inputs, outputs):
    return {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}


def gru(name, directions):
    shapes = {}
    for direction in directions:
        for what in ("input", "state"):
            shapes.update({f"{name}.0.{direction}.{what}.weight": (3 * WIDTH, WIDTH),
                           f"{name}.0.{direction}.{what}.bias": (3 * WIDTH,)})
    return shapes


def recurrent():
    shapes = {"source.weight": (VOCABULARY, WIDTH), "target.weight": (VOCABULARY, WIDTH)}
    shapes.update(gru("encoder", ("forward", "backward")))
    shapes.update(gru("decoder.recurrent", ("forward",)))
    shapes.update({"decoder.attention.score.query.weight": (2 * WIDTH, WIDTH),
                   "decoder.attention.score.key.weight": (2 * WIDTH, 2 * WIDTH),
                   "decoder.attention.score.bias": (2 * WIDTH,), "decoder.attention.score.v": (2 * WIDTH,)})
    shapes.update(linear("decoder.combine", 3 * WIDTH, WIDTH))
    shapes.update(linear("decoder.bridge.0", 2 * WIDTH, WIDTH))
    shapes.update(linear("output", WIDTH, VOCABULARY))
    return shapes


def norm(name):
    return {f"{name}.norm.gain": (WIDTH,), f"{name}.norm.bias": (WIDTH,)}


def block(name, parts):
    shapes = {}
    for part in parts:
        for what in ("query", "key", "value", "output"):
            shapes.update(linear(f"{name}.{part}.{what}", WIDTH, WIDTH))
    shapes.update(linear(f"{name}.feed_forward.up", WIDTH, 4 * WIDTH))
    shapes.update(linear(f"{name}.feed_forward.down", 4 * WIDTH, WIDTH))
    for part in (*parts, "feed_forward"):
        shapes.update(norm(f"{name}.{part}"))
    return shapes


def transformer(encoder_layers=1, decoder_layers=1, pre_norm=False, wiring="last"):
    shapes = {"source.weight": (VOCABULARY, WIDTH), "output.bias": (VOCABULARY,)}
    for layer in range(encoder_layers):
        shapes.update(block(f"encoder.{layer}", ("self",)))
    for layer in range(decoder_layers):
        shapes.update(block(f"decoder.{layer}", ("self", "source")))
        if wiring == "mix":
            shapes[f"decoder.{layer}.mix"] = (1, encoder_layers)
    if pre_norm:
        shapes.update({**norm("encoder"), **norm("decoder")})
    return shapes


def batch(random, sizes):
    raw = {"source": [], "source_offsets": [0], "target_in": [], "target_out": [], "target_offsets": [0]}
    for source, target in sizes:
        y = [int(t) for t in random.integers(3, VOCABULARY, target)]
        raw["source"] += [int(t) for t in random.integers(3, VOCABULARY, source)]
        raw["target_in"] += [1] + y
        raw["target_out"] += y + [2]
        raw["source_offsets"].append(len(raw["source"]))
        raw["target_offsets"].append(len(raw["target_in"]))
    return raw


def case(kind, shapes, **more):
    random = numpy.random.default_rng(4)
    options = {"kind": kind, "width": WIDTH, "heads": 2, "encoder_layers": 1, "decoder_layers": 1, "dropout": 0.0,
               "label_smoothing": 0.1, "learning_rate": 0.02, "clip": 1.0, **more}
    weights = {name: numpy.round(random.normal(0.0, 0.3, shape) + name.endswith("norm.gain"), 4)
               for name, shape in shapes.items()}
    batches = [batch(random, sizes) for sizes in ([(3, 5), (7, 1), (1, 4)], [(2, 2)])]
    make = torch_seq2seq.Transformer if kind == "transformer" else torch_seq2seq.Recurrent
    model = make(options, {name: torch.tensor(w, dtype=torch.float32) for name, w in weights.items()})
    parameters = list(model.p.values())
    adam = torch.optim.Adam(parameters, lr=options["learning_rate"], betas=(0.9, 0.98), eps=1e-9)
    losses = []
    for step in range(STEPS):
        adam.zero_grad(set_to_none=True)
        loss = model.loss(torch_seq2seq.Batch(batches[step % len(batches)]))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, options["clip"])
        adam.step()
        losses.append(loss.item())
    return {"options": options, "vocabulary": VOCABULARY, "tied": "none" if kind == "rnn" else "all",
            "weights": {name: {"shape": list(w.shape), "values": w.ravel().tolist()} for name, w in weights.items()},
            "batches": batches, "losses": losses}


def main() -> int:
    torch.set_num_threads(1)
    cases = [case("rnn", recurrent()), case("transformer", transformer())]
    for deep in ({"encoder_layers": 2, "decoder_layers": 2, "pre_norm": False, "wiring": "same_block"},
                 {"encoder_layers": 3, "decoder_layers": 2, "pre_norm": True, "wiring": "mix"}):
        cases.append(case("transformer", transformer(**deep), **deep))
    json.dump(cases, sys.stdout, separators=(",", ":"))
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
