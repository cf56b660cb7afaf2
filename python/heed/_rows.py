"""Batches as rows: converts [B, T, width], one sequence, and ragged batches to packed rows and back."""

from __future__ import annotations

import math
from typing import Any, Optional, Tuple

import numpy as np

from ._arrays import expect_dims, integers, matrix_rows, offsets, text
from ._heed import Error

SINGULAR = {"queries": "query", "keys": "key", "values": "value"}


class Rows:
    """A batch of sequences as [rows, width] with offsets. Nothing is copied, except for `pack`."""

    def __init__(self, x: Any, name: str, *, at: Any = None, lengths: Any = None, pack: bool = False) -> None:
        """x: [B, T, width], [T, width], or with offsets `at` [rows, width]. `pack`: without rows beyond `lengths`."""
        self.name = name
        array = matrix_rows(x, name)
        self.shape = array.shape
        self.lengths: Optional[np.ndarray] = None
        self.kept: Optional[np.ndarray] = None  # of the rows of [B, T, width], if some were left out
        if at is not None:
            expect_dims(array, name, "[rows, width] with offsets", (2,))
            self.offsets = offsets(at, f"{SINGULAR[name]}_offsets", array.shape[0])
        else:
            expect_dims(array, name, "[B, T, width], [T, width], or [rows, width] with offsets", (2, 3))
            batch, length = (1, array.shape[0]) if array.ndim == 2 else array.shape[:2]
            self.offsets = np.arange(batch + 1, dtype=np.int64) * length
        if lengths is not None:
            self._read_lengths(lengths, pack)
        self.rows = _as_matrix(array)
        if self.kept is not None:
            self.rows = self.rows[self.kept]

    def _read_lengths(self, lengths: Any, pack: bool) -> None:
        name = f"{SINGULAR[self.name]}_lengths"
        counts = integers(lengths, name, np.int32, (self.batch,))
        most = np.diff(self.offsets)
        if (counts < 0).any() or (counts > most).any():
            raise Error(f"{name}: expected 0 to {text(most.tolist())}, got {text(counts.tolist())}")
        if not pack:
            self.lengths = counts
            return
        place = np.arange(self.offsets[-1]) - np.repeat(self.offsets[:-1], most)
        self.kept = place < np.repeat(counts, most)
        self.offsets = np.append(np.int64(0), np.cumsum(counts, dtype=np.int64))

    def beside(self, x: Any, name: str) -> "Rows":
        """Other columns of the same rows."""
        array = matrix_rows(x, name)
        if array.shape[:-1] != self.shape[:-1]:
            wanted = text((*self.shape[:-1], f"{SINGULAR[name]}_width"))
            raise Error(f"{name}: expected {wanted} beside {self.name} {text(self.shape)}, got {text(array.shape)}")
        other = Rows.__new__(Rows)
        other.__dict__.update(self.__dict__, name=name, shape=array.shape, rows=_as_matrix(array))
        if self.kept is not None:
            other.rows = other.rows[self.kept]
        return other

    @property
    def batch(self) -> int:
        return len(self.offsets) - 1

    @property
    def batched(self) -> bool:
        """Whether they were given as [B, T, width]."""
        return len(self.shape) == 3

    @property
    def longest(self) -> int:
        """T, or the length of the longest sequence."""
        return self.shape[1] if self.batched else int(np.diff(self.offsets).max(initial=0))

    def back(self, rows: np.ndarray) -> np.ndarray:
        """Rows like these, in the input's shape; 0 where a row was left out."""
        if self.kept is not None:
            whole = np.zeros((self.kept.size, rows.shape[1]), np.float32)
            whole[self.kept] = rows
            rows = whole
        return rows.reshape(*self.shape[:-1], rows.shape[1])

    def in_rows(self, array: np.ndarray) -> np.ndarray:
        """The reverse: an array as returned by back(), as rows."""
        rows = _as_matrix(np.ascontiguousarray(array))
        return rows if self.kept is None else rows[self.kept]

    def back_heads(self, numbers: np.ndarray) -> np.ndarray:
        """A number per head and row, [.., H, rows]: as [.., B, H, T] if the rows were given as [B, T]."""
        if not self.batched:
            return numbers
        if self.kept is not None:
            whole = np.zeros((*numbers.shape[:-1], self.kept.size), np.float32)
            whole[..., self.kept] = numbers
            numbers = whole
        return np.moveaxis(numbers.reshape(*numbers.shape[:-1], *self.shape[:2]), -2, -3)

    def in_heads(self, array: np.ndarray) -> np.ndarray:
        """The reverse, as [.. * H, rows]."""
        if self.batched:
            array = np.moveaxis(array, -3, -2)
            array = array.reshape(*array.shape[:-2], array.shape[-2] * array.shape[-1])
            if self.kept is not None:
                array = array[..., self.kept]
        return _as_matrix(np.ascontiguousarray(array))

    def documents(self, ids: Any) -> np.ndarray:
        """An id per row."""
        name = f"{SINGULAR[self.name]}_documents"
        array = integers(ids, name, np.int32, self.shape[:-1]).reshape(-1)
        return array if self.kept is None else array[self.kept]


