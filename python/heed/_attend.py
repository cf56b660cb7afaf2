"""heed.attend: attention as a function of arrays."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, Dict, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from ._arrays import as_float32, flag, kind_of, text, to_numpy
from ._composed import ComposedCall
from ._fused import FusedCall
from ._heed import Error
from ._question import Question, Window, checked_stages, question


@dataclass
class Attended:
    """What heed.attend gives where more than the output was asked for.

    Attributes:
        context: the output: like q, with the width of v.
        weights: [B, H, Tq, Tk], with return_weights.
        present_key, present_value: [B, kv_heads, past + new, width], with past_key.
        stages: those asked for by name, each [B, H, Tq, Tk].
    """

    context: np.ndarray
    weights: Optional[np.ndarray] = None
    present_key: Optional[np.ndarray] = None
    present_value: Optional[np.ndarray] = None
    stages: Dict[str, np.ndarray] = field(default_factory=dict)


def _call(q: Any, k: Any, v: Any, ask: Question) -> Union[FusedCall, ComposedCall]:
    return FusedCall(q, k, v, ask) if ask.fused else ComposedCall(q, k, v, ask)


def attend(
    q: Any,
    k: Any,
    v: Any = None,
    *,
    score: str = "scaled_dot",
    normalise: str = "softmax",
    region: Optional[str] = None,
    time: str = "dynamic",
    q_heads: int = 0,
    kv_heads: int = 0,
    scale: Optional[float] = None,
    softcap: float = 0.0,
    causal: bool = False,
    strict: bool = False,
    window: Window = None,
    sinks: Optional[int] = None,
    align: Union[str, int] = "top_left",
    mask: Any = None,
    bias: Any = None,
    key_lengths: Any = None,
    query_lengths: Any = None,
    query_documents: Any = None,
    key_documents: Any = None,
    query_offsets: Any = None,
    key_offsets: Any = None,
    past_key: Any = None,
    past_value: Any = None,
    dropout: float = 0.0,
    seed: int = 0,
    training: bool = True,
    divide_by_visible: bool = False,
    parameters: Optional[Mapping[str, Any]] = None,
    is_causal: bool = False,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    enable_gqa: Optional[bool] = None,
    promote: bool = False,
    out: Any = None,
    return_weights: bool = False,
    stages: Union[str, Sequence[str]] = (),
    **options: Any,
) -> Any:
    """out = normalise(softcap(score(q, k)) + bias, over the visible keys) v

    Arrays are NumPy's, or anything with __dlpack__ in the CPU's memory, float32. Nothing is copied on the way in,
    whatever the strides.

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
        score: a score by name: heed.mechanisms("score").
        normalise: softmax, relu, sigmoid, identity, sparsemax, entmax15, hard, ...: heed.mechanisms("normalise").
        region: words joined by +; causal, window, sinks, mask and lengths below say the same. None: global, or what
            the score brings along (intra: causal).
        time: dynamic, forced_forward, ...: heed.mechanisms("time").
        q_heads, kv_heads: H and G where they lie side by side. Default 1, and G = H.
        scale: of dot products. Default 1 / sqrt(D) for scaled_dot, 1 for dot.
        softcap: > 0: score = softcap * tanh(score / softcap), before bias and mask.
        causal: query i sees keys j <= position(i); with `strict` j < position(i).
        window: n: |position(i) - j| <= n; (left, right): each side, None for no bound. With region local_p: around the
            predicted place.
        sinks: the first keys that no window and no document hides. Default 0; 4 with region sinks.
        align: where query i stands among the keys. top_left: i (behind the past, where there is one);
            bottom_right: the last query on the last key, by query_lengths and key_lengths where given; a number n:
            n + i.
        mask: bool, True where visible; or float32, added to the scores. Broadcasts to [B, H, Tq, Tk]; missing keys at
            the end are hidden. Ragged: to [H, all queries, longest keys].
        bias: float32, added to the scores; shapes as mask. -inf hides.
        key_lengths, query_lengths: [B] that count, from the front. Queries beyond give 0.
        query_documents, key_documents: [B, Tq] and [B, Tk], ids that never fall: only equal ids see each other.
        query_offsets, key_offsets: [B + 1] each: a ragged batch, sequence b in the rows offsets[b] to offsets[b + 1].
        past_key, past_value: [B, G, past, width], before k and v. The result then has present_key, present_value.
        dropout: of the weights, drawn from `seed`, as is what hard_sampled chooses; training=False turns both off.
        divide_by_visible: relu, sigmoid, identity: divided by the number of visible keys.
        parameters: name -> array for scores that have some; heed.parameter_shapes(score, ...) lists them.
        is_causal, attn_mask, dropout_p: PyTorch's names for causal, mask and dropout; enable_gqa: False refuses key
            heads that several query heads share.
        promote: float16, bfloat16 and float64 are computed in float32, and results take q's type (float32 for bfloat16,
            which NumPy has not). Without it they are refused: a conversion is a copy.
        out: written to instead of a new array.
        return_weights: also the weights, before dropout.
        stages: any of raw, softcap, masked, weights: the scores of dot products on their way, each [B, H, Tq, Tk].
        options: further options of the score and its kin (hidden, depth, activation, ...).

    A query that sees no key gives 0.

    Returns:
        The output; an Attended with it where weights, stages or a past were asked for.
    """
    arguments = {name: value for name, value in locals().items() if name not in _NOT_ASKED}
    ask = question({**arguments, **options})
    wanted = checked_stages(stages)
    kind = q if promote else None
    call = _call(*_promoted(q, k, v, ask, promote), ask)
    call.forward(None if promote else out, weights=return_weights or "weights" in wanted)
    return _as(_result(call, return_weights, wanted), kind, out)


_NOT_ASKED = ("q", "k", "v", "out", "return_weights", "stages", "options", "promote")


def _promoted(q: Any, k: Any, v: Any, ask: Question, promote: bool) -> Tuple[Any, Any, Any]:
    """q, k, v, and what else of the question is floats, in float32."""
    if not flag(promote, "promote"):
        return q, k, v
    for name in ("mask", "bias", "past_key", "past_value"):
        setattr(ask, name, as_float32(getattr(ask, name), name))
    if ask.parameters:
        ask.parameters = {name: as_float32(x, name) for name, x in ask.parameters.items()}
    return as_float32(q, "q"), as_float32(k, "k"), as_float32(v, "v")


def _as(result: Any, like: Any, out: Any) -> Any:
    """The result in the type of `like`, and in `out` where that is given; without `like` as it is."""
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
    """Like attend, and a function for the gradients.

    Returns:
        (result, gradient): what attend gives, and gradient(d_out) -> {"q": ..., "k": ..., "v": ...}, each like its
        input; also "bias" (or "mask", if that was floats), "past_key", "past_value" and every parameter by its name.
        Where v was None its part is in "k". The arrays that came in and the output must not be changed before. It may
        be called again, with another d_out.
    """
    wanted = checked_stages(stages)
    ask = question(options)
    given = {"q": q, "k": k, "v": v, **{name: options.get(name) for name in _FLOATS}, **(ask.parameters or {})}
    call = _call(*_promoted(q, k, v, ask, promote), ask)
    call.forward(None if promote else out, gradient=True, weights=return_weights or "weights" in wanted)
    result = _as(_result(call, return_weights, wanted), q if promote else None, out)
    if not promote:
        return result, call.backward

    def gradient(d_out: Any) -> Dict[str, np.ndarray]:
        found = call.backward(as_float32(d_out, "d_out"))
        return {name: array.astype(kind_of(given[name], name)) for name, array in found.items()}

    return result, gradient


_FLOATS = ("mask", "attn_mask", "bias", "past_key", "past_value")
