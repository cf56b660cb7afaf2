#!/usr/bin/env python3
"""Golden values for the kernels, by another program: PyTorch in double, gradients by its autograd.

    python3 tests/golden/make_kernels.py > tests/golden/kernels.json

Needs NumPy and PyTorch (any version). Nothing here shares code with heed: every formula is written again on whole
tensors. Inputs are multiples of 1/64, exact in float32, so that float and double start from the same numbers.
"""
import json
import math
import sys

import numpy as np
import torch

torch.set_default_dtype(torch.float64)
B, H, G, TQ, TK, D, DV = 2, 2, 1, 5, 7, 4, 3
LOWEST = -1e300  # stands for -inf where a logarithm's gradient would otherwise be NaN


class Source:
    """Random numbers on a grid of 1/64."""

    def __init__(self, seed):
        self.random = np.random.RandomState(seed)

    def normal(self, *shape, scale=1.0):
        return torch.tensor(np.round(self.random.standard_normal(shape) * scale * 64) / 64)

    def uniform(self, low, high, *shape):
        return torch.tensor(np.round(self.random.uniform(low, high, shape) * 64) / 64)


def positions(region):
    offset = {"top_left": 0, "bottom_right": TK - TQ, "offset": region.get("query_offset", 0)}
    return torch.arange(TQ)[:, None] + offset[region.get("align", "top_left")]


def visible_pairs(region, x):
    """[B, H, Tq, Tk] of bool."""
    i, j, where = torch.arange(TQ)[:, None], torch.arange(TK)[None, :], positions(region)
    see = torch.ones(B, H, TQ, TK, dtype=torch.bool)
    always = j < region.get("always_visible", 0)
    if "key_lengths" in region:
        see &= (j < torch.tensor(region["key_lengths"])[:, None, None])[:, None]
    if "query_lengths" in region:
        see &= (i < torch.tensor(region["query_lengths"])[:, None, None])[:, None]
    if region.get("causal"):
        see &= (j < where) if region.get("strict") else (j <= where)
    if "window_left" in region:
        see &= (j >= where - region["window_left"]) | always
    if "window_right" in region:
        see &= j <= where + region["window_right"]
    if "query_documents" in region:
        query = torch.tensor(region["query_documents"]).reshape(B, 1, TQ, 1)
        key = torch.tensor(region["key_documents"]).reshape(B, 1, 1, TK)
        see &= (query == key) | always
    if "mask" in region:
        see &= torch.tensor(region["mask"]).reshape(B, 1, TQ, TK) != 0
    if "centre_half_width" in region:
        see &= (j - x["centre"].detach()[..., None]).abs() <= region["centre_half_width"]
    return see


def activation(name, t):
    if name == "gelu":
        return t * 0.5 * (1.0 + torch.erf(t / math.sqrt(2.0)))
    return {"tanh": torch.tanh, "relu": torch.relu}[name](t)


