#!/usr/bin/env python3
"""Writes tests/golden/imports/opennmt/: a small LSTM with random weights in the old format of torch.save() as OpenNMT-py has
it, the same tensors in the format of today, and what NumPy says of it in double precision: log-probabilities and greedy
outputs. Nothing of PyTorch or OpenNMT-py is needed: only the names of their classes are in such files.

usage: make_opennmt.py       with NumPy
"""
import argparse
import collections
import io
import json
import pathlib
import pickle
import shutil
import struct
import sys
import types
import zipfile

import numpy

HERE = pathlib.Path(__file__).parent / "imports" / "opennmt"
WIDTH, LAYERS = 8, 2
SOURCE = ["<unk>", "<blank>"] + list("abcdef")
TARGET = ["<unk>", "<blank>", "<s>", "</s>"] + list("uvwxyz")


def fake(module, name, kind=type):
    """A class or function that pickle finds where the real one would be."""
    for part in (module.rpartition(".")[0], module):
        if part and part not in sys.modules:
            sys.modules[part] = types.ModuleType(part)
    made = type(name, (), {"__module__": module}) if kind is type else types.FunctionType(
        (lambda *_: None).__code__, {}, name)
    made.__module__, made.__qualname__ = module, name
    setattr(sys.modules[module], name, made)
    return made


Storage = fake("torch", "FloatStorage")
rebuild = {version: fake("torch._utils", version, None) for version in ("_rebuild_tensor", "_rebuild_tensor_v2")}
Vocab = fake("torchtext.vocab", "Vocab")


class Stored:
    """The numbers of a tensor, which stand outside of the pickle."""

    def __init__(self, key, numbers):
        self.key, self.numbers = key, numbers


class Tensor:
    def __init__(self, key, numbers, version):
        self.stored, self.shape, self.version = Stored(key, numbers), numbers.shape, version

    def __reduce__(self):
        strides, step = [], 1
        for extent in reversed(self.shape):
            strides.insert(0, step)
            step *= extent
        more = (False, collections.OrderedDict()) if self.version.endswith("v2") else ()
        return rebuild[self.version], (self.stored, 0, tuple(self.shape), tuple(strides)) + more


class Pickler(pickle._Pickler):
    def __init__(self, file, old):
        super().__init__(file, protocol=2)
        self.old, self.kept = old, {}

    def persistent_id(self, value):
        if not isinstance(value, Stored):
            return None
        self.kept[value.key] = value.numbers
        return ("storage", Storage, value.key, "cpu", value.numbers.size) + ((None,) if self.old else ())


def dumped(value, old):
    file = io.BytesIO()
    pickler = Pickler(file, old)
    pickler.dump(value)
    return file.getvalue(), pickler.kept


def write_old(path, value):
    objects, kept = dumped(value, True)
    with open(path, "wb") as file:
        for part in (0x1950A86A20F9469CFC6C, 1001, {"protocol_version": 1001, "little_endian": True}):
            file.write(pickle.dumps(part, protocol=2))
        file.write(objects)
        file.write(pickle.dumps(sorted(kept), protocol=2))
        for key in sorted(kept):
            file.write(struct.pack("<q", kept[key].size) + kept[key].tobytes())


def write_zip(path, value):
    objects, kept = dumped(value, False)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("model/data.pkl", objects)
        archive.writestr("model/byteorder", "little")
        for key, numbers in kept.items():
            archive.writestr(f"model/data/{key}", numbers.tobytes())
        archive.writestr("model/version", "3\n")


def make_weights():
    random, half = numpy.random.default_rng(3), WIDTH // 2
    w = {}

    def make(name, *shape):
        w[name] = random.normal(0, 0.6, shape).astype(numpy.float32)

    make("encoder.embeddings.emb_luts.0.weight", len(SOURCE), WIDTH)
    make("decoder.embeddings.emb_luts.0.weight", len(TARGET), WIDTH)
    for layer in range(LAYERS):
        for way in ("", "_reverse"):
            make(f"encoder.rnn.weight_ih_l{layer}{way}", 4 * half, WIDTH)
            make(f"encoder.rnn.weight_hh_l{layer}{way}", 4 * half, half)
            make(f"encoder.rnn.bias_ih_l{layer}{way}", 4 * half)
            make(f"encoder.rnn.bias_hh_l{layer}{way}", 4 * half)
        make(f"decoder.rnn.layers.{layer}.weight_ih", 4 * WIDTH, 2 * WIDTH if layer == 0 else WIDTH)
        make(f"decoder.rnn.layers.{layer}.weight_hh", 4 * WIDTH, WIDTH)
        make(f"decoder.rnn.layers.{layer}.bias_ih", 4 * WIDTH)
        make(f"decoder.rnn.layers.{layer}.bias_hh", 4 * WIDTH)
    make("decoder.attn.linear_in.weight", WIDTH, WIDTH)
    make("decoder.attn.linear_out.weight", WIDTH, 2 * WIDTH)
    make("0.weight", len(TARGET), WIDTH)
    make("0.bias", len(TARGET))
    return w


