"""The ONNX operator Attention, with its own names."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

import numpy as np

from ._arrays import to_numpy
from ._attend import attend
from ._heed import Error
from ._question import STAGES


class OnnxAttention(NamedTuple):
    """The operator's outputs.

    Attributes:
        Y: like Q, with the width of V.
        present_key, present_value: [B, G, past + new, width] if a past was given, else None.
        qk_matmul_output: [B, H, Tq, Tk] if qk_matmul_output_mode was given, else None.
    """

    Y: np.ndarray
    present_key: Optional[np.ndarray]
    present_value: Optional[np.ndarray]
    qk_matmul_output: Optional[np.ndarray]


def _with_hidden_keys(mask: Any, K: Any, past_key: Any) -> np.ndarray:
    """The operator hides keys missing from a mask, even if the mask has only one key; attend would broadcast that."""
    mask = to_numpy(mask, "attn_mask")
    keys = K.shape[-2] + (0 if past_key is None else past_key.shape[-2])
    fill = False if mask.dtype == np.bool_ else -np.inf
    return np.pad(mask, [(0, 0)] * (mask.ndim - 1) + [(0, max(0, keys - 1))], constant_values=fill)


def onnx_attention(
    Q: Any,
    K: Any,
    V: Any,
    attn_mask: Any = None,
    past_key: Any = None,
    past_value: Any = None,
    nonpad_kv_seqlen: Any = None,
    *,
    is_causal: int = 0,
    kv_num_heads: Optional[int] = None,
    q_num_heads: Optional[int] = None,
    qk_matmul_output_mode: Optional[int] = None,
    scale: Optional[float] = None,
    softcap: float = 0.0,
    promote: bool = False,
) -> OnnxAttention:
    """Attention of opsets 23 and 24: https://onnx.ai/onnx/operators/onnx__Attention.html

    >>> Q = K = V = np.ones((1, 2, 3, 4), np.float32)
    >>> heed.onnx_attention(Q, K, V, is_causal=1).Y.shape
    (1, 2, 3, 4)

    Q [B, H, Tq, D] or [B, Tq, H * D] with q_num_heads, K and V the same with kv_num_heads; past_key and past_value
    [B, G, past, width]; attn_mask of 2 to 4 dimensions, bool or float; nonpad_kv_seqlen [B].

    Where versions of the operator's text contradict each other, this follows the latest: the softcap comes before the
    mask; a query that sees no key gives 0; causal queries follow the past, or end at nonpad_kv_seqlen, or start at the
    first key. qk_matmul_output is None unless qk_matmul_output_mode is given: 0 raw
    scores, 1 after the softcap, 2 with the mask, 3 weights. promote: accept float16, bfloat16 and float64 too, computed
    in float32.
    """
    if nonpad_kv_seqlen is not None and past_key is not None:
        raise Error("nonpad_kv_seqlen: cannot be combined with past_key and past_value")
    if np.ndim(Q) == 3 and not (q_num_heads and kv_num_heads):
        raise Error("q_num_heads, kv_num_heads: expected both with Q, K and V of 3 dimensions")
    if qk_matmul_output_mode not in (None, 0, 1, 2, 3):
        raise Error(f"qk_matmul_output_mode: expected 0, 1, 2 or 3, got {qk_matmul_output_mode}")
    if attn_mask is not None and attn_mask.shape[-1] == 1:
        attn_mask = _with_hidden_keys(attn_mask, K, past_key)
    stage = () if qk_matmul_output_mode is None else (STAGES[qk_matmul_output_mode],)
    result = attend(
        Q,
        K,
        V,
        q_heads=q_num_heads or 0,
        kv_heads=kv_num_heads or 0,
        causal=bool(is_causal),
        align="bottom_right" if nonpad_kv_seqlen is not None else "top_left",
        mask=attn_mask,
        key_lengths=nonpad_kv_seqlen,
        past_key=past_key,
        past_value=past_value,
        scale=scale,
        softcap=softcap,
        promote=promote,
        stages=stage,
    )
    if isinstance(result, np.ndarray):
        return OnnxAttention(result, None, None, None)
    scores = result.stages[stage[0]] if stage else None
    return OnnxAttention(result.context, result.present_key, result.present_value, scores)
