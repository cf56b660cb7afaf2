"""heed.attend for every other score: one attention made for the call, on the arrays in place."""

from __future__ import annotations

import math
from typing import Any, Dict, Optional

import numpy as np

from . import _heed
from ._attention import Attention
from ._call import Call
from ._heed import Error
from ._overflow import refuse_overflow
from ._question import Question


class ComposedCall(Call):
    """The rows of q, k and v on a tape. A contiguous array is not copied, whatever its layout."""

    def __init__(self, q: Any, k: Any, v: Any, ask: Question) -> None:
        super().__init__(q, k, v, ask)
        if ask.scale is not None:
            raise Error(f"scale: only for dot and scaled_dot, got it with {ask.score}")
        self.stacked = (
            not ask.ragged and (self.q_layout.dims == 4 or self.past > 0) and ask.time not in ("static", "forward_only")
        )
        """Whether the rows are [B, heads, T]; otherwise the heads are side by side."""
        self.attention = Attention(ask.score, **self._options())
        self.attention.train(ask.training)
        if self.attention.parameters or ask.parameters:
            self.attention.parameters.load(ask.parameters or {})
        self.run: Optional[_heed.Run] = None
        self.result: Optional[_heed.Result] = None
        self.inputs: Dict[str, _heed.Value] = {}

    def _options(self) -> Dict[str, Any]:
        ask = self.ask
        q, k, v = self.views
        options = {
            "input": "external",
            "normalise": ask.normalise,
            "time": ask.time,
            "heads": q.shape[-3],
            "kv_heads": k.shape[-3],
            "query_width": q.shape[-3] * q.shape[-1],
            "key_width": k.shape[-3] * k.shape[-1],
            "value_width": v.shape[-3] * v.shape[-1],
            "softcap": ask.softcap,
            "dropout": ask.dropout,
            "divide_by_visible": ask.divide_by_visible,
        }
        region = self._region_words()
        if region or not ask.own_region:
            options["region"] = region or "global"
        if ask.first_keys:
            options["sinks"] = ask.first_keys
        if ask.strict:
            options["strict"] = True
        return {**options, **ask.options}

    def _region_words(self) -> str:
        """The options of the attention itself; windows, lengths and masks are passed with the call."""
        ask = self.ask
        words = [word for word in (ask.region or "").split("+") if word]
        for word, wanted in (
            ("causal", ask.causal),
            ("sinks", ask.first_keys),
            ("documents", ask.query_documents is not None),
        ):
            if wanted and word not in words:
                words.append(word)
        return "+".join(words)

    def _rows(self, view: np.ndarray) -> np.ndarray:
        """A view [B, heads, T, width] (ragged [heads, tokens, width]) as rows."""
        if not self.stacked:
            view = np.moveaxis(view, -3, -2)
        width = view.shape[-1] * (1 if self.stacked else view.shape[-2])
        rows = math.prod(view.shape[: -1 if self.stacked else -2])
        return np.ascontiguousarray(view).reshape(rows, width)

    def _to_view(self, rows: np.ndarray, view: np.ndarray) -> None:
        """The reverse: writes rows into the view."""
        if self.stacked:
            view[...] = rows.reshape(view.shape)
        else:
            side = np.moveaxis(view, -3, -2)
            side[...] = rows.reshape(side.shape)

    def _offsets(self, which: str, length: int) -> np.ndarray:
        if self.ask.ragged:
            return self.sequences[which]
        return np.arange(self.batch + 1, dtype=np.int64) * length

    def _memory(self, run: _heed.Run) -> _heed.Memory:
        self.inputs["k"] = run.input(self._rows(self.views[1]), True)
        self.inputs["v"] = run.input(self._rows(self.views[2]), True)
        arguments: Dict[str, Any] = {"keys": self.inputs["k"], "values": self.inputs["v"]}
        arguments["offsets"] = self._offsets("key_offsets", self.keys)
        if "key_lengths" in self.sequences:
            arguments["lengths"] = self.sequences["key_lengths"]
        if "key_documents" in self.sequences:
            arguments["documents"] = self.sequences["key_documents"]
        if self.stacked:
            arguments["stacked"] = True
        return run.prepare(arguments)

    def _pair_rows(self, pairs: np.ndarray) -> np.ndarray:
        """A mask or bias [B, H, Tq, Tk] as a row per query, or per query and head in the order of the rows of q."""
        heads = pairs.shape[1]
        full = np.broadcast_to(pairs, (1 if self.ask.ragged else self.batch, heads, self.queries, self.longest[1]))
        if heads > 1 and not self.stacked:
            full = np.moveaxis(full, 1, 2)
        return np.ascontiguousarray(full).reshape(math.prod(full.shape[:3]), full.shape[3])

    def _of_pairs(self, rows: np.ndarray, heads: int) -> np.ndarray:
        """The reverse, [B, H, Tq, Tk]."""
        batch = 1 if self.ask.ragged else self.batch
        if heads > 1 and not self.stacked:
            return np.moveaxis(rows.reshape(batch, self.queries, heads, self.longest[1]), 2, 1)
        return rows.reshape(batch, heads, self.queries, self.longest[1])

    def _query_arguments(self, run: _heed.Run) -> Dict[str, Any]:
        ask = self.ask
        self.inputs["q"] = run.input(self._rows(self.views[0]), True)
        arguments: Dict[str, Any] = {"queries": self.inputs["q"]}
        arguments["offsets"] = self._offsets("query_offsets", self.queries)
        if ask.align == "bottom_right":
            arguments["bottom_right"] = True
        else:
            arguments["step"] = self.first_position
        arguments["window_left"], arguments["window_right"] = ask.window_sides
        if "query_lengths" in self.sequences:
            arguments["lengths"] = self.sequences["query_lengths"]
        if "query_documents" in self.sequences:
            arguments["documents"] = self.sequences["query_documents"]
        if self.mask is not None:
            arguments["mask"] = self._pair_rows(self.mask).view(np.uint8)
            if self.mask.shape[1] > 1:
                arguments["mask_per_head"] = True
        if self.bias is not None:
            arguments["bias"] = self.inputs["bias"] = run.input(self._pair_rows(self.bias), True)
            if self.bias.shape[1] > 1:
                arguments["bias_per_head"] = True
        if self.stacked:
            arguments["stacked"] = True
        return arguments

    def forward(self, out: Any = None, gradient: bool = False, weights: bool = False) -> np.ndarray:
        """`gradient`, `weights`: whether they will be requested."""
        made = self._make_out(out)
        self._run(gradient, weights)
        assert self.result is not None
        self._to_view(self.result.context.array(), self.q_layout.view(made))
        return made

    def _run(self, gradient: bool, weights: bool) -> None:
        self.run = run = _heed.Run(self.attention._model, gradient, self.ask.training, self.ask.seed)
        memory = self._memory(run)
        arguments = self._query_arguments(run)
        if weights:
            arguments["weights"] = True
        self.result = run.attend(memory, None, arguments)

    def refuse_overflow(self) -> None:
        """After forward."""
        assert self.out is not None
        refuse_overflow(self.out, lambda: {**self.floats(), **(self.ask.parameters or {})})

    def weights(self) -> np.ndarray:
        """[B, H, Tq, Tk]; ragged: the longest of each."""
        assert self.result is not None
        return np.array(self.result.weights)

    def stage(self, name: str) -> np.ndarray:
        """The weights; scores other than dot products have no other stages."""
        if name == "weights":
            return self.weights()
        raise Error(f"stages: {name} is for dot and scaled_dot; {self.ask.score} only has weights")

    def backward(self, d_out: Any) -> Dict[str, np.ndarray]:
        """Gradients shaped like the inputs: those of FusedCall, and every parameter by name."""
        assert self.run is not None and self.result is not None
        d_rows = self._rows(self.q_layout.view(self._d_out(d_out)))
        if self.run.done:  # a tape runs backward once; repeating the call makes the same tape
            self._run(True, False)
        parameters = self.run.backward([(self.result.context, d_rows)])
        gradients, views = self._new_gradients()
        for name, view in views.items():
            rows = self.inputs[name].gradient()
            if rows is None:
                view[...] = 0.0
            else:
                self._to_view(rows, view)
        if self.bias is not None:
            gradients.update(self._bias_gradient(self._sum_bias(self.inputs["bias"].gradient())))
        return {**self._finish(gradients, views), **parameters}

    def _sum_bias(self, rows: Optional[np.ndarray]) -> np.ndarray:
        assert self.bias is not None
        if rows is None:
            return np.zeros(self.bias.shape, np.float32)
        full = self._of_pairs(rows, self.bias.shape[1])
        axes = tuple(i for i in range(4) if self.bias.shape[i] == 1)
        return full.sum(axis=axes, keepdims=True)