def _as_matrix(array: np.ndarray) -> np.ndarray:
    return array.reshape(math.prod(array.shape[:-1]), array.shape[-1])


class Pairs:
    """A mask or bias, [B, H, Tq, Tk] with axes that may be 1, as a row for each row of the queries (and head)."""

    def __init__(self, array: np.ndarray, name: str, rows: Rows, keys: int, heads: int) -> None:
        """array: [Tq, Tk], [B, Tq, Tk] or [B, H, Tq, Tk]; for rows with offsets [rows, Tk] or [H, rows, Tk]."""
        self.shape = array.shape
        self.rows = rows
        batch, queries = rows.shape[:2] if rows.batched else (1, rows.shape[0])
        if rows.batched:
            expect_dims(array, name, "[Tq, Tk], [B, Tq, Tk] or [B, H, Tq, Tk]", (2, 3, 4))
            four = array if array.ndim == 4 else array.reshape(array.shape[:-2] + (1,) + array.shape[-2:])
            four = four if four.ndim == 4 else four[None]
        else:
            expect_dims(array, name, "[rows, Tk], [H, rows, Tk] or [1, H, rows, Tk]", (2, 3, 4))
            four = array.reshape((1,) * (4 - array.ndim) + array.shape)
        self.heads = four.shape[1]
        self.full = (batch, self.heads, queries, keys)
        if any(have not in (1, want) for have, want in zip(four.shape, (batch, heads, queries, keys))):
            names, sizes = ("B, H, Tq", (batch, heads, queries)) if rows.batched else ("H, rows", (heads, queries))
            wanted = f"[{names}, Tk] = {text((*sizes, keys))}"
            raise Error(f"{name}: expected to broadcast to {wanted}, got {text(array.shape)}")
        self.axes = tuple(i for i in range(4) if four.shape[i] == 1 and self.full[i] != 1)
        side = np.moveaxis(np.broadcast_to(four, self.full), 1, 2)  # [B, Tq, H, Tk]: a row per query and head
        self.dense = _as_matrix(np.ascontiguousarray(side))
        if rows.kept is not None:
            self.dense = self.dense[np.repeat(rows.kept, self.heads)]

    def back(self, gradient: np.ndarray) -> np.ndarray:
        """The gradient of `dense`, in the shape of the argument."""
        if self.rows.kept is not None:
            kept = np.repeat(self.rows.kept, self.heads)
            whole = np.zeros((kept.size, gradient.shape[1]), np.float32)
            whole[kept] = gradient
            gradient = whole
        batch, heads, queries, keys = self.full
        four = np.moveaxis(gradient.reshape(batch, queries, heads, keys), 2, 1)
        return four.sum(axis=self.axes, keepdims=True).reshape(self.shape)


def padded(weights: Optional[np.ndarray], sizes: Tuple[int, int]) -> Optional[np.ndarray]:
    """Weights with zeros for rows and columns that were left out at the end of every sequence."""
    if weights is None or (weights.shape[2] >= sizes[0] and weights.shape[3] >= sizes[1]):
        return weights
    whole = np.zeros((*weights.shape[:2], max(sizes[0], weights.shape[2]), max(sizes[1], weights.shape[3])), np.float32)
    whole[:, :, : weights.shape[2], : weights.shape[3]] = weights
    return whole
