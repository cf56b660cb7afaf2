#!/usr/bin/env python3
"""Trains heed's sequence-to-sequence models in PyTorch: the same weights to start from, the same batches, loss and Adam.

Requests are JSON lines on standard input, replies on standard output, as heed-bench-train's (bench/train/main.cc):

    {"op": "open", "folder": FOLDER}                options.json, batches.json and weights.safetensors in it
    {"op": "losses", "updates": N}                  of the first updates, without dropout
    {"op": "run", "threads": N, "updates": N, "training": N}    seconds and target tokens of the next updates
    {"op": "memory"}                                peak of the process so far

Written the way PyTorch is commonly used: padded batches, nn.GRU on packed sequences, one product for all heads,
scaled_dot_product_attention and the fused Adam where this PyTorch has them.
"""
import json
import math
import pathlib
import resource
import sys
import time

import torch
import torch.nn.functional as F

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import heed_model  # noqa: E402


def tensors(arrays):
    return {name: torch.from_numpy(value) for name, value in arrays.items()}


def padded(ids, offsets):
    """-> [B, longest], mask of what is there."""
    lengths = [b - a for a, b in zip(offsets, offsets[1:])]
    rows = torch.zeros(len(lengths), max(lengths), dtype=torch.long)
    there = torch.zeros(len(lengths), max(lengths), dtype=torch.bool)
    for row, (begin, length) in enumerate(zip(offsets, lengths)):
        rows[row, :length] = torch.tensor(ids[begin : begin + length])
        there[row, :length] = True
    return rows, there


class Batch:
    def __init__(self, raw):
        if "source" in raw:
            self.source, self.source_there = padded(raw["source"], raw["source_offsets"])
        self.target_in, self.target_there = padded(raw["target_in"], raw["target_offsets"])
        self.target_out, _ = padded(raw["target_out"], raw["target_offsets"])
        self.tokens = len(raw["target_out"])


class Model:
    def __init__(self, options, weights):
        self.o = options
        self.places = {}  # by length
        self.p = {name: torch.nn.Parameter(value) for name, value in weights.items()}

    def linear(self, x, name):
        return F.linear(x, self.p[f"{name}.weight"], self.p.get(f"{name}.bias"))

    def norm(self, x, name):
        return F.layer_norm(x, x.shape[-1:], self.p[f"{name}.norm.gain"], self.p[f"{name}.norm.bias"], 1e-5)

    def drop(self, x):
        return F.dropout(x, self.o["dropout"], training=True)

    def output(self, states, batch):
        flat = states[batch.target_there]
        weight = self.p.get("output.weight", self.p.get("target.weight", self.p.get("source.weight")))
        logits = F.linear(flat, weight, self.p["output.bias"])
        return F.cross_entropy(logits, batch.target_out[batch.target_there], label_smoothing=self.o["label_smoothing"])


class Transformer(Model):
    def embed(self, ids, side):
        table = self.p[f"{side}.weight" if f"{side}.weight" in self.p else "source.weight"]
        width = table.shape[1]
        length = ids.shape[1]
        if length not in self.places:
            self.places[length] = torch.from_numpy(heed_model.places(length, width))
        return self.drop(F.embedding(ids, table) * math.sqrt(width) + self.places[length])

    def attention(self, x, memory, name, mask):
        """`mask`: [B, 1, 1, keys], or None for causal. Padding stands last, so causal hides it too."""
        def heads(rows):
            return rows.view(rows.shape[0], rows.shape[1], self.o["heads"], -1).transpose(1, 2)

        q = heads(self.linear(x, f"{name}.query"))
        k = heads(self.linear(memory, f"{name}.key"))
        v = heads(self.linear(memory, f"{name}.value"))
        if hasattr(F, "scaled_dot_product_attention"):
            context = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=mask is None)
        else:
            scores = q @ k.transpose(2, 3) / math.sqrt(q.shape[-1])
            if mask is None:
                mask = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
            context = torch.softmax(scores.masked_fill(~mask, -1e9), dim=-1) @ v
        return self.linear(context.transpose(1, 2).reshape(x.shape), f"{name}.output")

    def feed_forward(self, x, name):
        return self.linear(self.drop(F.relu(self.linear(x, f"{name}.up"))), f"{name}.down")

    def around(self, x, name, part):
        if self.o.get("pre_norm"):
            return x + self.drop(part(self.norm(x, name)))
        return self.norm(x + self.drop(part(x)), name)

    def after(self, x, side):
        """What the last layer of a side leaves: with the norm before each part, nothing has brought it to scale yet."""
        return self.norm(x, side) if self.o.get("pre_norm") else x

    def memory(self, blocks, layer):
        """What layer `layer` of the decoder attends to, of the outputs of the encoder's blocks."""
        wiring = self.o.get("wiring", "last")
        if wiring != "mix":
            return blocks[layer if wiring == "same_block" else -1]
        weights = torch.softmax(self.p[f"decoder.{layer}.mix"], dim=-1)[0]
        return sum(weight * block for weight, block in zip(weights, blocks))

    def loss(self, batch):
        seen = batch.source_there[:, None, None, :]
        x, blocks = self.embed(batch.source, "source"), []
        for layer in range(self.o["encoder_layers"]):
            name = f"encoder.{layer}"
            x = self.around(x, f"{name}.self", lambda r, n=name: self.attention(r, r, f"{n}.self", seen))
            x = self.around(x, f"{name}.feed_forward", lambda r, n=name: self.feed_forward(r, f"{n}.feed_forward"))
            blocks.append(self.after(x, "encoder"))
        x = self.embed(batch.target_in, "target")
        for layer in range(self.o["decoder_layers"]):
            name, memory = f"decoder.{layer}", self.memory(blocks, layer)
            x = self.around(x, f"{name}.self", lambda r, n=name: self.attention(r, r, f"{n}.self", None))
            x = self.around(x, f"{name}.source",
                            lambda r, n=name, m=memory: self.attention(r, m, f"{n}.source", seen))
            x = self.around(x, f"{name}.feed_forward", lambda r, n=name: self.feed_forward(r, f"{n}.feed_forward"))
        return self.output(self.after(x, "decoder"), batch)


