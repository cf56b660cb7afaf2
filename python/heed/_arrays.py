"""Arrays in: what is accepted, what is refused, and what each message says."""

from __future__ import annotations

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
        raise Error(f"{name}: expected memory of the CPU, got an array on {where}")
    try:
        return np.from_dlpack(x)
    except (BufferError, RuntimeError, TypeError) as reason:
        return _by_array_protocol(x, name, reason)


def _by_array_protocol(x: Any, name: str, reason: Exception) -> np.ndarray:
    """For what DLPack cannot say and NumPy can: bool, in older versions."""
    try:
        if hasattr(x, "__array__"):
            return np.asarray(x)
    except (RuntimeError, TypeError):
        pass
    raise Error(f"{name}: expected float32 that DLPack can hand over, got {_dtype_name(x)}: {reason}")


def floats(x: Any, name: str) -> np.ndarray:
    """float32, by reference. Only memory that is not aligned to its elements is copied."""
    array = to_numpy(x, name)
    if array.dtype != np.float32:
        hint = ".to(torch.float32)" if type(x).__module__.startswith("torch") else ".astype(numpy.float32)"
        raise Error(f"{name}: expected float32, got {array.dtype}; convert with {hint}")
    if not array.flags.aligned or any(stride % 4 for stride in array.strides):
        return array.copy()
    return array


def matrix_rows(x: Any, name: str) -> np.ndarray:
    """float32 without gaps: copied where there are any."""
    return np.ascontiguousarray(floats(x, name))


def integers(x: Any, name: str, kind: type, shape: Optional[Tuple[int, ...]] = None) -> np.ndarray:
    """Whole numbers (a list will do), without gaps, as `kind`."""
    array = np.asarray(x) if not hasattr(x, "__dlpack__") else to_numpy(x, name)
    if array.dtype.kind not in "iu" and array.size:
        raise Error(f"{name}: expected whole numbers, got {array.dtype}")
    if shape is not None and array.shape != shape:
        raise Error(f"{name}: expected shape {text(shape)}, got {text(array.shape)}")
    return np.ascontiguousarray(array, dtype=kind)


def offsets(x: Any, name: str, rows: int) -> np.ndarray:
    """[B + 1] numbers that begin with 0, never fall, and end with the number of rows."""
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
        raise Error(f"{name}: expected memory that can be written to")
    return array


def text(shape: Sequence[Any]) -> str:
    return "[" + ", ".join(str(n) for n in shape) + "]"


def expect_dims(array: np.ndarray, name: str, shapes: str, dims: Tuple[int, ...]) -> None:
    if array.ndim not in dims:
        raise Error(f"{name}: expected {shapes}, got {text(array.shape)}")
