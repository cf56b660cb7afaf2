"""Data to train with, in the forms that Python has, as files: paths, pairs of texts, tables."""

from __future__ import annotations

import numbers
import os
from typing import Any, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

from . import _heed
from ._tables import table
from ._trained import _bytes

Path = Union[str, "os.PathLike[str]"]
Pairs = Union[Path, Tuple[Path, Path], Iterable[Tuple[str, str]], Mapping[str, Sequence[str]]]


class Files(NamedTuple):
    """Attributes:
    names: one file, or sources and targets; none if there is no data.
    seen: what a table's names say about its task, for people; empty: nothing.
    """

    names: List[str]
    seen: str = ""


def files_of(data: Any, folder: str, name: str) -> Files:
    """Texts become a file in the folder, so that a resumed training finds them. `name`: pairs or valid pairs."""
    if data is None:
        return Files([])
    if isinstance(data, (str, os.PathLike)):
        return Files([os.fspath(data)])
    found = table(data, name)
    seen = ""
    if found and found.labels:
        first, second = found.names
        seen = f"columns {first!r} and {second!r}: learning labels (model.task = \"classification\")"
    texts = found.rows if found else data
    if isinstance(texts, (tuple, list)) and len(texts) == 2 and all(isinstance(x, (str, os.PathLike)) for x in texts):
        return Files([os.fspath(each) for each in texts])
    pairs = [_pair(pair, f"{name}[{i}]") for i, pair in enumerate(texts)]
    return Files([os.fsdecode(_heed.write_pairs(pairs, os.fsencode(folder), name))], seen)


def for_heed(data: Files, valid: Files, recipe: Optional[Path]) -> dict:
    """As the extension module takes them."""
    return {
        "train": [os.fsencode(name) for name in data.names],
        "valid": [os.fsencode(name) for name in valid.names],
        "recipe": os.fsencode(recipe) if recipe is not None else b"",
    }


def _pair(pair: Any, name: str) -> Tuple[bytes, bytes]:
    if isinstance(pair, (str, bytes)) or not hasattr(pair, "__len__") or len(pair) != 2:
        raise TypeError(f"{name}: expected a source and a target, got {pair!r}")
    source, target = pair
    if isinstance(target, numbers.Integral):  # a label by its number
        target = str(target)
    return _bytes(source, f"{name}[0]"), _bytes(target, f"{name}[1]")
