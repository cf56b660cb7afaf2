"""The parameters of an attention, by name."""

from __future__ import annotations

from collections.abc import Mapping as MappingBase
from typing import Any, Dict, Iterator, Mapping

import numpy as np

from ._arrays import floats, text
from ._heed import Error


class Parameters(MappingBase):
    """Name -> array. The arrays are the parameters' own memory: write to them, or assign a whole one.

    >>> parameters = heed.Attention("additive", query_width=3, key_width=2, hidden=4).parameters
    >>> parameters["score.v"] = np.zeros(4, np.float32)
    >>> parameters.load({name: 0 * array for name, array in parameters.items()})
    >>> parameters.describe()[:11]
    'score.query'
    """

    def __init__(self, arrays: Dict[str, np.ndarray]) -> None:
        self._arrays = arrays

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self._arrays:
            raise KeyError(f"there is no parameter {name}; there are: {', '.join(self._arrays) or 'none'}")
        return self._arrays[name]

    def __setitem__(self, name: str, value: Any) -> None:
        mine = self[name]
        value = floats(value, name)
        if value.shape != mine.shape:
            raise Error(f"{name}: expected {text(mine.shape)}, got {text(value.shape)}")
        mine[...] = value

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    def load(self, values: Mapping[str, Any]) -> None:
        """All of them at once. Names and shapes must be exactly these."""
        missing = [name for name in self._arrays if name not in values]
        unknown = [name for name in values if name not in self._arrays]
        problems = [
            f"{word}: {', '.join(names)}" for word, names in (("missing", missing), ("unknown", unknown)) if names
        ]
        if problems:
            raise Error(f"parameters: expected {self.describe()}; {'; '.join(problems)}")
        for name, value in values.items():
            self[name] = value

    def describe(self) -> str:
        """Names and shapes in a line."""
        return ", ".join(f"{name} {text(array.shape)}" for name, array in self._arrays.items()) or "none"

    def __repr__(self) -> str:
        return f"<heed parameters: {self.describe()}>"