class Recurrent(Model):
    """A bidirectional GRU, a GRU, additive attention after it (Luong's order), one layer each."""

    def __init__(self, options, weights):
        super().__init__(options, weights)
        self.encoder = self.gru("encoder", True)
        self.decoder = self.gru("decoder.recurrent", False)
        names = [n for n in self.p if n.startswith("encoder.") or n.startswith("decoder.recurrent.")]
        for name in names:
            del self.p[name]
        for prefix, module in (("encoder", self.encoder), ("decoder.recurrent", self.decoder)):
            self.p.update({f"{prefix}.{n}": p for n, p in module.named_parameters()})

    def gru(self, name, bidirectional):
        width = self.o["width"]
        module = torch.nn.GRU(width, width, batch_first=True, bidirectional=bidirectional)
        for direction, suffix in (("forward", ""), ("backward", "_reverse"))[: 2 if bidirectional else 1]:
            for ours, theirs in (("input", "ih"), ("state", "hh")):
                for what in ("weight", "bias"):
                    value = self.p[f"{name}.0.{direction}.{ours}.{what}"]
                    getattr(module, f"{what}_{theirs}_l0{suffix}").data = value.data.clone()
        return module

    def embed(self, ids, side):
        return self.drop(F.embedding(ids, self.p.get(f"{side}.weight", self.p["source.weight"])))

    def loss(self, batch):
        lengths = batch.source_there.sum(1)
        packed = torch.nn.utils.rnn.pack_padded_sequence(
            self.embed(batch.source, "source"), lengths, batch_first=True, enforce_sorted=False
        )
        rows, last = self.encoder(packed)
        memory, _ = torch.nn.utils.rnn.pad_packed_sequence(rows, batch_first=True)
        memory = self.drop(memory)
        start = torch.tanh(self.linear(torch.cat([last[0], last[1]], dim=1), "decoder.bridge.0"))
        states, _ = self.decoder(self.embed(batch.target_in, "target"), start[None])
        keys = F.linear(memory, self.p["decoder.attention.score.key.weight"], self.p["decoder.attention.score.bias"])
        queries = F.linear(states, self.p["decoder.attention.score.query.weight"])
        scores = torch.tanh(keys[:, None] + queries[:, :, None]) @ self.p["decoder.attention.score.v"]
        weights = torch.softmax(scores.masked_fill(~batch.source_there[:, None, :], -1e9), dim=-1)
        out = torch.tanh(self.linear(torch.cat([weights @ memory, states], dim=-1), "decoder.combine"))
        return self.output(self.drop(out), batch)


def kind_of(options):
    if options["task"] == "language_model":
        import torch_language_model
        return torch_language_model.kind_of(options)
    if options["task"] == "classification":
        import torch_documents
        return torch_documents.Hierarchical
    return Transformer if options["kind"] == "transformer" else Recurrent


def batch_of(options, raw):
    if options["task"] != "classification":
        return Batch(raw)
    import torch_documents
    return torch_documents.Documents(raw)


class Running:
    """A training that has begun."""

    def __init__(self, options, weights):
        self.model = kind_of(options)(options, {name: value.clone() for name, value in weights.items()})
        self.parameters = list(self.model.p.values())
        settings = {"lr": options["learning_rate"], "betas": (0.9, 0.98), "eps": 1e-9}
        try:
            self.adam = torch.optim.Adam(self.parameters, **settings, fused=True)
        except (TypeError, RuntimeError):  # not on a CPU in this version
            self.adam = torch.optim.Adam(self.parameters, **settings)
        self.clip = options["clip"]
        self.next = 0

    def step(self, batches):
        batch = batches[self.next % len(batches)]
        self.next += 1
        self.adam.zero_grad(set_to_none=True)
        loss = self.model.loss(batch)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.parameters, self.clip)
        self.adam.step()
        return loss.item(), batch.tokens


class Peer:
    def open(self, folder):
        folder = pathlib.Path(folder)
        self.options = json.loads((folder / "options.json").read_text())
        self.batches = [batch_of(self.options, raw) for raw in json.loads((folder / "batches.json").read_text())]
        self.weights = tensors(heed_model.read_safetensors(folder / "weights.safetensors"))
        self.running = {}
        return {}

    def losses(self, updates):
        running = Running({**self.options, "dropout": 0.0}, self.weights)
        return {"losses": [running.step(self.batches)[0] for _ in range(updates)]}

    def run(self, threads, updates, training):
        torch.set_num_threads(threads)
        if training not in self.running:
            self.running[training] = Running(self.options, self.weights)
        begin = time.perf_counter()
        tokens = sum(self.running[training].step(self.batches)[1] for _ in range(updates))
        return {"seconds": time.perf_counter() - begin, "tokens": tokens}

    def memory(self):
        return {"peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024e-6}

    def hello(self):
        return {"version": torch.__version__.partition("+")[0]}


def main() -> int:
    torch.manual_seed(1)
    return heed_model.serve(Peer())


if __name__ == "__main__":
    sys.exit(main())
