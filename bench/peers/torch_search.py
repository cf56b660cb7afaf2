#!/usr/bin/env python3
"""Greedy and beam search with heed's Transformer in PyTorch: the same weights, batches, and a cache.

Requests are JSON lines on standard input, replies on standard output, as heed-bench-predict's (bench/predict/main.cc):

    {"op": "open", "folder": FOLDER}                      options.json, sources.json and weights.safetensors in it
    {"op": "run", "threads": N, "beam": K, "outputs": B}  seconds for all sources; their tokens where asked for

Written the way PyTorch is commonly used: padded batches, keys and values of the past kept and grown, those of the source made
once, one batch until all of its sentences have ended.
"""
import pathlib
import sys
import time

import torch

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import heed_model  # noqa: E402
import torch_seq2seq  # noqa: E402
from heed_model import END, START  # noqa: E402


FUSED = getattr(torch.nn.functional, "scaled_dot_product_attention", None)


class Searcher(torch_seq2seq.Transformer):
    def drop(self, x):
        return x

    def heads(self, rows):
        return rows.view(rows.shape[0], rows.shape[1], self.o["heads"], -1).transpose(1, 2)

    def encode(self, source, there):
        seen = there[:, None, None, :]
        x = self.embed(source, "source")
        for layer in range(self.o["encoder_layers"]):
            name = f"encoder.{layer}"
            x = self.around(x, f"{name}.self", lambda r, n=name: self.attention(r, r, f"{n}.self", seen))
            x = self.around(x, f"{name}.feed_forward", lambda r, n=name: self.feed_forward(r, f"{n}.feed_forward"))
        x = self.after(x, "encoder")
        return [
            (self.heads(self.linear(x, f"decoder.{layer}.source.key")),
             self.heads(self.linear(x, f"decoder.{layer}.source.value")))
            for layer in range(self.o["decoder_layers"])
        ], seen

    def look(self, x, keys, values, name, mask):
        q = self.heads(self.linear(x, f"{name}.query"))
        if FUSED is not None:
            context = FUSED(q, keys, values, attn_mask=mask)
        else:
            scores = q @ keys.transpose(2, 3) / q.shape[-1] ** 0.5
            if mask is not None:
                scores = scores.masked_fill(~mask, -1e9)
            context = torch.softmax(scores, dim=-1) @ values
        return self.linear(context.transpose(1, 2).reshape(x.shape), f"{name}.output")

    def step(self, tokens, t, source, past, seen):
        """tokens [N] -> log-probabilities [N, V]; past: keys and values of each layer, grown here."""
        table = self.p.get("target.weight", self.p["source.weight"])
        x = (torch.nn.functional.embedding(tokens, table) * table.shape[1] ** 0.5 + self.table[t])[:, None]
        for layer in range(self.o["decoder_layers"]):
            name = f"decoder.{layer}"

            def self_attention(rows, n=name, at=layer):
                k = self.heads(self.linear(rows, f"{n}.self.key"))
                v = self.heads(self.linear(rows, f"{n}.self.value"))
                if past[at] is not None:
                    k, v = torch.cat([past[at][0], k], dim=2), torch.cat([past[at][1], v], dim=2)
                past[at] = (k, v)
                return self.look(rows, k, v, f"{n}.self", None)

            x = self.around(x, f"{name}.self", self_attention)
            x = self.around(x, f"{name}.source", lambda r, n=name, at=layer: self.look(r, *source[at], f"{n}.source", seen))
            x = self.around(x, f"{name}.feed_forward", lambda r, n=name: self.feed_forward(r, f"{n}.feed_forward"))
        weight = self.p.get("output.weight", table)
        x = self.after(x, "decoder")
        return torch.log_softmax(torch.nn.functional.linear(x[:, 0], weight, self.p["output.bias"]), dim=-1)

    def make_places(self, longest):
        self.table = torch.from_numpy(heed_model.places(longest, self.p["source.weight"].shape[1]))

    def greedy(self, source, there, longest):
        memory, seen = self.encode(source, there)
        past = [None] * self.o["decoder_layers"]
        tokens = torch.full((source.shape[0],), START)
        done = torch.zeros(source.shape[0], dtype=torch.bool)
        said = []
        for t in range(longest):
            tokens = self.step(tokens, t, memory, past, seen).argmax(dim=-1)
            tokens = tokens.masked_fill(done, END)
            said.append(tokens)
            done |= tokens == END
            if done.all():
                break
        return torch.stack(said, dim=1).tolist()

    def beam(self, source, there, longest, beam):
        """As long as a sentence has fewer than `beam` finished hypotheses; ranked by log-probability."""
        batch = source.shape[0]
        memory, seen = self.encode(source, there)
        memory = [(k.repeat_interleave(beam, 0), v.repeat_interleave(beam, 0)) for k, v in memory]
        seen = seen.repeat_interleave(beam, 0)
        past = [None] * self.o["decoder_layers"]
        tokens = torch.full((batch * beam,), START)
        scores = torch.full((batch, beam), float("-inf"))
        scores[:, 0] = 0.0
        said = torch.zeros(batch * beam, 0, dtype=torch.long)
        finished = [[] for _ in range(batch)]
        for t in range(longest):
            logs = self.step(tokens, t, memory, past, seen)
            size = logs.shape[1]
            values, places = (scores.view(-1, 1) + logs).view(batch, beam * size).topk(2 * beam, dim=1)
            rows, words = torch.div(places, size, rounding_mode="floor"), places % size
            keep_rows, keep_words = torch.zeros(batch, beam, dtype=torch.long), torch.zeros(batch, beam, dtype=torch.long)
            for b, (v, r, w) in enumerate(zip(values.tolist(), rows.tolist(), words.tolist())):
                kept = 0
                for value, row, word in zip(v, r, w):
                    if word == END:
                        if len(finished[b]) < beam:
                            finished[b].append((value, said[b * beam + row].tolist()))
                    elif kept < beam:
                        scores[b, kept], keep_rows[b, kept], keep_words[b, kept] = value, row, word
                        kept += 1
            if all(len(f) >= beam for f in finished):
                break
            index = (torch.arange(batch)[:, None] * beam + keep_rows).view(-1)
            tokens = keep_words.view(-1)
            said = torch.cat([said[index], tokens[:, None]], dim=1)
            past = [(k[index], v[index]) for k, v in past]
        best = []
        for b, f in enumerate(finished):
            best.append(max(f)[1] if f else said[b * beam].tolist())
        return best


