"""Finite inputs whose scores or sums do not fit in float32: docs/numerics.md. The loop does not look for them; here one
pass over the output does, and the inputs are looked at only if that finds something."""

from __future__ import annotations

from typing import Any, Callable, Dict

import numpy as np

from . import _heed
from ._heed import Error

_LARGEST = float(np.finfo(np.float32).max)
_SUM_TO_1 = ("softmax", "sparsemax", "entmax15", "hard")


Inputs = Callable[[], Dict[str, Any]]


def refuse_overflow(out: np.ndarray, inputs: Inputs) -> bool:
    """Raises if `out` holds infinities or NaN although every input, by name, is finite. Whether a row is all 0."""
    lost, zero = _heed.row_faults(out)
    if lost:
        _raise(inputs)
    return zero


def refuse_overflow_of_dots(out: np.ndarray, views: Any, inputs: Inputs, options: Dict[str, Any]) -> None:
    """The same for dot products, and for rows whose scores all overflow to -inf, as if nothing were visible there.

    Args:
        out, views: of q, k and v, [B, heads, T, width] each, ragged [heads, tokens, width].
        inputs: all of them, by name.
        options: of the loop.
    """
    if not refuse_overflow(out, inputs) or options["normalise"] not in _SUM_TO_1 or options["softcap"]:
        return
    q, k, out = (array[None] if array.ndim == 3 else array for array in (views[0], views[1], out))
    scale = options["scale"]
    if not k.size or _largest(q) * _largest(k) * abs(scale) * q.shape[-1] <= _LARGEST:
        return
    for b, h, i in np.argwhere(~out.any(axis=-1)):
        keys = k[b, h * k.shape[1] // q.shape[1]].astype(np.float64)
        if (scale * (keys @ q[b, h, i].astype(np.float64)) < -_LARGEST).all():
            _raise(inputs)


def _largest(array: np.ndarray) -> float:
    return max(float(array.max()), -float(array.min())) if array.size else 0.0


def _raise(inputs: Inputs) -> None:
    given = {name: np.asarray(array) for name, array in inputs().items() if array is not None}
    if not all(np.isfinite(array).all() for array in given.values()):
        return  # NaN and infinities that come in go through
    sizes = {name: _largest(array) for name, array in given.items()}
    name = max(sizes, key=lambda each: sizes[each])
    listed = ", ".join(f"{each} {size:.3g}" for each, size in sizes.items())
    raise Error(
        f"{name}: numbers too large for float32: a score or a sum is beyond {_LARGEST:.3g}, so that there is no "
        f"answer. The largest are: {listed}. Scale the inputs down"
    )
