"""The result of a call of heed.Attention, and the backward pass through it."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import numpy as np

from . import _heed
from ._arrays import floats, text
from ._heed import Error, State
from ._plot import heads_html
from ._rows import Rows, padded

Gradients = Dict[str, Any]


class Input:
    """An input tensor, and how its gradient gets back the input's shape."""

    def __init__(self, value: _heed.Value, shape: Tuple[int, ...], back: Callable[[np.ndarray], np.ndarray]) -> None:
        self.value = value
        self.shape = shape
        self.back = back

    def gradient(self) -> np.ndarray:
        array = self.value.gradient()
        return np.zeros(self.shape, np.float32) if array is None else self.back(array)


class Memory:
    """What is attended to, from Attention.prepare or Attention.grow. Holds the tape of all steps that use it.

    Attributes:
        sequences: number of sequences.
        longest: number of rows of the longest one.

    >>> attention = heed.Attention("dot", query_width=4, key_width=4)
    >>> memory = attention.grow(batch=2, capacity=8).extend(np.ones((2, 4), np.float32))
    >>> step = attention.attend(np.ones((2, 4), np.float32), memory)
    >>> sorted(memory.backward([(step, np.ones_like(step.context))]))
    ['keys', 'queries']
    """

    def __init__(self, run: _heed.Run, prepared: _heed.Memory, sequences: int, longest: int) -> None:
        self._run = run
        self._prepared = prepared
        self._of: Any = None  # the attention that made it
        self._inputs: List[Tuple[str, Input]] = []
        self._extend: Optional[Callable[[Any, Any], Tuple[_heed.Memory, List[Tuple[str, Input]]]]] = None
        self.sequences = sequences
        self.longest = longest

    def extend(self, keys: Any, values: Any = None) -> "Memory":
        """Adds one row per sequence, [B, key_width]; only for a memory from Attention.grow."""
        if self._extend is None:
            raise Error("extend: this memory is complete (from prepare); use attention.grow for one that grows")
        self._prepared, inputs = self._extend(keys, values)
        self._inputs += inputs
        self.longest += 1
        return self

    def backward(self, steps: Sequence[Tuple["Result", Any]]) -> Gradients:
        """Gradients of all steps at once. Call it once per memory.

        Args:
            steps: pairs of a Result and its d_context, or a dictionary with any of d_context, d_log_prob, d_entropy,
                d_guide_cost, d_penalty.

        Returns:
            "queries" and "bias": a list, one for each step; "keys", "values": like the input of prepare, or a list like
            the inputs of extend; every parameter by name.
        """
        seeds: List[Tuple[_heed.Value, np.ndarray]] = []
        for result, given in steps:
            seeds += result._seeds(given if isinstance(given, dict) else {"d_context": given})
        gradients: Gradients = dict(self._run.backward(seeds))
        for name in ("keys", "values"):
            each = [came.gradient() for given, came in self._inputs if given == name]
            if each:
                gradients[name] = each[0] if self._extend is None else each
        for name in ("queries", "bias"):
            each = [result._inputs[name].gradient() for result, _ in steps if name in result._inputs]
            if each:
                gradients[name] = each
        return gradients