def scores(score, x):
    q, k = x["q"], x["k"].repeat_interleave(H // G, dim=1)
    kind = score["kind"]
    if kind == "inner":
        s = score["scale"] * q @ k.transpose(-1, -2)
    elif kind == "none":
        s = torch.zeros(B, H, TQ, TK)
    else:
        pair = q[:, :, :, None, :] + k[:, :, None, :, :]
        if kind == "tanh_sum":
            v = x["score_v"].reshape(-1, D)[:, None, None, :]
            s = (torch.tanh(pair) * v).sum(-1)
        else:
            hidden = activation(score["activation"], pair)
            for weight, bias in zip(x["layer_weight"], x["layer_bias"]):
                hidden = activation(score["activation"], hidden @ weight.T + bias)
            s = hidden @ x["score_v"]
    cap = score.get("softcap", 0.0)
    return cap * torch.tanh(s / cap) if cap else s


def add_biases(s, bias, region, x):
    j, where = torch.arange(TK)[None, :], positions(region)
    if "bias_tensor" in x:
        s = s + x["bias_tensor"]
    if "alibi_slopes" in x:
        s = s - x["alibi_slopes"][:, None, None] * (where - j).abs()
    if "relative" in x:
        reach = bias["relative_reach"]
        index = (j - where).clamp(-reach, reach) + reach
        table = x["relative"]
        s = s + (table[:, index] if table.dim() == 2 else table[index])
    return s


def force_forward(s, see, first):
    low = torch.where(see, s, torch.tensor(LOWEST))
    column = first if first is not None else torch.full((B, H, TK), LOWEST)
    column = torch.where(torch.isinf(column), torch.tensor(LOWEST), column)
    rows = []
    for t in range(TQ):
        nothing = column < LOWEST / 2
        rows.append(low[:, :, t] - torch.where(nothing, torch.zeros(()), column))
        column = torch.logsumexp(torch.stack([column, low[:, :, t]]), dim=0)
    return torch.stack(rows, dim=2), torch.where(column < LOWEST / 2, torch.tensor(-math.inf), column)


def sparse(kind, s, see):
    """sparsemax and 1.5-entmax by sorting; the support is found without gradient, tau from it with gradient."""
    z = torch.where(see, s, torch.tensor(-1e9))
    z = (z - z.max(-1, keepdim=True)[0].detach()) / (2.0 if kind == "entmax15" else 1.0)
    ordered = z.sort(-1, descending=True)[0]
    count = torch.arange(1, TK + 1)
    if kind == "sparsemax":
        taus = (ordered.cumsum(-1) - 1.0) / count
    else:
        mean = ordered.cumsum(-1) / count
        variance = (ordered**2).cumsum(-1) / count - mean**2
        taus = mean - torch.sqrt(((1.0 - count * variance) / count).clamp(min=1e-300))
    fits = (ordered > taus) if kind == "sparsemax" else (ordered >= taus)
    size = fits.sum(-1, keepdim=True)
    tau = taus.gather(-1, size - 1)
    p = (z - tau).clamp(min=0.0)
    p = p**2 if kind == "entmax15" else p
    return torch.where(see, p, torch.zeros(()))


def attention(case, x, choice):
    region, kind = case["region"], case["normalise"]["kind"]
    see = visible_pairs(region, x)
    some = see.any(-1)
    s = add_biases(scores(case["score"], x), case["bias"], region, x)
    out = {}
    if case.get("forced_forward"):
        s, out["column_lse"] = force_forward(s, see, x.get("column_lse"))
    low = torch.where(see, s, torch.tensor(LOWEST))
    if kind in ("softmax", "argmax", "sampled"):
        extra = [x["sink"][None, :, None, None].expand(B, H, TQ, 1)] if "sink" in x else []
        lse = torch.logsumexp(torch.cat([low] + extra, -1), -1)
        log_p = low - lse[..., None]
        p = torch.where(see, torch.exp(torch.where(see, log_p, torch.zeros(()))), torch.zeros(()))
        out["lse"] = torch.where(some, lse, torch.tensor(-math.inf))
        if not extra:
            out["entropy"] = -(p * torch.where(see, log_p, torch.zeros(()))).sum(-1)
        weights = p
        if kind != "softmax":
            best = low.argmax(-1) if kind == "argmax" else choice
            hot = torch.nn.functional.one_hot(best, TK) * some[..., None]
            out["choice"] = torch.where(some, best, torch.tensor(-1))
            chosen = torch.where(see, log_p, torch.zeros(())).gather(-1, best[..., None])[..., 0]
            out["log_prob"] = torch.where(some, chosen, torch.zeros(()))
            weights = p + (hot - p).detach() if kind == "argmax" else hot.double()
    elif kind in ("sparsemax", "entmax15"):
        weights = sparse(kind, s, see)
    else:
        weights = {"sigmoid": torch.sigmoid, "relu": torch.relu, "identity": lambda t: t}[kind](s)
        weights = torch.where(see, weights, torch.zeros(()))
        if case["normalise"].get("divide_by_visible"):
            weights = weights / see.sum(-1, keepdim=True).clamp(min=1)
    j = torch.arange(TK)
    if region.get("centre_sigma"):
        weights = weights * torch.exp(-((j - x["centre"][..., None]) ** 2) / (2.0 * region["centre_sigma"] ** 2))
    if "guide_sigma" in case:
        tq = torch.tensor(region.get("query_lengths", [TQ] * B)).reshape(B, 1, 1, 1)
        tk = torch.tensor(region.get("key_lengths", [TK] * B)).reshape(B, 1, 1, 1)
        off = torch.arange(TQ)[:, None] / tq - j / tk
        out["guide_cost"] = (weights * (1.0 - torch.exp(-(off**2) / (2.0 * case["guide_sigma"] ** 2)))).sum(-1)
    if "guide_tensor" in x:
        out["guide_cost"] = (weights * x["guide_tensor"]).sum(-1)
    out["weights"] = weights
    out["out"] = weights @ x["v"].repeat_interleave(H // G, dim=1)
    return out


def numbers(t):
    """A tensor as a flat list with ten digits; infinities as text."""
    flat = t.detach().reshape(-1).tolist()
    short = [v if isinstance(v, int) else float("%.10g" % v) for v in flat]
    return [("inf" if v > 0 else "-inf") if math.isinf(v) else (int(v) if v == int(v) else v) for v in short]


def make(seed, name, score=None, normalise="softmax", divide=False, region=None, bias=None, guide=None, forced=None):
    """One case. `bias` maps a kind of bias to its shape; see the list in main()."""
    source = Source(seed)
    score = dict(score or {"kind": "inner"})
    if score["kind"] == "inner":
        score["scale"] = 0.5
    case = {"name": name, "score": score, "normalise": {"kind": normalise, "divide_by_visible": divide},
            "region": dict(region or {}), "bias": {}}
    x = {"q": source.normal(B, H, TQ, D), "k": source.normal(B, G, TK, D), "v": source.normal(B, G, TK, DV)}
    if score["kind"] == "tanh_sum":
        x["score_v"] = source.normal(*((H, D) if score.get("per_head") else (D,)))
    if score["kind"] == "pair_mlp":
        sizes = [D] + score["widths"]
        x["layer_weight"] = [source.normal(o, i, scale=0.6) for i, o in zip(sizes, sizes[1:])]
        x["layer_bias"] = [source.normal(o, scale=0.3) for o in sizes[1:]]
        x["score_v"] = source.normal(sizes[-1])
    for part, shape in (bias or {}).items():
        if part == "tensor":
            case["bias"]["tensor_axes"] = [int(n > 1) for n in shape]
            x["bias_tensor"] = source.normal(*shape)
        elif part == "alibi":
            x["alibi_slopes"] = source.uniform(0.1, 0.6, H)
        elif part == "relative":
            case["bias"]["relative_reach"] = (shape[-1] - 1) // 2
            x["relative"] = source.normal(*shape)
        elif part == "sink":
            x["sink"] = source.normal(H)
    if case["region"].pop("mask", False):
        case["region"]["mask"] = (source.random.uniform(size=(B, TQ, TK)) < 0.6).astype(int).reshape(-1).tolist()
    if "centre_half_width" in case["region"]:
        x["centre"] = source.uniform(0.0, TK - 1.0, B, H, TQ)
    if isinstance(guide, float):
        case["guide_sigma"] = guide
    elif guide:
        x["guide_tensor"] = source.uniform(0.0, 1.0, *guide)
        case["guide_axes"] = [int(n > 1) for n in guide]
    if forced:
        case["forced_forward"] = True
        if forced == "state":
            x["column_lse"] = source.normal(B, H, TK)
            x["column_lse"][0, 0, 1] = -math.inf

    learned = []
    for key, value in x.items():
        if key not in ("guide_tensor", "column_lse"):
            for t in value if isinstance(value, list) else [value]:
                learned.append(t.requires_grad_())
    choice = None
    if normalise == "sampled":  # any visible key will do as the one that was drawn
        noise = torch.tensor(source.random.uniform(0.1, 1.0, (B, H, TQ, TK)))
        choice = (visible_pairs(case["region"], x) * noise).argmax(-1)
    results = attention(case, x, choice)
    wanted = ["out", "guide_cost"]
    extra = {"softmax": ["lse", "entropy"], "argmax": ["entropy"], "sampled": ["log_prob", "entropy"]}
    wanted += extra.get(normalise, [])
    upstream, loss = {}, torch.zeros(())
    for key in wanted:
        if key in results:
            upstream["d_" + key] = source.normal(*results[key].shape)
            finite = torch.isfinite(results[key])
            loss = loss + (torch.where(finite, results[key], torch.zeros(())) * upstream["d_" + key]).sum()
    gradients = dict(zip([id(t) for t in learned], torch.autograd.grad(loss, learned, allow_unused=True)))

    def gradient(t):
        g = gradients[id(t)]
        return numbers(g if g is not None else torch.zeros_like(t))

    case["inputs"] = {k: [numbers(t) for t in v] if isinstance(v, list) else numbers(v) for k, v in x.items()}
    case["upstream"] = {k: numbers(v) for k, v in upstream.items()}
    case["results"] = {k: numbers(v) for k, v in results.items()}
    case["gradients"] = {k: [gradient(t) for t in v] if isinstance(v, list) else gradient(v) for k, v in x.items()
                         if k not in ("guide_tensor", "column_lse")}
    return case


def main():
    inner, additive = {"kind": "inner"}, {"kind": "tanh_sum"}

    def mlp(name, widths):
        return {"kind": "pair_mlp", "activation": name, "widths": widths}

    full = (B, H, TQ, TK)
    cases = [
        make(1, "inner softmax"),
        make(2, "inner softcap", score={"kind": "inner", "softcap": 1.5}),
        make(3, "additive", score=additive, region={"key_lengths": [4, 7], "query_lengths": [5, 3]}, guide=0.25),
        make(4, "additive per head", score={"kind": "tanh_sum", "per_head": True}, region={"causal": True}),
        make(5, "mlp of one layer, relu", score=mlp("relu", [])),
        make(6, "mlp of two layers, tanh", score=mlp("tanh", [5]), region={"causal": True, "strict": True}),
        make(7, "mlp of three layers, gelu", score=mlp("gelu", [5, 3])),
        make(8, "mlp of two layers, relu, sigmoid", score=mlp("relu", [6]), normalise="sigmoid"),
        make(9, "bias only", score={"kind": "none"}, bias={"tensor": full}),
        make(10, "sigmoid, divided", normalise="sigmoid", divide=True,
             region={"causal": True, "align": "bottom_right"}),
        make(11, "relu", normalise="relu", region={"mask": True}),
        make(12, "identity, divided", normalise="identity", divide=True, region={"mask": True},
             guide=(1, H, TQ, TK)),
        make(13, "sparsemax", normalise="sparsemax", region={"window_left": 3, "window_right": 1}),
        make(14, "entmax15", normalise="entmax15", region={"causal": True, "align": "offset", "query_offset": 2}),
        make(15, "entmax15 of additive", score=additive, normalise="entmax15", guide=0.5),
        make(16, "argmax, straight through", normalise="argmax",
             region={"centre_half_width": 3.5, "centre_sigma": 1.75}),
        make(17, "sampled", normalise="sampled", region={"causal": True, "align": "bottom_right"}),
        make(18, "local-p", region={"centre_half_width": 2.75, "centre_sigma": 1.375}, guide=0.5),
        make(19, "local-p of additive, wide", score=additive, region={"centre_half_width": 4.5}),
        make(20, "window with sinks",
             region={"causal": True, "align": "bottom_right", "window_left": 1, "always_visible": 1}),
        make(21, "documents",
             region={"query_documents": [0, 0, 1, 1, 2] * B, "key_documents": [0, 0, 0, 1, 1, 3, 3] * B}),
        make(22, "alibi", bias={"alibi": True}, region={"causal": True, "align": "bottom_right"}),
        make(23, "relative, shared", bias={"relative": (7,)}),
        make(24, "relative, per head", bias={"relative": (H, 5)}, region={"align": "bottom_right"}),
        make(25, "sink", bias={"sink": True}, region={"causal": True}),
        make(26, "bias per key", bias={"tensor": (1, 1, 1, TK)}),
        make(27, "bias per query and head, all kinds", normalise="sparsemax",
             bias={"tensor": (1, H, TQ, 1), "alibi": True, "relative": (H, 3)}),
        make(28, "forced-forward", forced=True, guide=0.25),
        make(29, "forced-forward with a state, additive, causal", score=additive, forced="state",
             region={"causal": True, "align": "bottom_right"}),
    ]
    shape = {"batch": B, "heads": H, "kv_heads": G, "queries": TQ, "keys": TK, "dim": D, "value_dim": DV}
    text = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
    sys.stdout.write('{"shape":%s,"cases":[\n%s\n]}\n' % (json.dumps(shape), text))


if __name__ == "__main__":
    main()
