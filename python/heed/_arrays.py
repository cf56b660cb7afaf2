"""Input arrays: what is accepted, what is refused, and with which message."""

from __future__ import annotations

import math
import operator
from typing import Any, Optional, Sequence, Tuple

import numpy as np

from ._heed import Error

CPU_DEVICES = (1, 3, 11)  # DLPack's numbers for memory that the CPU reads: plain, and pinned by CUDA or ROCm


def _dtype_name(x: Any) -> str:
    return str(getattr(x, "dtype", type(x).__name__)).rsplit(".", 1)[-1]


def to_numpy(x: Any, name: str) -> np.ndarray:
    """The same memory as a NumPy array; never a copy."""
    if isinstance(x, np.ndarray):
        return x
    if not hasattr(x, "__dlpack__"):
        raise Error(
            f"{name}: expected a NumPy array or an object with __dlpack__, got {type(x).__name__}; "
            "numpy.asarray(x, dtype=numpy.float32) makes one"
        )
    device = getattr(x, "__dlpack_device__", lambda: (1, 0))()[0]
    if int(device) not in CPU_DEVICES:
        where = getattr(x, "device", f"DLPack device {int(device)}")
        raise Error(f"{name}: expected CPU memory, got an array on {where}")
    try:
        return np.from_dlpack(x)
    except (BufferError, RuntimeError, TypeError) as reason:
        return _by_array_protocol(x, name, reason)


def _by_array_protocol(x: Any, name: str, reason: Exception) -> np.ndarray:
    """For types that DLPack lacks and NumPy has: bool, in older versions."""
    try:
        if hasattr(x, "__array__"):
            return np.asarray(x)
    except (RuntimeError, TypeError):
        pass
    raise Error(f"{name}: expected float32 that DLPack can export, got {_dtype_name(x)}: {reason}")


def floats(x: Any, name: str) -> np.ndarray:
    """float32, by reference. Only memory that is not aligned to its elements is copied."""
    array = to_numpy(x, name)
    if array.dtype != np.float32:
        hint = ".to(torch.float32)" if type(x).__module__.startswith("torch") else ".astype(numpy.float32)"
        raise Error(f"{name}: expected float32, got {array.dtype}; convert with {hint}")
    if not array.flags.aligned or any(stride % 4 for stride in array.strides):
        return array.copy()
    return array


def as_float32(x: Any, name: str) -> Any:
    """float16, bfloat16 and float64 as float32, which is a copy; everything else unchanged."""
    if x is None:
        return None
    if _is_bfloat16_of_torch(x):
        return x.detach().float().numpy()
    array = to_numpy(x, name)
    return array.astype(np.float32) if array.dtype.name in ("float16", "bfloat16", "float64") else array


def kind_of(x: Any, name: str) -> np.dtype:
    """The type of an array; float32 if NumPy has no such type."""
    return np.dtype(np.float32) if _is_bfloat16_of_torch(x) else to_numpy(x, name).dtype


def _is_bfloat16_of_torch(x: Any) -> bool:
    """DLPack has the type, NumPy does not."""
    return type(x).__module__.startswith("torch") and str(getattr(x, "dtype", "")) == "torch.bfloat16"


def matrix_rows(x: Any, name: str) -> np.ndarray:
    """Contiguous float32: copied if it is not."""
    return np.ascontiguousarray(floats(x, name))


def integers(x: Any, name: str, kind: type, shape: Optional[Tuple[int, ...]] = None) -> np.ndarray:
    """Contiguous whole numbers (a list will do) as `kind`; numbers out of its range are refused."""
    try:
        array = np.asarray(x) if not hasattr(x, "__dlpack__") else to_numpy(x, name)
    except (ValueError, OverflowError):  # rows of unequal lengths
        raise Error(f"{name}: expected whole numbers, got {x!r}") from None
    if array.size and array.dtype == object and all(isinstance(n, int) for n in array.flat):
        whole_number(max(array.flat, key=abs), name, np.iinfo(kind).min, np.iinfo(kind).max)
    if array.dtype.kind not in "iu" and array.size:
        raise Error(f"{name}: expected whole numbers, got {array.dtype}")
    if shape is not None and array.shape != shape:
        raise Error(f"{name}: expected shape {text(shape)}, got {text(array.shape)}")
    if array.size and array.dtype != kind:
        for extreme in (int(array.min()), int(array.max())):
            whole_number(extreme, name, np.iinfo(kind).min, np.iinfo(kind).max)
    return np.ascontiguousarray(array, dtype=kind)


def _power_of_two(n: int) -> str:
    """2147483647 as 2^31 - 1."""
    for sign, size in ((1, n), (-1, -n)):
        for off in (0, 1):
            power = size + off
            if power > 1 << 16 and power & (power - 1) == 0:
                text_of = f"2^{power.bit_length() - 1}" + (" - 1" if off else "")
                return text_of if sign > 0 else f"-{text_of}"
    return str(n)


def whole_number(x: Any, name: str, least: int, most: int) -> int:
    """A whole number from `least` to `most`; Python's bool does not count."""
    wanted = f"a whole number from {_power_of_two(least)} to {_power_of_two(most)}"
    if isinstance(x, (bool, np.bool_)):
        raise Error(f"{name}: expected {wanted}, got {x}")
    try:
        found = operator.index(x)
    except TypeError:
        raise Error(f"{name}: expected {wanted}, got {x!r}") from None
    if not least <= found <= most:
        raise Error(f"{name}: expected {wanted}, got {found}")
    return found


def number(x: Any, name: str) -> float:
    """A finite number."""
    if isinstance(x, (bool, np.bool_, str, bytes)) or not hasattr(x, "__float__") or np.ndim(x) != 0:
        raise Error(f"{name}: expected a number, got {x!r}")
    found = float(x)
    if not math.isfinite(found):
        raise Error(f"{name}: expected a finite number, got {found}")
    return found


def flag(x: Any, name: str) -> bool:
    """True or False."""
    if not isinstance(x, (bool, np.bool_)):
        raise Error(f"{name}: expected True or False, got {x!r}")
    return bool(x)


SEEDS = (0, 2**64 - 1)
KEYS = 2**30  # the longest sequence


def offsets(x: Any, name: str, rows: int) -> np.ndarray:
    """[B + 1] numbers that start at 0, never decrease, and end at the number of rows."""
    array = integers(x, name, np.int64)
    if array.ndim != 1 or not array.size or array[0] != 0 or array[-1] != rows or (np.diff(array) < 0).any():
        raise Error(
            f"{name}: expected numbers that rise from 0 to {rows}, the number of rows, got {text(array.tolist())}"
        )
    return array


def writable(x: Any, name: str, shape: Tuple[int, ...]) -> np.ndarray:
    array = floats(x, name)
    if array.shape != shape:
        raise Error(f"{name}: expected shape {text(shape)}, got {text(array.shape)}")
    if array.base is None and array is not x or not array.flags.writeable:
        raise Error(f"{name}: expected a writable array")
    return array


def text(shape: Sequence[Any]) -> str:
    return "[" + ", ".join(str(n) for n in shape) + "]"


def expect_dims(array: np.ndarray, name: str, shapes: str, dims: Tuple[int, ...]) -> None:
    if array.ndim not in dims:
        raise Error(f"{name}: expected {shapes}, got {text(array.shape)}")