class Result:
    """The result of a call. The arrays are read-only: they belong to the tape kept for the backward pass.

    Attributes:
        context: [B, Tq, width], ragged [rows, width]; without queries [B, width], or [B, r, width] for r learned
            queries.
        weights: [B, H, Tq, Tk], with weights=True.
        inner_weights: hierarchical: of the words in each sentence, [sentences, 1, 1, words].
        log_prob: hard_sampled during training: of each choice, [samples, B, H, Tq], ragged [samples, H, rows].
        entropy: [B, H, Tq], ragged [H, rows], with entropy=True; guide_cost: same shape, with guide_cost=True.
        penalty: structured: summed over the sequences, with penalty=True.
        state: for the next call, step by step.
        memory: the memory that was attended to.

    >>> result = heed.Attention("dot", query_width=4, key_width=4).forward(np.ones((1, 2, 4), np.float32), weights=True)
    >>> result.weights.shape, sorted(result.backward(np.ones_like(result.context)))
    ((1, 1, 2, 2), ['queries'])
    """

    context: np.ndarray
    weights: Optional[np.ndarray]
    inner_weights: Optional[np.ndarray]
    log_prob: Optional[np.ndarray]
    entropy: Optional[np.ndarray]
    guide_cost: Optional[np.ndarray]
    penalty: Optional[float]
    state: State

    def __init__(self, memory: Memory, raw: _heed.Result, rows: Optional[Rows], options: Dict[str, Any]) -> None:
        self.memory = memory
        self.state = raw.state
        self._raw = raw
        self._rows = rows
        self._inputs: Dict[str, Input] = {}
        flat = raw.context.array()
        if rows is not None:
            self.context = rows.back(flat)
        elif options["structure"] == "structured" or options["input"] == "learned_query":
            self.context = flat.reshape(memory.sequences, -1, flat.shape[1]) if flat.size else flat
        else:
            self.context = flat
        self.weights = padded(raw.weights, (rows.longest if rows is not None else 0, memory.longest))
        self.inner_weights = raw.inner_weights
        heads = options["heads"]
        self.log_prob = self._of_heads(raw.log_prob, heads, samples=True)
        self.entropy = self._of_heads(raw.entropy, heads)
        self.guide_cost = self._of_heads(raw.guide_cost, heads)
        self.penalty = float(raw.penalty.array()[0, 0]) if raw.penalty else None

    def _of_heads(self, value: _heed.Value, heads: int, samples: bool = False) -> Optional[np.ndarray]:
        if not value:
            return None
        array = value.array()
        leading = (array.shape[0] // heads, heads) if samples else (heads,)
        array = array.reshape(*leading, array.shape[1])
        return array if self._rows is None else self._rows.back_heads(array)

    def _seeds(self, given: Dict[str, Any]) -> List[Tuple[_heed.Value, np.ndarray]]:
        """Pairs of a tensor and its incoming gradient."""
        seeds = []
        for name, array in given.items():
            what = name[2:]
            if array is None:
                continue
            if name not in ("d_context", "d_log_prob", "d_entropy", "d_guide_cost", "d_penalty"):
                raise Error(
                    f"backward: expected d_context, d_log_prob, d_entropy, d_guide_cost or d_penalty, got {name}"
                )
            mine = getattr(self, what)
            if mine is None:
                raise Error(f"{name}: pass {what}=True to forward first")
            value = getattr(self._raw, what)
            if what == "penalty":
                seeds.append((value, np.full((1, 1), array, np.float32)))
                continue
            array = floats(array, name)
            if array.shape != mine.shape:
                raise Error(f"{name}: expected {text(mine.shape)} like {what}, got {text(array.shape)}")
            if self._rows is not None:
                array = self._rows.in_rows(array) if what == "context" else self._rows.in_heads(array)
            seeds.append((value, np.ascontiguousarray(array.reshape(value.array().shape))))
        if not seeds:
            raise Error("backward: expected d_context or another gradient, got none")
        return seeds

    def backward(
        self,
        d_context: Any = None,
        *,
        d_log_prob: Any = None,
        d_entropy: Any = None,
        d_guide_cost: Any = None,
        d_penalty: Optional[float] = None,
    ) -> Gradients:
        """Gradients of every input (queries, keys, values, bias) and every parameter, by name. Call it once per result.

        Each argument is shaped like the output it belongs to. If forward got one array as both queries and keys,
        "queries" holds the sum.
        """
        given = {
            "d_context": d_context,
            "d_log_prob": d_log_prob,
            "d_entropy": d_entropy,
            "d_guide_cost": d_guide_cost,
            "d_penalty": d_penalty,
        }
        gradients = self.memory.backward([(self, given)])
        for name in self._inputs:
            gradients[name] = gradients[name][0]
        return gradients

    def _repr_html_(self) -> str:
        """For notebooks: the weights, if they were requested."""
        return heads_html(self.weights, repr(self).strip("<>"))

    def __repr__(self) -> str:
        parts = [f"context {text(self.context.shape)}"]
        for name in ("weights", "inner_weights", "log_prob", "entropy", "guide_cost"):
            array = getattr(self, name)
            if array is not None:
                parts.append(f"{name} {text(array.shape)}")
        if self.penalty is not None:
            parts.append(f"penalty {self.penalty:g}")
        return f"<heed result: {', '.join(parts)}>"
