#!/usr/bin/env python3
"""Golden values for heed/attend, by another program: torch_mechanisms.py in double, gradients by PyTorch's autograd.

    python3 tests/golden/make_mechanisms.py > tests/golden/mechanisms.json

Needs NumPy and PyTorch (1.13 or later). Inputs are multiples of 1/64, exact in float32, so that float and double start
from the same numbers. Nothing is written if in any case
  - the gradients are not those of central differences (torch.autograd.gradcheck), or
  - the same formulas in float32 are further than half of what the test allows: then a choice hangs on the last bits, or
    the tolerance does not fit.
"""
import json
import sys
import zlib
from types import SimpleNamespace

import numpy as np
import torch

import torch_parts
from mechanism_cases import CASES
from torch_mechanisms import attention, options, parameter_shapes

torch.set_default_dtype(torch.float64)
TOLERANCE = 5e-6  # of tests/attend/golden_test.cc


class Source:
    """Random numbers on a grid of 1/64."""

    def __init__(self, seed):
        self.random = np.random.RandomState(seed)

    def normal(self, *shape, scale=1.0):
        return torch.tensor(np.round(self.random.standard_normal(shape) * scale * 64) / 64)

    def bits(self, *shape):
        return torch.tensor(self.random.uniform(size=shape) < 0.6)


def offsets_of(lengths):
    return [0] + np.cumsum(lengths).tolist()


