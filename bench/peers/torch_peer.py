"""PyTorch, any version.

Its fused scaled_dot_product_attention where it has one, else the composition one writes by hand.
"""

import torch

import peer


def attention_inner(spec):
    fused = getattr(torch.nn.functional, "scaled_dot_product_attention", None)
    if fused is not None:
        return lambda q, k, v: fused(q, k, v, is_causal=spec["causal"])
    scale = spec["dim"] ** -0.5
    hidden = torch.ones(spec["queries"], spec["keys"], dtype=torch.bool).triu(1) if spec["causal"] else None

    def compose(q, k, v):
        scores = torch.matmul(q * scale, k.transpose(-2, -1))
        if hidden is not None:
            scores = scores.masked_fill(hidden, float("-inf"))
        return torch.matmul(torch.softmax(scores, dim=-1), v)

    return compose


def attention_additive(q, k, v, score_v):
    scores = torch.matmul(torch.tanh(q[..., :, None, :] + k[..., None, :, :]), score_v)
    return torch.matmul(torch.softmax(scores, dim=-1), v)


class Torch:
    name = "torch"

    def about(self):
        return {"version": torch.__version__, "fused": hasattr(torch.nn.functional, "scaled_dot_product_attention")}

    def use_threads(self, threads):
        torch.set_num_threads(threads)
        peer.limit_openblas(threads)

    def prepare(self, spec, load, threads):
        if "mechanism" in spec:
            import torch_mechanism  # only here: it needs the formulas of tests/golden

            return torch_mechanism.prepare(spec, load)
        if spec["window"] >= 0:
            return None  # only by a mask over all pairs, which is another question
        if spec["queries"] * spec["keys"] > 1 << 26 and not self.about()["fused"]:
            return None  # all scores in memory at once: gigabytes
        names = ["q", "k", "v"]
        call = attention_inner(spec)
        if spec["score"] == "tanh_sum":
            names.append("score_v")
            call = attention_additive
        tensors = [torch.from_numpy(load(name)) for name in names]
        if not spec["train"]:

            def forward():
                with torch.no_grad():
                    return {"out": call(*tensors)}

            return forward

        for tensor in tensors:
            tensor.requires_grad_(True)
        d_out = torch.from_numpy(load("d_out"))

        def train():
            out = call(*tensors)
            gradients = torch.autograd.grad(out, tensors, d_out)
            results = {"d_" + name: gradient for name, gradient in zip(names, gradients)}
            return {"out": out.detach(), **results}

        return train


if __name__ == "__main__":
    peer.serve(Torch())
