"""Data to train with, in the forms that Python has, as files: paths, pairs of texts, tables, columns of texts."""

from __future__ import annotations

import numbers
import os
import re
from collections.abc import Mapping as MappingBase
from typing import Any, Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

from . import _heed
from ._heed import Error
from ._tables import column_names, columns_of_dicts, expect_as_many, expect_values, table, texts_of, values_of
from ._text import as_bytes

Path = Union[str, "os.PathLike[str]"]
Pairs = Union[Path, Tuple[Path, Path], Iterable[Tuple[str, str]], Iterable[Mapping[str, Any]], Mapping[str, Sequence[str]]]

_BREAKS = re.compile(r"[\t\r\n]+")
_SEPARATORS = (",", ";", "|")  # labels of one text


class Files(NamedTuple):
    """Attributes:
    names: one file, or sources and targets; none if there is no data.
    settings: what the form of the data says about the recipe.
    sure: the caller said so, by the names of arguments: nothing is guessed.
    seen: the same for people; empty: nothing.
    """

    names: List[str]
    settings: Dict[str, Any] = {}
    sure: bool = False
    seen: str = ""


class Columns(NamedTuple):
    """Data that was given as columns of texts.

    Attributes:
        first, second: the columns; second is None for texts alone.
        names: of their arguments.
        settings, sure, seen: as those of Files.
    """

    first: Any
    second: Any
    names: Tuple[str, str]
    settings: Dict[str, Any]
    sure: bool = True
    seen: str = ""


def columns_given(texts: Any, labels: Any, sources: Any, targets: Any) -> Optional[Columns]:
    """What the arguments of heed.train with these names mean together; None if there are none of them."""
    has = tuple(x is not None for x in (texts, labels, sources, targets))
    if not any(has):
        return None
    if has == (True, False, False, False):
        return Columns(texts, None, ("texts", ""), {"model.task": "language_model"})
    if has == (True, True, False, False):
        return Columns(texts, labels, ("texts", "labels"), {"model.task": "classification"})
    if has == (False, False, True, True):
        return Columns(sources, targets, ("sources", "targets"), {"model.task": "seq2seq"})
    raise Error("train: expected texts and labels, or sources and targets, or texts alone")


def files_of(data: Any, folder: str, name: str) -> Files:
    """Texts become a file in the folder, so that a resumed training finds them. `name`: pairs or valid pairs."""
    if data is None:
        return Files([])
    if isinstance(data, (str, os.PathLike)):
        return Files([os.fspath(data)])
    if isinstance(data, Columns):
        return _file_of_columns(data, folder, name)
    texts: Any = data
    if column_names(data) is None and not hasattr(data, "__len__"):  # what can be read once
        texts = list(data)
    if isinstance(texts, (tuple, list)) and len(texts) == 2 and all(isinstance(x, (str, os.PathLike)) for x in texts):
        return Files([os.fspath(each) for each in texts])
    if isinstance(texts, (tuple, list)) and texts and isinstance(texts[0], MappingBase):
        texts = columns_of_dicts(list(texts), name)
    found = table(texts, name)
    if found:
        first, second = found.names
        settings = {"model.task": "classification"} if found.labels else {}
        seen = f"columns {first!r} and {second!r}: learning labels (model.task = \"classification\")" if found.labels else ""
        return _file_of_columns(Columns(*found.columns, found.names, settings, False, seen), folder, name)
    return Files([_written([_pair(pair, f"{name}[{i}]") for i, pair in enumerate(texts)], folder, name)])