class Peer:
    def hello(self):
        return {"version": torch.__version__.partition("+")[0]}

    def open(self, folder):
        options, batches, weights = heed_model.read_search(folder)
        self.longest = options["longest"]
        self.batches = []
        for batch, sentences in batches:
            offsets = [0]
            for ids in sentences:
                offsets.append(offsets[-1] + len(ids))
            self.batches.append((batch, *torch_seq2seq.padded([i for ids in sentences for i in ids], offsets)))
        self.model = Searcher(options, torch_seq2seq.tensors(weights))
        self.model.make_places(max(self.longest, 1024))
        return {}

    @torch.no_grad()
    def run(self, threads, beam, outputs=False):
        torch.set_num_threads(threads)
        said = {}
        begin = time.perf_counter()
        for batch, source, there in self.batches:
            if beam == 1:
                tokens = self.model.greedy(source, there, self.longest)
            else:
                tokens = self.model.beam(source, there, self.longest, beam)
            for s, row in zip(batch, tokens):
                said[s] = row[: row.index(END)] if END in row else row
        reply = {"seconds": time.perf_counter() - begin, "sentences": len(said)}
        if outputs:
            reply["outputs"] = [said[s] for s in sorted(said)]
        return reply


if __name__ == "__main__":
    sys.exit(heed_model.serve(Peer()))
