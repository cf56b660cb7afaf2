"""heed.attend for every other score: one attention made for the call, on the arrays where they are."""

from __future__ import annotations

import math
from typing import Any, Dict, Optional

import numpy as np

from . import _heed
from ._attention import Attention
from ._call import Call
from ._catalogue import default_options
from ._heed import Error
from ._question import Question


class ComposedCall(Call):
    """The rows of q, k and v on a tape. An array without gaps is not copied, in whichever layout it came."""

    def __init__(self, q: Any, k: Any, v: Any, ask: Question) -> None:
        super().__init__(q, k, v, ask)
        if ask.scale is not None:
            raise Error(f"scale: expected with dot and scaled_dot only, got it with {ask.score}")
        self.stacked = (
            not ask.ragged and (self.q_layout.dims == 4 or self.past > 0) and ask.time not in ("static", "forward_only")
        )
        """Whether the rows are [B, heads, T]; otherwise the heads lie side by side."""
        self.attention = Attention(ask.score, **self._options())
        self.attention.train(ask.training)
        if self.attention.parameters or ask.parameters:
            self.attention.parameters.load(ask.parameters or {})
        self.run: Optional[_heed.Run] = None
        self.result: Optional[_heed.Result] = None
        self.inputs: Dict[str, _heed.Value] = {}

    def _options(self) -> Dict[str, Any]:
        """Those that are not the default: a score's own choices, such as those of intra, stay as they are."""
        ask = self.ask
        q, k, v = self.views
        options = {
            "normalise": ask.normalise,
            "region": self._region_words(),
            "time": ask.time,
            "heads": q.shape[-3],
            "kv_heads": k.shape[-3],
            "query_width": q.shape[-3] * q.shape[-1],
            "key_width": k.shape[-3] * k.shape[-1],
            "value_width": v.shape[-3] * v.shape[-1],
            "softcap": float(ask.softcap),
            "strict": bool(ask.strict),
            "sinks": int(ask.sinks),
            "dropout": float(ask.dropout),
            "divide_by_visible": bool(ask.divide_by_visible),
            **ask.options,
        }
        if ask.window is not None:
            left, right = ask.window_sides
            if left < 0 or right not in ((-1, 0) if ask.causal else (left,)):
                raise Error(f"window: expected as many keys on both sides with {ask.score}, got {ask.window}")
            options["window"] = left
        defaults = default_options()
        chosen = {name: value for name, value in options.items() if name not in defaults or value != defaults[name]}
        return {"input": "external", **chosen}

    def _region_words(self) -> str:
        ask = self.ask
        words = [word for word in ask.region.split("+") if word]
        if ask.window is not None:
            words.append("sliding_window" if ask.causal else "local_m")
        for word, wanted in (
            ("causal", ask.causal),
            ("sinks", ask.sinks),
            ("documents", ask.query_documents is not None),
            ("masked", ask.mask is not None or ask.key_lengths is not None or ask.query_lengths is not None),
        ):
            if wanted:
                words.append(word)
        return "+".join(words) or "global"

    def _rows(self, view: np.ndarray) -> np.ndarray:
        """A view [B, heads, T, width] (ragged [heads, tokens, width]) as rows."""
        if not self.stacked:
            view = np.moveaxis(view, -3, -2)
        width = view.shape[-1] * (1 if self.stacked else view.shape[-2])
        rows = math.prod(view.shape[: -1 if self.stacked else -2])
        return np.ascontiguousarray(view).reshape(rows, width)

    def _to_view(self, rows: np.ndarray, view: np.ndarray) -> None:
        """The other way: writes rows to where the view says."""
        if self.stacked:
            view[...] = rows.reshape(view.shape)
        else:
            side = np.moveaxis(view, -3, -2)
            side[...] = rows.reshape(side.shape)

    def _offsets(self, which: str, length: int) -> np.ndarray:
        if self.ask.ragged:
            return self.sequences[which]
        return np.arange(self.batch + 1, dtype=np.int64) * length

    def _step(self) -> int:
        ask = self.ask
        if ask.align == "bottom_right":
            if ask.ragged or ask.key_lengths is not None or self.keys < self.queries:
                raise Error(
                    f"align: bottom_right with {ask.score} wants no offsets, no key_lengths, and a key for each query"
                )
            return self.keys - self.queries
        return self.past + (0 if ask.align == "top_left" else int(ask.align))

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

    def _per_query(self, pairs: np.ndarray, name: str) -> np.ndarray:
        """A mask or bias as a row per query."""
        if pairs.shape[1] != 1:
            raise Error(f"{name}: expected the same for all heads with {self.ask.score}, got {pairs.shape[1]} heads")
        full = (1 if self.ask.ragged else self.batch, self.queries, self.longest[1])
        return np.ascontiguousarray(np.broadcast_to(pairs[:, 0], full)).reshape(full[0] * full[1], full[2])

    def _visible_rows(self) -> Optional[np.ndarray]:
        """The mask; queries beyond query_lengths see nothing."""
        mask = None if self.mask is None else self._per_query(self.mask, "mask")
        lengths = self.sequences.get("query_lengths")
        if lengths is None:
            return mask
        at = self._offsets("query_offsets", self.queries)
        place = np.arange(at[-1]) - np.repeat(at[:-1], np.diff(at))
        counts = (place < np.repeat(lengths, np.diff(at)))[:, None]
        return np.ascontiguousarray(
            np.broadcast_to(counts, (at[-1], self.longest[1])) if mask is None else mask & counts
        )

    def forward(self, out: Any = None, gradient: bool = False, weights: bool = False) -> np.ndarray:
        """`gradient`, `weights`: will be asked for."""
        made = self._make_out(out)
        self.run = run = _heed.Run(self.attention._model, gradient, self.ask.training, int(self.ask.seed))
        memory = self._memory(run)
        self.inputs["q"] = run.input(self._rows(self.views[0]), True)
        arguments: Dict[str, Any] = {"queries": self.inputs["q"], "step": self._step()}
        arguments["offsets"] = self._offsets("query_offsets", self.queries)
        visible = self._visible_rows()
        if visible is not None:
            arguments["mask"] = visible.view(np.uint8)
        if self.bias is not None:
            arguments["bias"] = self.inputs["bias"] = run.input(self._per_query(self.bias, "bias"), True)
        if "query_documents" in self.sequences:
            arguments["documents"] = self.sequences["query_documents"]
        if self.stacked:
            arguments["stacked"] = True
        if weights:
            arguments["weights"] = True
        self.result = run.attend(memory, None, arguments)
        self._to_view(self.result.context.array(), self.q_layout.view(made))
        return made

    def weights(self) -> np.ndarray:
        """[B, H, Tq, Tk]; ragged: the longest of each."""
        assert self.result is not None
        return np.array(self.result.weights)

    def stage(self, name: str) -> np.ndarray:
        if name == "weights":
            return self.weights()
        raise Error(f"stages: {name} is for dot and scaled_dot; {self.ask.score} gives weights")

    def backward(self, d_out: Any) -> Dict[str, np.ndarray]:
        """Gradients shaped like the inputs: those of FusedCall, and every parameter by name."""
        assert self.run is not None and self.result is not None
        d_rows = self._rows(self.q_layout.view(self._d_out(d_out)))
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
        full = (1 if self.ask.ragged else self.batch, 1, self.queries, self.longest[1])
        axes = tuple(i for i in range(4) if self.bias.shape[i] == 1)
        return rows.reshape(full).sum(axis=axes, keepdims=True)
