"""heed's models of running text in PyTorch, for torch_seq2seq.py: an LSTM with key-value attention, and a Transformer.

Written the way PyTorch is commonly used: nn.LSTM over a batch of streams with the detached state of the last batch, the
window of keys by unfold, scaled_dot_product_attention with its causal mask.
"""
import torch
import torch.nn.functional as F
from torch_seq2seq import Model, Transformer


class TextTransformer(Transformer):
    def loss(self, batch):
        x = self.embed(batch.target_in, "text")
        for layer in range(self.o["decoder_layers"]):
            name = f"decoder.{layer}"
            x = self.around(x, f"{name}.self", lambda r, n=name: self.attention(r, r, f"{n}.self", None))
            x = self.around(x, f"{name}.feed_forward", lambda r, n=name: self.feed_forward(r, f"{n}.feed_forward"))
        return self.output(self.after(x, "decoder"), batch)


class KeyValueLstm(Model):
    """Daniluk et al. 2017: h_t = [k_t; v_t] looks back at the `window` states before it."""

    def __init__(self, options, weights):
        super().__init__(options, weights)
        width = options["width"]
        self.lstm = torch.nn.LSTM(width, width, batch_first=True)
        for ours, theirs in (("input", "ih"), ("state", "hh")):
            for what in ("weight", "bias"):
                value = self.p.pop(f"decoder.recurrent.0.forward.{ours}.{what}")
                getattr(self.lstm, f"{what}_{theirs}_l0").data = value.data.clone()
        self.p.update({f"lstm.{n}": p for n, p in self.lstm.named_parameters()})
        self.state, self.kept = None, None

    def loss(self, batch):
        streams, window = batch.target_in.shape[0], self.o["window"]
        if self.state is not None and self.state[0].shape[1] != streams:
            self.state, self.kept = None, None
        x = self.drop(F.embedding(batch.target_in, self.p["text.weight"]))
        states, state = self.lstm(x, self.state)
        self.state = tuple(part.detach() for part in state)
        half = states.shape[-1] // 2
        missing = window - (0 if self.kept is None else self.kept.shape[1])
        pad = states.new_zeros(streams, missing, states.shape[-1])
        before = torch.cat([pad] + ([] if self.kept is None else [self.kept]) + [states], dim=1)
        self.kept = before[:, -window:].detach()
        keys = F.linear(before[..., :half], self.p["decoder.attention.score.key.weight"])
        # [B, T, window, half]: the states before each one
        keys = keys.unfold(1, window, 1)[:, :-1].transpose(2, 3)
        values = before[..., half:].unfold(1, window, 1)[:, :-1].transpose(2, 3)
        queries = F.linear(states[..., :half], self.p["decoder.attention.score.query.weight"])
        scores = torch.tanh(keys + queries[:, :, None]) @ self.p["decoder.attention.score.v"].view(-1)
        there = torch.arange(before.shape[1]) >= missing
        there = there.unfold(0, window, 1)[:-1]  # [T, window]
        weights = torch.softmax(scores.masked_fill(~there, -1e9), dim=-1) * there.any(1)[:, None]
        found = (weights[:, :, None] @ values)[:, :, 0]
        out = torch.tanh(F.linear(found, self.p["decoder.attention.output.context.weight"])
                         + F.linear(states[..., half:], self.p["decoder.attention.output.value.weight"]))
        return self.output(self.drop(out), batch)


def kind_of(options):
    return TextTransformer if options["kind"] == "transformer" else KeyValueLstm
