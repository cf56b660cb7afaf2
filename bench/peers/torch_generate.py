#!/usr/bin/env python3
"""Writes texts with heed's Transformer of running text in PyTorch, token by token, with a cache of keys and values.

Requests are JSON lines on standard input, replies on standard output, as heed-bench-generate's (bench/generate/main.cc).
Written the way PyTorch is commonly used: inference mode, caches of full size that are filled in place, one product for
queries, keys and values, scaled_dot_product_attention.
"""
import json
import math
import pathlib
import sys
import time

import torch
import torch.nn.functional as F

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import heed_model  # noqa: E402


class Peer:
    def open(self, folder):
        folder = pathlib.Path(folder)
        self.o = json.loads((folder / "options.json").read_text())
        weights = heed_model.read_safetensors(folder / "weights.safetensors")
        self.p = {name: torch.from_numpy(value) for name, value in weights.items()}
        for layer in range(self.o["layers"]):
            name = f"decoder.{layer}.self"
            for what in ("weight", "bias"):
                parts = [self.p.get(f"{name}.{part}.{what}") for part in ("query", "key", "value")]
                self.p[f"{name}.all.{what}"] = torch.cat(parts) if parts[0] is not None else None
        return {}

    def linear(self, x, name):
        return F.linear(x, self.p[f"{name}.weight"], self.p.get(f"{name}.bias"))

    def norm(self, x, name):
        return F.layer_norm(x, x.shape[-1:], self.p[f"{name}.norm.gain"], self.p[f"{name}.norm.bias"], 1e-5)

    def around(self, x, name, part):
        return x + part(self.norm(x, name)) if self.o["pre_norm"] else self.norm(x + part(x), name)

    def attention(self, x, layer, step):
        name = f"decoder.{layer}.self"
        q, k, v = self.linear(x, f"{name}.all").view(3, self.o["heads"], 1, -1)
        keys, values = self.caches[layer]
        keys[:, step], values[:, step] = k[:, 0], v[:, 0]
        first = max(0, step - self.o["context"])
        context = F.scaled_dot_product_attention(q[None], keys[None, :, first : step + 1], values[None, :, first : step + 1])
        return self.linear(context.reshape(1, -1), f"{name}.output")

    def feed_forward(self, x, layer):
        name = f"decoder.{layer}.feed_forward"
        return self.linear(F.relu(self.linear(x, f"{name}.up")), f"{name}.down")

    @torch.inference_mode()
    def run(self, threads, tokens):
        torch.set_num_threads(threads)
        table = self.p["text.weight"]
        width = table.shape[1]
        begin = time.perf_counter()
        places = torch.from_numpy(heed_model.places(tokens, width))
        size = width // self.o["heads"]
        self.caches = [(torch.empty(self.o["heads"], tokens, size), torch.empty(self.o["heads"], tokens, size))
                       for _ in range(self.o["layers"])]
        token, said = heed_model.START, []
        for step in range(tokens):
            x = table[token][None] * math.sqrt(width) + places[step]
            for layer in range(self.o["layers"]):
                x = self.around(x, f"decoder.{layer}.self", lambda r, n=layer: self.attention(r, n, step))
                x = self.around(x, f"decoder.{layer}.feed_forward", lambda r, n=layer: self.feed_forward(r, n))
            if self.o["pre_norm"]:
                x = self.norm(x, "decoder")
            token = int(F.linear(x, self.p["output.weight"], self.p["output.bias"]).argmax())
            said.append(token)
        return {"seconds": time.perf_counter() - begin, "tokens": said}

    def hello(self):
        return {"version": torch.__version__.partition("+")[0]}


if __name__ == "__main__":
    sys.exit(heed_model.serve(Peer()))