def documents_of(lengths):
    """Rising within a sequence: 0 0 1 1 2 ..."""
    return torch.tensor([i // 2 for n in lengths for i in range(n)], dtype=torch.int32)


class Case:
    """Inputs and parameters of one case, and how to run it."""

    def __init__(self, seed, spec):
        self.spec = spec
        self.o = o = options(**spec.options)
        source = Source(seed)
        self.key_offsets = offsets_of(spec.key_lengths)
        self.query_offsets = None if spec.query_lengths is None else offsets_of(spec.query_lengths)
        n, longest = self.key_offsets[-1], max(spec.key_lengths)
        self.inputs = {"keys": source.normal(n, o.key_width)}
        if o.value_width:
            self.inputs["values"] = source.normal(n, o.value_width)
        self.mask = None
        if spec.query_lengths is not None:
            m = self.query_offsets[-1]
            if not spec.same_rows:
                self.inputs["queries"] = source.normal(m, o.query_width)
            if spec.bias:
                self.inputs["bias"] = source.normal(m, longest + 1)
            if spec.mask:
                self.mask = source.bits(m, longest)
                self.mask[1] = False  # a query that sees nothing
        for name, row in spec.zero_rows.items():
            self.inputs[name][row] = 0.0
        shapes = sorted(parameter_shapes(o).items())
        self.parameters = {name: source.normal(*shape, scale=0.5) for name, shape in shapes}
        self.source = source

    def run(self, inputs, parameters):
        spec = self.spec
        memory = SimpleNamespace(
            keys=inputs["keys"], values=inputs.get("values"), offsets=self.key_offsets, sentences=spec.sentences,
            lengths=spec.lengths, documents=documents_of(spec.key_lengths) if spec.documents else None)
        queries = SimpleNamespace(
            rows=None if spec.query_lengths is None else inputs["keys"] if spec.same_rows else inputs["queries"],
            offsets=self.query_offsets, mask=self.mask, bias=inputs.get("bias"), step=spec.step,
            documents=documents_of(spec.query_lengths) if spec.documents else None)
        return attention(self.o, parameters, memory, queries)

    def outputs(self):
        """What is differentiated."""
        return ["context"] + self.spec.wants

    def trained(self):
        """The names of what has a gradient."""
        fixed = ["score.table"] if self.o.fixed_table else []
        inputs = self.inputs if self.spec.gradients is None else self.spec.gradients
        parameters = self.parameters if self.spec.gradients is None else []
        return [("inputs", n) for n in inputs] + [("parameters", n) for n in parameters if n not in fixed]

    def differentiate(self, dtype, cotangents):
        """Results and gradients, all computed in `dtype`."""
        groups = {group: {name: t.to(dtype).clone().requires_grad_() for name, t in getattr(self, group).items()}
                  for group in ("inputs", "parameters")}
        results = self.run(**groups)
        if cotangents is None:
            cotangents = {name: self.source.normal(*getattr(results, name).shape) for name in self.outputs()}
        loss = sum((getattr(results, name) * cotangents[name].to(dtype)).sum() for name in self.outputs())
        leaves = [groups[group][name] for group, name in self.trained()]
        found = torch.autograd.grad(loss, leaves, allow_unused=True)
        gradients = {"inputs": {}, "parameters": {}}
        for (group, name), leaf, g in zip(self.trained(), leaves, found):
            gradients[group][name] = torch.zeros_like(leaf) if g is None else g
        return results, gradients, cotangents

    def check_gradients(self):
        """Central differences on everything that is differentiable. A row of zeros stays as it is: cosine is not."""
        names = [(g, n) for g, n in self.trained() if n not in self.spec.straight_through]
        if any(g == "parameters" for g, _ in names) and self.spec.straight_through:
            raise ValueError("straight-through: only for cases without parameters")

        def function(*leaves):
            groups = {"inputs": dict(self.inputs), "parameters": dict(self.parameters)}
            for (group, name), leaf in zip(names, leaves):
                if name in self.spec.zero_rows:
                    rows = torch.arange(len(leaf))[:, None] == self.spec.zero_rows[name]
                    leaf = torch.where(rows, torch.zeros_like(leaf), leaf)
                groups[group][name] = leaf
            results = self.run(**groups)
            return tuple(getattr(results, name) for name in self.outputs())

        leaves = [getattr(self, group)[name].clone().requires_grad_() for group, name in names]
        torch.autograd.gradcheck(function, leaves, eps=1e-6, atol=1e-7, rtol=1e-5)


# ------------------------------------------------------------------------------------------------------------- writing

def numbers(t):
    """A tensor as a flat list with nine digits."""
    short = [float("%.9g" % v) for v in t.detach().reshape(-1).tolist()]
    return [int(v) if v == int(v) else v for v in short]


def shaped(t):
    return {"shape": list(t.shape), "values": numbers(t)}


def padded(weights, keys):
    """Weights of each sequence [H, Tq, Tk] -> [B, H, longest Tq, keys] with 0 where there is none."""
    size = [weights[0].shape[0], max(w.shape[1] for w in weights), keys]
    dense = torch.zeros(len(weights), *size)
    for b, w in enumerate(weights):
        dense[b, :, :w.shape[1], :w.shape[2]] = w.detach()
    return dense


def expected(case, results, gradients):
    """Everything that the test compares, by name."""
    out = {name: getattr(results, name) for name in case.outputs()}
    for name in ("weights", "inner_weights"):
        if hasattr(results, name):
            sentences = case.spec.sentences if name == "weights" else None
            longest = max(np.diff(sentences) if sentences else case.spec.key_lengths)
            out[name] = padded(getattr(results, name), longest)
    for group in gradients:
        for name, g in gradients[group].items():
            out["d_%s.%s" % (group, name)] = g
    return out


def largest(t):
    return t.abs().max().item() if t.numel() else 0.0


def check_float(name, truth, plain):
    """How much of the tolerance float32 needs. The rule is that of allowed() in golden_test.cc."""
    scale = max(largest(t) for t in truth.values())
    worst = 0.0
    for part, t in truth.items():
        allowed = TOLERANCE * max(largest(t), 0.1 * scale)
        worst = max(worst, largest(plain[part].double() - t) / allowed)
    if not worst <= 0.5:
        raise ValueError("%s: float32 needs %.2f of the tolerance" % (name, worst))
    return worst


def make(spec):
    case = Case(zlib.crc32(spec.name.encode()), spec)  # a new case leaves the numbers of the others alone
    results, gradients, cotangents = case.differentiate(torch.float64, None)
    truth = expected(case, results, gradients)
    plain = expected(case, *case.differentiate(torch.float32, cotangents)[:2])
    worst = check_float(spec.name, truth, plain)
    case.check_gradients()
    sys.stderr.write("%-55s float32 needs %.3f of the tolerance\n" % (spec.name, worst))
    out = {"name": spec.name, "options": spec.options, "key_offsets": case.key_offsets}
    if spec.query_lengths is not None:
        out["query_offsets"] = case.query_offsets
        out["same_rows"] = spec.same_rows
    if case.mask is not None:
        out["mask"] = case.mask.int().reshape(-1).tolist()
    if spec.documents:
        out["query_documents"] = documents_of(spec.query_lengths).tolist()
        out["key_documents"] = documents_of(spec.key_lengths).tolist()
    for name in ("step", "lengths", "sentences", "training"):
        if getattr(spec, name) is not None:
            out[name] = getattr(spec, name)
    out["inputs"] = {name: shaped(t) for name, t in case.inputs.items()}
    out["parameters"] = {name: shaped(t) for name, t in case.parameters.items()}
    out["fixed"] = ["score.table"] if case.o.fixed_table else []
    out["cotangents"] = {name: numbers(t) for name, t in cotangents.items()}
    out["expected"] = {name: shaped(t) for name, t in truth.items()}
    return out


def sampled(seed):
    """hard_sampled while training: heed draws, so every key that it may draw is written down, with the logarithm of its
    probability and the gradient of that."""
    source = Source(seed)
    spec = SimpleNamespace(options=dict(normalise="hard_sampled", query_width=3, key_width=3, value_width=2, samples=3))
    query_lengths, key_lengths = [2, 1], [3, 4]
    inputs = {"queries": source.normal(3, 3), "keys": source.normal(7, 3), "values": source.normal(7, 2)}
    query_offsets, key_offsets = offsets_of(query_lengths), offsets_of(key_lengths)
    rows = []
    for b in range(2):
        k = inputs["keys"][key_offsets[b]:key_offsets[b + 1]].clone().requires_grad_()
        for i in range(query_offsets[b], query_offsets[b + 1]):
            q = inputs["queries"][i:i + 1].clone().requires_grad_()
            row = []
            for j in range(key_lengths[b]):
                def function(q, k):
                    e = torch_parts.scaled_dot(q, k)
                    return torch_parts.log_prob(e, torch.ones_like(e, dtype=torch.bool), torch.tensor([j]))
                torch.autograd.gradcheck(function, (q, k), eps=1e-6, atol=1e-7, rtol=1e-5)
                value = function(q, k)
                d_q, d_k = torch.autograd.grad(value.sum(), (q, k))
                row.append({"log_prob": numbers(value)[0], "d_query": numbers(d_q), "d_keys": numbers(d_k)})
            rows.append({"sequence": b, "keys": row})
    return {"options": spec.options, "query_offsets": query_offsets, "key_offsets": key_offsets,
            "inputs": {name: shaped(t) for name, t in inputs.items()}, "rows": rows,
            "cotangents": {"context": numbers(source.normal(3, 2)), "log_prob": numbers(source.normal(3, 3))}}


def main():
    torch.set_num_threads(1)
    cases = [make(spec) for spec in CASES]
    names = [case["name"] for case in cases]
    if len(set(names)) < len(names):
        raise ValueError("two cases have the same name")
    text = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
    sys.stdout.write('{"cases":[\n%s\n],"sampled":%s}\n' % (text, json.dumps(sampled(1000), separators=(",", ":"))))


if __name__ == "__main__":
    main()