class Model:
    def __init__(self, weights):
        self.w = {name: numbers.astype(numpy.float64) for name, numbers in weights.items()}

    def cell(self, x, h, c, names):
        wi, wh, bi, bh = (self.w[n] for n in names)
        i, f, g, o = numpy.split(wi @ x + bi + wh @ h + bh, 4)
        sigmoid = lambda v: 1 / (1 + numpy.exp(-v))
        c = sigmoid(f) * c + sigmoid(i) * numpy.tanh(g)
        return sigmoid(o) * numpy.tanh(c), c

    def encode(self, ids):
        rows, states = self.w["encoder.embeddings.emb_luts.0.weight"][ids], []
        for layer in range(LAYERS):
            sides, ends = [], []
            for way in ("", "_reverse"):
                names = [f"encoder.rnn.{part}_l{layer}{way}" for part in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
                h = c = numpy.zeros(WIDTH // 2)
                out = []
                for x in rows[::-1] if way else rows:
                    h, c = self.cell(x, h, c, names)
                    out.append(h)
                sides.append(numpy.stack(out[::-1] if way else out))
                ends.append((h, c))
            rows = numpy.concatenate(sides, 1)
            states.append(tuple(numpy.concatenate(part) for part in zip(*ends)))
        return rows, states

    def step(self, token, feed, states, memory):
        x = numpy.concatenate([self.w["decoder.embeddings.emb_luts.0.weight"][token], feed])
        new = []
        for layer, (h, c) in enumerate(states):
            names = [f"decoder.rnn.layers.{layer}.{part}" for part in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
            h, c = self.cell(x, h, c, names)
            new.append((h, c))
            x = h
        scores = memory @ (self.w["decoder.attn.linear_in.weight"] @ x)
        weights = numpy.exp(scores - scores.max())
        context = weights / weights.sum() @ memory
        feed = numpy.tanh(self.w["decoder.attn.linear_out.weight"] @ numpy.concatenate([context, x]))
        logits = self.w["0.weight"] @ feed + self.w["0.bias"]
        return feed, new, logits - numpy.log(numpy.exp(logits).sum())

    def score(self, source, target):
        memory, states = self.encode([SOURCE.index(t) for t in source])
        feed, token, logs = numpy.zeros(WIDTH), 2, []
        for wanted in [TARGET.index(t) for t in target] + [3]:
            feed, states, log_p = self.step(token, feed, states, memory)
            logs.append(float(log_p[wanted]))
            token = wanted
        return logs

    def greedy(self, source, longest):
        memory, states = self.encode([SOURCE.index(t) for t in source])
        feed, token, written = numpy.zeros(WIDTH), 2, []
        while len(written) < longest:
            feed, states, log_p = self.step(token, feed, states, memory)
            log_p[:3] = -numpy.inf  # heed never writes <unk> and <s>, nor <blank>, which no target has
            token = int(log_p.argmax())
            if token == 3:
                break
            written.append(TARGET[token])
        return written


def main():
    shutil.rmtree(HERE, ignore_errors=True)
    HERE.mkdir(parents=True)
    weights = make_weights()

    def tensors(keep, version):
        names = [n for n in weights if n.startswith("0.") != keep]
        return collections.OrderedDict((n, Tensor(str(list(weights).index(n)), weights[n], version)) for n in names)

    vocabularies = []
    for side, tokens in (("src", SOURCE), ("tgt", TARGET)):
        vocabulary = Vocab()
        vocabulary.__dict__.update(freqs=collections.Counter(tokens), itos=tokens,
                                   stoi=collections.defaultdict(dict, {t: i for i, t in enumerate(tokens)}))
        vocabularies.append((side, vocabulary))
    told = argparse.Namespace(model_type="text", encoder_type="brnn", decoder_type="rnn", rnn_type="LSTM", input_feed=1,
                              global_attention="general", copy_attn=False, coverage_attn=False, enc_layers=LAYERS,
                              dec_layers=LAYERS, rnn_size=WIDTH, src_word_vec_size=WIDTH, tgt_word_vec_size=WIDTH,
                              position_encoding=False, lambda_coverage=1, dropout=0.3)
    write_old(HERE / "model.pt", {"model": tensors(True, "_rebuild_tensor"), "generator": tensors(False, "_rebuild_tensor"),
                                  "vocab": vocabularies, "opt": told, "epoch": 13, "optim": None})
    write_zip(HERE / "zip.pt", {"model": tensors(True, "_rebuild_tensor_v2"),
                                "generator": tensors(False, "_rebuild_tensor_v2"), "vocab": vocabularies, "opt": told})
    model, pairs = Model(weights), []
    for source, target in (("abc", "uvw"), ("a", "z"), ("fedcba", ""), ("bbbb", "xyzzy"), ("cafe", "uuuuuuuu")):
        pairs.append({"source": " ".join(source), "target": " ".join(target), "log_probs": model.score(source, target),
                      "greedy": " ".join(model.greedy(source, 12))})
    (HERE / "expected.json").write_text(json.dumps({"pairs": pairs}))


if __name__ == "__main__":
    main()
