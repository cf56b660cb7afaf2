"""Labels for documents in PyTorch, as heed/model/classifier.h has them: the part of torch_seq2seq.py for task = "classification"."""
import torch
import torch.nn.functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from torch_seq2seq import Model, padded


class Documents:
    """A batch of documents with labels: sentences of words, padded to the longest sentence; sentences likewise."""

    def __init__(self, raw):
        self.words, self.words_there = padded(raw["tokens"], raw["sentences"])
        self.word_lengths = self.words_there.sum(1)
        self.places, self.sentences_there = padded(list(range(len(raw["sentences"]) - 1)), raw["texts"])
        self.sentence_lengths = self.sentences_there.sum(1)
        self.labels = torch.tensor(raw["labels"])
        self.tokens = len(raw["tokens"])


class Hierarchical(Model):
    """A bidirectional GRU and attention with a learned query over words, and again over sentences (Yang et al. 2016)."""

    def __init__(self, options, weights):
        super().__init__(options, weights)
        self.gru = {level: self.made(level) for level in ("word", "sentence")}

    def made(self, level):
        names = [n for n in self.p if n.startswith(f"{level}.encoder.0.")]
        width, inside = (self.p[f"{level}.encoder.0.forward.{n}.weight"].shape[1] for n in ("input", "state"))
        module = torch.nn.GRU(width, inside, batch_first=True, bidirectional=True)
        for direction, suffix in (("forward", ""), ("backward", "_reverse")):
            for ours, theirs in (("input", "ih"), ("state", "hh")):
                for what in ("weight", "bias"):
                    value = self.p[f"{level}.encoder.0.{direction}.{ours}.{what}"]
                    getattr(module, f"{what}_{theirs}_l0{suffix}").data = value.data.clone()
        for name in names:
            del self.p[name]
        self.p.update({f"{level}.encoder.{n}": p for n, p in module.named_parameters()})
        return module

    def level(self, x, lengths, there, name):
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        states, _ = pad_packed_sequence(self.gru[name](packed)[0], batch_first=True)
        states = self.drop(states)
        keys = torch.tanh(self.linear(states, f"{name}.pool.score"))
        scores = (keys @ self.p[f"{name}.pool.queries"][0]).masked_fill(~there, -1e9)
        return (torch.softmax(scores, dim=-1)[:, None] @ states)[:, 0]

    def loss(self, batch):
        words = self.drop(F.embedding(batch.words, self.p["source.weight"]))
        sentences = self.level(words, batch.word_lengths, batch.words_there, "word")
        texts = self.level(sentences[batch.places], batch.sentence_lengths, batch.sentences_there, "sentence")
        return F.cross_entropy(self.linear(self.drop(texts), "output"), batch.labels)
