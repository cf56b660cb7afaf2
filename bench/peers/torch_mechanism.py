"""Every mechanism of heed/attend as one writes it in PyTorch, for a batch of equally long sequences.

The formulas are those of tests/golden/torch_parts.py, which the golden values are made with. Here they run on the whole
batch at once, masks are made before the clock starts, and where nothing is hidden nothing is masked. Softmax of
an inner product has a second way, PyTorch's fused attention; the faster one takes part.
"""

import pathlib
import sys
from types import SimpleNamespace

import torch

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden"))
import torch_mechanisms as whole  # noqa: E402
import torch_parts as parts  # noqa: E402

FUSED = getattr(torch.nn.functional, "scaled_dot_product_attention", None)
UNMASKED = {
    "softmax": lambda e: torch.softmax(e, -1),
    "hard_sampled": lambda e: torch.softmax(e, -1),
    "relu": torch.relu,
    "sigmoid": torch.sigmoid,
    "identity": lambda e: e,
}


class Batch:
    """One case: options, and what is the same in every run."""

    def __init__(self, spec, fused=False):
        self.fused = fused
        self.o = whole.options(**spec["options"])
        self.spec = spec
        self.pairs = (torch.arange(spec["queries"])[:, None], torch.arange(spec["keys"])[None, :])
        documents = torch.arange(spec["keys"]) // (spec["keys"] // 4)
        ask = SimpleNamespace(query_documents=documents, key_documents=documents,
                              mask=torch.ones(1, spec["keys"], dtype=torch.bool))
        queries = self.pairs[0]
        if self.o.time == "static" or self.o.input == "learned_query":
            queries = queries[:1]
        self.visible = parts.region(self.o, queries, self.pairs[1], ask)
        if spec["lengths"]:
            self.visible = self.visible & (self.pairs[1] < torch.tensor(spec["lengths"])[:, None, None, None])
        self.all_visible = bool(self.visible.all()) and self.o.region != "local_p"
        self.guide = parts.guide(spec["queries"], spec["keys"], self.o.guide_sigma) if self.o.time == "guided" else None

    def can_be_fused(self):
        o = self.o
        inner = o.score in ("scaled_dot", "dot", "general", "intra", "cosine") and not o.learned_temperature
        plain = inner and o.normalise == "softmax" and o.time == "dynamic" and o.structure in ("single", "multi_head")
        return FUSED is not None and plain and not o.softcap and o.position == "none" and (
            o.region != "local_p" and bool(self.visible.any(-1).all()))

    def attend_fused(self, p, q, k, v):
        o = self.o
        scale = {"scaled_dot": None, "cosine": o.temperature}.get(o.score, 1.0)
        if o.score in ("general", "intra"):
            q = q @ p["score.weight"]
        if o.score == "cosine":
            q, k = parts.unit(q), parts.unit(k)
        causal = o.region == "causal" and not o.strict
        mask = None if self.all_visible or causal else self.visible
        return {"context": FUSED(q, k, v, attn_mask=mask, is_causal=causal, scale=scale)}

    # ------------------------------------------------------------------------------------------------- structures
    def heads(self, rows, count):
        """[B, T, H * D] -> [B, H, T, D]"""
        return rows.reshape(*rows.shape[:2], count, -1).transpose(1, 2)

    def linear(self, p, name, rows):
        return torch.nn.functional.linear(rows, p[name + ".weight"], p[name + ".bias"])

    def single(self, p, queries, keys):
        o = self.o
        groups = o.kv_heads or o.heads
        if o.input == "learned_query":
            queries = p["queries"].expand(keys.shape[0], -1, -1)
        elif o.time == "static":
            queries = torch.cat([keys[:, :1], keys[:, -1:]], -1)
        values = keys
        if o.project:
            queries, keys, values = (
                self.linear(p, "query", queries), self.linear(p, "key", keys), self.linear(p, "value", values))
        q = self.heads(queries, o.heads)
        k, v = (self.heads(rows, groups).repeat_interleave(o.heads // groups, 1) for rows in (keys, values))
        result = self.attend(p, q, k, v)
        context = result["context"].transpose(1, 2).flatten(2)
        if o.time == "static":
            context = context.expand(-1, self.spec["queries"], -1)
        result["context"] = self.linear(p, "output", context) if o.project_output else context
        return result

    def attend(self, p, q, k, v):
        o = self.o
        if self.fused:
            return self.attend_fused(p, q, k, v)
        e = whole.score(o, p, q, k).expand(*q.shape[:-1], k.shape[-2])
        visible, factor = self.visible, None
        if o.region == "local_p":
            centre = parts.local_centre(q, k.shape[-2], p["region.weight"], p["region.v"])
            visible = (self.pairs[1] - centre.detach()[..., None]).abs() <= o.window
            factor = parts.gaussian(self.pairs[1], centre, o.sigma or o.window / 2.0)
        visible = visible.expand(e.shape)
        if o.time == "forced_forward":
            e = parts.forced_forward(e, visible)
        if o.time == "forward_only":
            weights = parts.forward_only(o, e, visible)
        elif self.all_visible and o.normalise in UNMASKED:
            weights = UNMASKED[o.normalise](e)
        else:
            weights = parts.normalise(o, e, visible)
        if factor is not None:
            weights = weights * factor
        result = {"context": weights @ v}
        if self.guide is not None:
            result["guide_cost"] = (weights * self.guide).sum(-1)
        return result

    def structured(self, p, _, keys):
        a = torch.softmax(p["queries"] @ torch.tanh(keys @ p["score.weight"].T).transpose(1, 2), -1)
        return {"context": a @ keys}

    def feed_forward(self, p, _, keys):
        a = torch.softmax(torch.tanh(keys @ p["score.weight"][0] + p["score.bias"]), -1)[:, None]
        return {"context": a @ keys}

    def key_value(self, p, _, rows):
        o = self.o
        k, v = rows.chunk(2, -1)
        t, j = self.pairs
        visible = (j < t) & (t - j <= o.window)
        e = parts.additive(k, k, p["score.key.weight"], p["score.query.weight"], torch.zeros(1), p["score.v"])
        a = parts.softmax(e, visible)
        return {"context": torch.tanh(a @ v @ p["output.context.weight"].T + v @ p["output.value.weight"].T)}

    def pool(self, p, level, rows):
        """[B, T, n] -> [B, 2h]"""
        flat = [p[f"{level}.gru.0.{direction}.{part}"] for direction in ("forward", "backward")
                for part in ("input.weight", "state.weight", "input.bias", "state.bias")]
        start = torch.zeros(2, rows.shape[0], self.o.hidden)
        h = torch.gru(rows, start, flat, True, 1, 0.0, False, True, True)[0]
        u = torch.tanh(self.linear(p, level + ".score", h))
        return (torch.softmax(p[level + ".queries"] @ u.transpose(1, 2), -1) @ h)[:, 0]

    def hierarchical(self, p, _, keys):
        vectors = self.pool(p, "word", keys).reshape(-1, self.spec["sentences"], 2 * self.o.hidden)
        return {"context": self.pool(p, "sentence", vectors)}

    def run(self, p, queries, keys):
        run = {"structured": self.structured, "feed_forward": self.feed_forward, "key_value": self.key_value,
               "hierarchical": self.hierarchical}.get(self.o.structure, self.single)
        return run(p, keys if self.spec["same_rows"] else queries, keys)


def prepare(spec, load):
    """The functions that compute the case once, as peer.py wants them."""
    batch = Batch(spec)
    if spec["train"] and batch.o.normalise == "hard_sampled":
        return None  # each draws its own keys
    ways = {"composed": run_of(batch, spec, load)}
    if batch.can_be_fused():
        ways["fused"] = run_of(Batch(spec, fused=True), spec, load)
    return ways


def run_of(batch, spec, load):
    names = list(whole.parameter_shapes(batch.o))
    p = {name: torch.from_numpy(load("parameter_" + name)) for name in names}
    queries, keys = torch.from_numpy(load("queries")), torch.from_numpy(load("keys"))

    if not spec["train"]:

        def forward():
            with torch.no_grad():
                return {"context": batch.run(p, queries, keys)["context"]}

        return forward

    d_context = torch.from_numpy(load("d_context"))
    leaves = {"d_keys": keys, **{"d_parameter_" + name: p[name] for name in names}}
    if spec["asks"] and not spec["same_rows"]:
        leaves["d_queries"] = queries
    for leaf in leaves.values():
        leaf.requires_grad_(True)

    def train():
        results = batch.run(p, queries, keys)
        outputs, seeds = [results["context"]], [d_context.view_as(results["context"])]
        if "guide_cost" in results:
            outputs.append(results["guide_cost"])
            seeds.append(torch.ones_like(results["guide_cost"]))
        gradients = torch.autograd.grad(outputs, list(leaves.values()), seeds, allow_unused=True)
        found = {name: gradient for name, gradient in zip(leaves, gradients) if gradient is not None}
        return {"context": results["context"].detach(), **found}

    return train
