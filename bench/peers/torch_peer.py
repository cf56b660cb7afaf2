"""PyTorch: its fused scaled_dot_product_attention, and what else it offers for a case, whichever is faster here.

Versions without that function (before 2.0) run the composition that one writes by hand.
"""

import torch

import peer

FUSED = getattr(torch.nn.functional, "scaled_dot_product_attention", None)


def composed(spec):
    """q, k, v -> out by products of whole matrices, as one writes it by hand."""
    scale = spec["dim"] ** -0.5
    hidden = torch.ones(spec["queries"], spec["keys"], dtype=torch.bool).triu(1) if spec["causal"] else None
    group = spec["heads"] // spec["kv_heads"]

    def compose(q, k, v):
        q = q.unflatten(1, (-1, group)).flatten(2, 3)  # heads of a group are rows of one product
        scores = torch.matmul(q * scale, k.transpose(-2, -1))
        if hidden is not None:
            scores = scores.masked_fill(hidden, float("-inf"))
        out = torch.matmul(torch.softmax(scores, dim=-1), v)
        return out.unflatten(2, (group, -1)).flatten(1, 2)

    return compose


def ways_inner(spec):
    """{name: function of q, k, v}"""
    ways = {}
    if FUSED is not None and spec["heads"] == spec["kv_heads"]:
        ways["fused"] = lambda q, k, v: FUSED(q, k, v, is_causal=spec["causal"])
    elif FUSED is not None:
        group = spec["heads"] // spec["kv_heads"]
        ways["enable_gqa"] = lambda q, k, v: FUSED(q, k, v, enable_gqa=True)
        # The one query of every head of a group as rows of one head: keys and values are then read once.
        ways["fused, heads as rows"] = lambda q, k, v: FUSED(
            q.view(q.shape[0], -1, group, q.shape[3]), k, v).view(q.shape)
    if spec["queries"] * spec["keys"] <= 1 << 26:  # more scores at once than that are gigabytes
        ways["composed"] = composed(spec)
    return ways


def attention_additive(q, k, v, score_v):
    scores = torch.matmul(torch.tanh(q[..., :, None, :] + k[..., None, :, :]), score_v)
    return torch.matmul(torch.softmax(scores, dim=-1), v)


def forward_of(call, tensors):
    def forward():
        with torch.no_grad():
            return {"out": call(*tensors)}

    return forward


def training_of(call, tensors, names, d_out):
    def train():
        out = call(*tensors)
        gradients = torch.autograd.grad(out, tensors, d_out)
        return {"out": out.detach(), **{"d_" + name: gradient for name, gradient in zip(names, gradients)}}

    return train


class Torch:
    name = "torch"

    def about(self):
        about = {"version": torch.__version__.partition("+")[0], "fused": FUSED is not None}
        if hasattr(torch.backends, "cpu"):
            about["instruction set"] = torch.backends.cpu.get_cpu_capability()
        return about

    def use_threads(self, threads):
        torch.set_num_threads(threads)
        peer.limit_openblas(threads)

    def ways(self, spec):
        """{name: function} of q, k, v, and the v of additive scores."""
        return {"": attention_additive} if spec["score"] == "tanh_sum" else ways_inner(spec)

    def prepare(self, spec, load, threads):
        if "mechanism" in spec:
            import torch_mechanism  # only here: it needs the formulas of tests/golden

            return torch_mechanism.prepare(spec, load)
        if spec["window"] >= 0:
            return None  # only by a mask over all pairs, which is another question
        names = ["q", "k", "v"] + (["score_v"] if spec["score"] == "tanh_sum" else [])
        tensors = [torch.from_numpy(load(name)) for name in names]
        ways = self.ways(spec)
        if not spec["train"]:
            return {way: forward_of(call, tensors) for way, call in ways.items()} or None
        for tensor in tensors:
            tensor.requires_grad_(True)
        d_out = torch.from_numpy(load("d_out"))
        return {way: training_of(call, tensors, names, d_out) for way, call in ways.items()} or None


if __name__ == "__main__":
    peer.serve(Torch())