def _file_of_columns(data: Columns, folder: str, name: str) -> Files:
    """In columns, line breaks and tabs inside a text become blanks, which is told."""
    first = _texts(data.first, data.names[0])
    if data.second is None:
        return _file_of_documents(first, data, folder, name)
    second = values_of(data.second)
    expect_as_many((first, second), data.names)
    expect_values(second, lambda i: f"{data.names[1]}[{i}] is missing")
    settings, seen = dict(data.settings), data.seen
    labels = settings.get("model.task") == "classification"
    separator = _separator(second) if labels else None
    if separator:
        settings["data.label_separator"] = separator
        second = [separator.join(sorted(map(str, each))) for each in second]
    if labels:
        second = [str(label) if isinstance(label, numbers.Number) else label for label in second]
        changed = [False] * len(second)
    else:
        second = [str(label) if isinstance(label, numbers.Integral) else label for label in second]
        second, changed = _one_line(_texts(second, data.names[1]))
    first, also = _one_line(first)
    count = sum(a or b for a, b in zip(changed, also))
    if count:
        some = "1 text has" if count == 1 else f"{count:,} texts have"
        seen += ("; " if seen else "") + f"{some} line breaks or tabs, which are read as blanks"
    rows = [_pair(row, f"{data.names[0]}, {data.names[1]}[{i}]") for i, row in enumerate(zip(first, second))]
    return Files([_written(rows, folder, name)], settings, data.sure, seen)


def _file_of_documents(texts: List[str], data: Columns, folder: str, name: str) -> Files:
    """Running text: a document in each line, or if they have several lines, between blank lines."""
    texts = [text.replace("\r\n", "\n").strip("\n") for text in texts]
    texts = [text for text in texts if text.strip()]
    several = any("\n" in text for text in texts)
    if several:
        texts = [re.sub(r"\n\s*\n", "\n", text) for text in texts]
    joined = ("\n\n" if several else "\n").join(texts) + "\n" if texts else ""
    settings = {**data.settings, "data.documents": "blank_line" if several else "line"}
    path = _heed.write_text(as_bytes(joined, data.names[0]), os.fsencode(folder), name.replace("pairs", "texts"))
    return Files([os.fsdecode(path)], settings, data.sure, data.seen)


def _texts(some: Any, name: str) -> List[str]:
    if isinstance(some, (str, bytes)) or not hasattr(some, "__iter__"):
        raise TypeError(f"{name}: expected several texts, got {some!r:.80}")
    values = texts_of(some, name)
    expect_values(values, lambda i: f"{name}[{i}] is missing")
    for i, value in enumerate(values):
        if not isinstance(value, str):
            raise TypeError(f"{name}[{i}]: expected a str, got {type(value).__name__}")
    return values


def _one_line(texts: List[str]) -> Tuple[List[str], List[bool]]:
    """Without line breaks and tabs, and which had some."""
    single = [_BREAKS.sub(" ", text) if _BREAKS.search(text) else text for text in texts]
    return single, [a is not b for a, b in zip(single, texts)]


def _separator(labels: List[Any]) -> Optional[str]:
    """What can separate the labels of a text, if each has a list of them."""
    if not labels or not all(isinstance(each, (list, tuple, set, frozenset)) for each in labels):
        return None
    words = {str(label) for each in labels for label in each}
    for mark in _SEPARATORS:
        if not any(mark in word for word in words):
            return mark
    raise Error(f"labels: they hold each of {', '.join(_SEPARATORS)}, so none of these can separate them")


def for_heed(data: Files, valid: Files, recipe: Optional[Path]) -> dict:
    """As the extension module takes them."""
    return {
        "train": [os.fsencode(name) for name in data.names],
        "valid": [os.fsencode(name) for name in valid.names],
        "recipe": os.fsencode(recipe) if recipe is not None else b"",
    }


def _written(pairs: List[Tuple[bytes, bytes]], folder: str, name: str) -> str:
    """The path of a file with these, in the folder. One that holds them already stays as it is, for a resumed training."""
    return os.fsdecode(_heed.write_pairs(pairs, os.fsencode(folder), name))


def _pair(pair: Any, name: str) -> Tuple[bytes, bytes]:
    if isinstance(pair, (str, bytes)) or not hasattr(pair, "__len__") or len(pair) != 2:
        raise TypeError(f"{name}: expected a source and a target, got {pair!r}")
    source, target = pair
    if isinstance(target, numbers.Integral):  # a label by its number
        target = str(target)
    return as_bytes(source, f"{name}[0]"), as_bytes(target, f"{name}[1]")
