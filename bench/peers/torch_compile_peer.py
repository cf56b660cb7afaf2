"""PyTorch's compiler on additive attention, where it makes one loop of what eager PyTorch computes pair by pair.

Needs a C++ compiler at run time, and some seconds for each case before the clock starts.
"""

import torch

import peer
import torch_peer


def attention_additive(q, k, v, score_v):
    # Product and sum instead of matmul: so the compiler keeps the tanh of all pairs out of memory.
    scores = (torch.tanh(q[..., :, None, :] + k[..., None, :, :]) * score_v).sum(-1)
    return torch.matmul(torch.softmax(scores, dim=-1), v)


class TorchCompile(torch_peer.Torch):
    name = "torch_compile"

    def about(self):
        if not hasattr(torch, "compile"):
            raise RuntimeError("this PyTorch has no compiler")
        return super().about()

    def prepare(self, spec, load, threads):
        if spec.get("score") != "tanh_sum":
            return None
        torch._dynamo.reset()  # compiled code keeps the number of threads it was compiled for
        return super().prepare(spec, load, threads)

    def ways(self, spec):
        return {"": torch.compile(attention_additive, dynamic=False)}


if __name__ == "__main__":
    peer.serve(TorchCompile())
