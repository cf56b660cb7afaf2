"""heed.attend for dot products: the fused loop reads the arrays in place, through their strides."""

from __future__ import annotations

import math
from typing import Any, Dict, Optional

import numpy as np

from . import _heed
from ._call import Call
from ._heed import Error
from ._overflow import refuse_overflow_of_dots
from ._question import Question


class FusedCall(Call):
    """One call of the loop in heed/kernels."""

    def __init__(self, q: Any, k: Any, v: Any, ask: Question) -> None:
        super().__init__(q, k, v, ask)
        self.options: Dict[str, Any] = {**self.sequences, "batch": self.batch}
        self._read_scores()
        self._read_region()
        self.call: Optional[_heed.Fused] = None

    def _read_scores(self) -> None:
        ask, options = self.ask, self.options
        width = self.views[0].shape[-1]
        default = 1.0 / math.sqrt(width) if ask.score == "scaled_dot" and width else 1.0
        options["scale"] = default if ask.scale is None else ask.scale
        options["softcap"] = ask.softcap
        options["normalise"] = ask.normalise
        options["divide_by_visible"] = ask.divide_by_visible
        options["dropout"] = ask.dropout if ask.training else 0.0
        options["seed"] = ask.seed
        options["forced_forward"] = ask.time == "forced_forward"
        if ask.parameters:
            raise Error(f"parameters: {ask.score} has none, got {', '.join(sorted(ask.parameters))}")

    def _read_region(self) -> None:
        ask, options = self.ask, self.options
        options["causal"] = ask.causal
        options["strict"] = ask.strict
        options["window_left"], options["window_right"] = ask.window_sides
        options["sinks"] = ask.first_keys
        if ask.align == "bottom_right":
            options["align"] = "bottom_right"
        else:
            options["align"] = "offset"
            options["query_offset"] = self.first_position
        if self.mask is not None:
            mask = self.mask.view(np.uint8)
            if mask.shape[3] != self.longest[1] or mask.strides[3] != 1:  # the loop reads a mask row by row
                mask = np.ascontiguousarray(np.broadcast_to(mask, (*mask.shape[:3], self.longest[1])))
            options["mask"] = mask
        if self.bias is not None:
            options["bias"] = np.ascontiguousarray(self.bias)

    def forward(self, out: Any = None, gradient: bool = False, weights: bool = False) -> np.ndarray:
        """`gradient`, `weights`: whether they will be requested."""
        made = self._make_out(out)
        self.call = _heed.Fused(self.views[0], self.views[1], self.views[2], self.options)
        self.call.forward(self.q_layout.view(made), gradient or weights)
        return made

    def resumed(self, out: np.ndarray, saved: np.ndarray) -> "FusedCall":
        """As after the forward that gave this output and saved this."""
        self.out = out
        self.call = _heed.Fused(self.views[0], self.views[1], self.views[2], self.options)
        self.call.resume(np.ascontiguousarray(saved))
        return self

    def refuse_overflow(self) -> None:
        """After forward."""
        assert self.out is not None
        refuse_overflow_of_dots(self.q_layout.view(self.out), self.views, self.floats, self.options)

    def weights(self) -> np.ndarray:
        """[B, H, Tq, Tk]; ragged: the longest of each."""
        assert self.call is not None
        return self.call.weights()

    def stage(self, name: str) -> np.ndarray:
        """Intermediate scores: raw, after the softcap, with bias and mask, or as weights; all [B, H, Tq, Tk]."""
        if name == "weights":
            return self.weights()
        if self.ask.time != "dynamic":
            raise Error(f"stages: scores of {self.ask.time} attention depend on earlier steps; request weights instead")
        names = ("batch", "query_offsets", "key_offsets", "scale") + (() if name == "raw" else ("softcap",))
        scores = self._identity({key: self.options[key] for key in names if key in self.options})
        if name != "masked":
            return scores
        if self.bias is not None:
            scores += self._dense_bias(self.bias)
        scores[~self._visible()] = -np.inf
        return scores

    def _visible(self) -> np.ndarray:
        """Which pairs exist, [B, H, Tq, Tk]: those whose weight is 1 when every score is 0 and the bias is 1."""
        scores = ("softcap", "bias", "normalise", "divide_by_visible", "dropout", "seed", "forced_forward")
        region = {key: value for key, value in self.options.items() if key not in scores}
        return self._identity({**region, "scale": 0.0, "bias": np.ones((1, 1, 1, 1), np.float32)}, zero=True) != 0.0

    def _identity(self, options: Dict[str, Any], zero: bool = False) -> np.ndarray:
        """The scores themselves as weights. `zero`: for inputs of 0, whatever q and k contain."""
        views = [np.broadcast_to(np.float32(0), v.shape) for v in self.views] if zero else self.views
        views = [views[0], views[1], np.broadcast_to(np.float32(0), self.views[2].shape[:-1] + (1,))]
        call = _heed.Fused(views[0], views[1], views[2], {**options, "normalise": "identity"})
        call.forward(np.empty(self.views[0].shape[:-1] + (1,), np.float32), True)
        return call.weights()

    def _dense_bias(self, bias: np.ndarray) -> np.ndarray:
        if not self.ask.ragged:
            return bias
        at = self.sequences["query_offsets"]
        dense = np.zeros((self.batch, bias.shape[1], self.longest[0], bias.shape[3]), np.float32)
        whole = np.broadcast_to(bias, bias.shape[:2] + (self.queries, bias.shape[3]))
        for b in range(self.batch):
            dense[b, :, : at[b + 1] - at[b]] = whole[0, :, at[b] : at[b + 1]]
        return dense

    def backward(self, d_out: Any, of_bias: bool = True) -> Dict[str, np.ndarray]:
        """Gradients shaped like the inputs: q, k, v, and bias (or a float mask), past_key, past_value."""
        assert self.call is not None and self.out is not None
        d_out = self._d_out(d_out)
        gradients, into = self._new_gradients()
        if self.bias is not None and of_bias:
            into["bias"] = np.empty(self.bias.shape, np.float32)
        self.call.backward(self.q_layout.view(self.out), self.q_layout.view(d_out), into)
        if "bias" in into:
            gradients.update(self._bias_gradient(into["bias"]))
        return self._finish(gradients, into)
