"""How heads and sequences are laid out in an array, and views of it in the form that the loop needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Tuple

import numpy as np

from ._arrays import expect_dims, text
from ._heed import Error


@dataclass(frozen=True)
class Layout:
    """One of [B, heads, T, width], [B, T, heads * width], [T, heads * width]; ragged: [tokens, heads, width] or
    [tokens, heads * width]."""

    dims: int
    heads: int
    ragged: bool

    @staticmethod
    def of(array: np.ndarray, name: str, heads: int, ragged: bool) -> "Layout":
        """`heads`: 0 if unknown."""
        if ragged:
            expect_dims(array, name, "[tokens, heads * width] or [tokens, heads, width] with offsets", (2, 3))
            found = array.shape[1] if array.ndim == 3 else 0
        else:
            expect_dims(array, name, "[B, heads, T, width], [B, T, heads * width] or [T, width]", (2, 3, 4))
            found = array.shape[1] if array.ndim == 4 else 0
        if found and heads and found != heads:
            raise Error(f"{name}: expected {heads} heads, got {text(array.shape)}")
        heads = found or heads or 1
        if not found and array.shape[-1] % heads:
            raise Error(f"{name}: expected a width that is a multiple of {heads} heads, got {text(array.shape)}")
        return Layout(array.ndim, heads, ragged)

    def view(self, array: np.ndarray) -> np.ndarray:
        """[B, heads, T, width], ragged [heads, tokens, width]: the same memory."""
        if self.dims == 4:
            return array
        if self.ragged:
            if self.dims == 2:
                array = array.reshape(array.shape[0], self.heads, array.shape[1] // self.heads)
            return array.transpose(1, 0, 2)
        if self.dims == 2:
            array = array[None]
        batch, length, width = array.shape
        return array.reshape(batch, length, self.heads, width // self.heads).transpose(0, 2, 1, 3)

    def shape(self, like: np.ndarray, width: int) -> Tuple[int, ...]:
        """The shape of an array with the rows of `like` and this width per head."""
        if self.dims == 4 or (self.ragged and self.dims == 3):
            return like.shape[:-1] + (width,)
        return like.shape[:-1] + (self.heads * width,)
