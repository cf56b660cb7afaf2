"""heed.attend: attention as a function of arrays."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field, fields
from typing import Any, Callable, Dict, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from ._arrays import as_float32, flag, kind_of, text, to_numpy
from ._composed import ComposedCall
from ._fused import FusedCall
from ._heed import Error
from ._plot import heads_html
from ._question import QUESTION_FIELDS, Question, checked_stages, question


@dataclass
class Attended:
    """What heed.attend returns if more than the output was requested.

    Attributes:
        context: the output, shaped like q with the width of v.
        weights: [B, H, Tq, Tk], with return_weights.
        present_key, present_value: [B, kv_heads, past + new, width], with past_key.
        stages: the requested ones by name, each [B, H, Tq, Tk].
    """

    context: np.ndarray
    weights: Optional[np.ndarray] = None
    present_key: Optional[np.ndarray] = None
    present_value: Optional[np.ndarray] = None
    stages: Dict[str, np.ndarray] = field(default_factory=dict)

    def _repr_html_(self) -> str:
        """For notebooks: the weights, if they were requested."""
        return heads_html(self.weights, f"context {text(self.context.shape)}")


def _call(q: Any, k: Any, v: Any, ask: Question) -> Union[FusedCall, ComposedCall]:
    return FusedCall(q, k, v, ask) if ask.fused else ComposedCall(q, k, v, ask)


def _with_every_argument(function: Callable[..., Any]) -> Callable[..., Any]:
    """For help(): puts the arguments of a Question into the signature and docstring of a function that passes them
        on."""
    own = inspect.signature(function)
    first, last, rest = [], [], []
    for parameter in own.parameters.values():
        named = {parameter.KEYWORD_ONLY: last, parameter.VAR_KEYWORD: rest}
        named.get(parameter.kind, first).append(parameter)
    asked = [
        inspect.Parameter(f.name, inspect.Parameter.KEYWORD_ONLY, default=f.default, annotation=f.type)
        for f in fields(Question)
        if f.name in QUESTION_FIELDS
    ]
    function.__signature__ = own.replace(parameters=first + asked + last + rest)  # type: ignore[attr-defined]
    if function.__doc__ and Question.__doc__:  # python -OO has none
        words = Question.__doc__.partition("Attributes:\n")[2].strip()
        function.__doc__ = function.__doc__.replace("{question}", words)
    return function


@_with_every_argument
def attend(
    q: Any,
    k: Any,
    v: Any = None,
    *,
    promote: bool = False,
    out: Any = None,
    return_weights: bool = False,
    stages: Union[str, Sequence[str]] = (),
    **options: Any,
) -> Any:
    """out = normalise(softcap(score(q, k)) + bias, over the visible keys) v

    Arrays are float32: NumPy arrays, or anything with __dlpack__ in CPU memory. No input is copied, whatever its
    strides.

    >>> rng = np.random.default_rng(0)
    >>> q = rng.standard_normal((2, 8, 10, 64), dtype=np.float32)      # [B, H, Tq, D]
    >>> k = rng.standard_normal((2, 2, 12, 64), dtype=np.float32)      # [B, G, Tk, D]
    >>> heed.attend(q, k, causal=True).shape, heed.attend(q, k, window=3, return_weights=True).weights.shape
    ((2, 8, 10, 64), (2, 8, 10, 12))

    ============================  =======================  =========================  ==============================
    layout                        q                        k, v                       output
    ============================  =======================  =========================  ==============================
    heads apart                   [B, H, Tq, D]            [B, G, Tk, D or Dv]        [B, H, Tq, Dv]
    heads side by side            [B, Tq, H * D]           [B, Tk, G * (D or Dv)]     [B, Tq, H * Dv]
    one sequence                  [Tq, H * D]              [Tk, G * (D or Dv)]        [Tq, H * Dv]
    ragged (see query_offsets)    [tokens, H * D] or       [tokens, G * (D or Dv)]    like q
                                  [tokens, H, D]           or [tokens, G, D or Dv]
    ============================  =======================  =========================  ==============================

    G divides H: head h reads key and value head h // (H // G).

    Args:
        v: None: the keys are the values.
        {question}
        promote: compute float16, bfloat16 and float64 in float32; results have q's type (float32 for bfloat16, which
            NumPy lacks). Otherwise they are refused, because a conversion is a copy.
        out: written to instead of a new array.
        return_weights: also the weights, before dropout.
        stages: any of raw, softcap, masked, weights: intermediate scores of dot products, each [B, H, Tq, Tk].
        options: further options of the mechanism (hidden, depth, activation, ...).

    A query that sees no key gives 0. Numbers so large that float32 cannot hold a score are refused: docs/numerics.md.

    Returns:
        The output, or an Attended if weights, stages or a past were requested.
    """
    ask = question(options)
    wanted = checked_stages(stages)
    call = _call(*_promoted(q, k, v, ask, promote), ask)
    call.forward(None if promote else out, weights=return_weights or "weights" in wanted)
    call.refuse_overflow()
    return _as(_result(call, return_weights, wanted), q if promote else None, out)


def _promoted(q: Any, k: Any, v: Any, ask: Question, promote: bool) -> Tuple[Any, Any, Any]:
    """q, k, v and every other float array of the question, in float32."""
    if not flag(promote, "promote"):
        return q, k, v
    for name in ("mask", "bias", "past_key", "past_value"):
        setattr(ask, name, as_float32(getattr(ask, name), name))
    if ask.parameters:
        ask.parameters = {name: as_float32(x, name) for name, x in ask.parameters.items()}
    return as_float32(q, "q"), as_float32(k, "k"), as_float32(v, "v")


def _as(result: Any, like: Any, out: Any) -> Any:
    """The result in the type of `like`, written to `out` if given; without `like`, unchanged."""
    if like is None:
        return result
    kind = kind_of(like, "q")

    def cast(array: Any) -> Any:
        return None if array is None else array.astype(kind, copy=False)

    def context(array: np.ndarray) -> np.ndarray:
        if out is None:
            return cast(array)
        if np.shape(out) != array.shape:
            raise Error(f"out: expected shape {text(array.shape)}, got {text(np.shape(out))}")
        to_numpy(out, "out")[...] = array
        return to_numpy(out, "out")

    if isinstance(result, np.ndarray):
        return context(result)
    stages = {name: cast(array) for name, array in result.stages.items()}
    present = cast(result.present_key), cast(result.present_value)
    return Attended(context(result.context), cast(result.weights), *present, stages)


def _result(call: Any, return_weights: bool, stages: Tuple[str, ...]) -> Any:
    ask = call.ask
    if not (return_weights or stages or ask.past_key is not None):
        return call.out
    result = Attended(call.out)
    if return_weights:
        result.weights = call.weights()
    if ask.past_key is not None:
        result.present_key, result.present_value = call.views[1], call.views[2]
    result.stages = {name: call.stage(name) for name in stages}
    return result


def attend_with_gradient(
    q: Any,
    k: Any,
    v: Any = None,
    *,
    out: Any = None,
    return_weights: bool = False,
    stages: Union[str, Sequence[str]] = (),
    promote: bool = False,
    **options: Any,
) -> Tuple[Any, Callable[[Any], Dict[str, np.ndarray]]]:
    """Like attend, and also returns a function for the gradients.

    >>> q = k = np.ones((1, 4, 8), np.float32)
    >>> out, gradient = heed.attend_with_gradient(q, k, causal=True)
    >>> sorted(gradient(np.ones_like(out)))
    ['k', 'q']

    Returns:
        (result, gradient): what attend returns, and gradient(d_out) -> {"q": ..., "k": ..., "v": ...}, each like its
        input; also "bias" (or a float "mask"), "past_key", "past_value" and every parameter by name. If v was None, its
        gradient is part of "k". Do not change the inputs or the output before calling it. It may be called again, with
        another d_out.
    """
    wanted = checked_stages(stages)
    ask = question(options)
    given = {"q": q, "k": k, "v": v, **{name: options.get(name) for name in _FLOATS}, **(ask.parameters or {})}
    call = _call(*_promoted(q, k, v, ask, promote), ask)
    call.forward(None if promote else out, gradient=True, weights=return_weights or "weights" in wanted)
    call.refuse_overflow()
    result = _as(_result(call, return_weights, wanted), q if promote else None, out)
    if not promote:
        return result, call.backward

    def gradient(d_out: Any) -> Dict[str, np.ndarray]:
        found = call.backward(as_float32(d_out, "d_out"))
        return {name: array.astype(kind_of(given[name], name)) for name, array in found.items()}

    return result, gradient


_FLOATS = ("mask", "attn_mask", "bias", "past_key", "past_value")
