"""The weights of a trained model, by name."""

from __future__ import annotations

from collections.abc import Mapping as MappingBase
from typing import Any, Iterator, List, Mapping, Tuple

import numpy as np

from . import _heed
from ._arrays import matrix_rows, text
from ._heed import Error


class ModelParameters(MappingBase):
    """The weights of a trained model: name -> float32 array, `heed info` shows the names.

    >>> before, name = model.predict("12.3.").score, list(model.parameters)[0]
    >>> weights = model.parameters[name]                      # a copy, which is read-only: change one of your own
    >>> model.parameters[name] = 0.5 * weights                # predictions change from now on
    >>> model.predict("12.3.").score == before
    False
    >>> model.parameters.update({name: weights}, strict=False)           # many at once
    []

    A weight is kept as the model keeps it: with precision="bfloat16" what is read back is rounded. A value is checked
    before anything changes: its name, its shape, that it is float32 and that every number is finite.

    Threads: any number may read and predict; whoever writes waits for predictions that run, and then they wait.
    """

    def __init__(self, predictor: _heed.Predictor) -> None:
        self._predictor = predictor
        self._names = predictor.names()

    def __getitem__(self, name: str) -> np.ndarray:
        self._expect(name)
        array = self._predictor.weight(name)
        array.flags.writeable = False
        return array

    def __setitem__(self, name: str, value: Any) -> None:
        self._expect(name)
        self._predictor.write([self._checked(name, value)])

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def update(self, values: Mapping[str, Any], strict: bool = True) -> List[str]:
        """Writes several, or none of them if one cannot be written.

        Args:
            values: name -> array.
            strict: they must be all parameters of the model, and no others. False: those that are given are written, and
                names that the model does not have are ignored.

        Returns:
            The names that were ignored.
        """
        unknown = [name for name in values if name not in self._names]
        missing = [name for name in self._names if name not in values]
        problems = [f"{word}: {', '.join(map(str, names))}" for word, names in (("missing", missing), ("unknown", unknown)) if names]
        if strict and problems:
            raise Error(f"parameters: expected all {len(self)} of the model; {'; '.join(problems)}")
        self._predictor.write([self._checked(name, value) for name, value in values.items() if name not in unknown])
        return unknown

    def _expect(self, name: str) -> None:
        if name not in self._names:
            raise KeyError(f"there is no parameter {name}; there are: {', '.join(self._names)}")

    def _checked(self, name: str, value: Any) -> Tuple[str, np.ndarray]:
        array, shape = matrix_rows(value, name), self._predictor.shape(name)
        if array.shape != shape:
            raise Error(f"{name}: expected {text(shape)}, got {text(array.shape)}")
        return name, array

    def __repr__(self) -> str:
        shapes = ", ".join(f"{name} {text(self._predictor.shape(name))}" for name in self._names)
        return f"<heed model parameters: {shapes}>"
