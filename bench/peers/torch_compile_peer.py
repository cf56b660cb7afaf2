"""PyTorch's compiler on additive attention, where it makes one loop of what eager PyTorch computes pair by pair.

Needs a C++ compiler at run time, and some seconds for each case before the clock starts.
"""

import os

os.environ["TORCHINDUCTOR_FORCE_DISABLE_CACHES"] = "1"  # code on disk may be of another number of threads
import torch  # noqa: E402

import peer  # noqa: E402
import torch_peer  # noqa: E402


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
        return super().prepare(spec, load, threads) if spec.get("score") == "tanh_sum" else None

    def ways(self, spec):
        return {"": torch.compile(attention_additive, dynamic=False)}  # again for each number of threads


if __name__ == "__main__":
    peer.serve(TorchCompile())
