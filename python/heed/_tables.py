"""Tables of texts: pandas, polars, pyarrow, datasets, dicts of columns. None of them is imported: what matters is that
a table knows the names of its columns, and gives a column by its name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, List, NamedTuple, Optional, Tuple

from ._heed import Error

_KNOWN = (("source", "target"), ("text", "label"))


class Table(NamedTuple):
    """Two columns of a table.

    Attributes:
        names: of the columns.
        rows: a value of each of the two.
        labels: the columns are named text and label.
    """

    names: Tuple[str, str]
    rows: List[Tuple[Any, Any]]
    labels: bool


def column_names(data: Any) -> Optional[List[Any]]:
    """The names of the columns of a table; None if it is none."""
    if isinstance(data, Mapping):
        return list(data)
    for name in ("column_names", "columns"):  # pyarrow and datasets; pandas and polars
        names = getattr(data, name, None)
        if names is not None and not callable(names):
            return list(names)
    return None


def table(data: Any, what: str) -> Optional[Table]:
    """The columns of a table that are sources and targets; None if the data is no table. `what`: for messages."""
    names = column_names(data)
    if names is None:
        return None
    first, second, labels = _chosen(names, what)
    columns = [_column(data, name, what) for name in (first, second)]
    if len(columns[0]) != len(columns[1]):
        raise Error(
            f"{what}: column {first!r} has {len(columns[0])} values, but column {second!r} has {len(columns[1])}"
        )
    rows = list(zip(*columns))
    for i, row in enumerate(rows):
        for name, value in zip((first, second), row):
            if _is_missing(value):
                raise Error(f"{what}: row {i} has nothing in column {name!r}: leave such rows out")
    return Table((str(first), str(second)), rows, labels)


def _is_missing(value: Any) -> bool:
    """None, NaN, and pandas.NA, which is neither equal to itself nor different."""
    try:
        return value is None or bool(value != value)
    except (TypeError, ValueError):
        return True


def _chosen(names: List[Any], what: str) -> Tuple[Any, Any, bool]:
    by_word = {str(name).strip().lower(): name for name in names}
    known = [words for words in _KNOWN if all(word in by_word for word in words)]
    if len(by_word) == len(names) and len(known) == 1:
        first, second = known[0]
        return by_word[first], by_word[second], known[0] == _KNOWN[1]
    if len(set(map(str, names))) == len(names) == 2:
        return names[0], names[1], False
    listed = ", ".join(repr(name) for name in names) or "none"
    raise Error(
        f"{what}: a table with the columns {listed}: expected two, or columns named source and target, or text and "
        f"label. Pass what is meant, such as zip(table['TEXT'], table['LABEL'])"
    )


def _column(data: Any, name: Any, what: str) -> List[Any]:
    try:
        column = data[name]
    except Exception as error:
        hint = ": collect() it first" if hasattr(data, "collect") else f": {error}"
        raise Error(f"{what}: column {name!r} of this {type(data).__name__} cannot be read{hint}") from error
    if isinstance(column, (str, bytes)) or not hasattr(column, "__iter__"):
        raise Error(
            f"{what}: {name!r} of this {type(data).__name__} is {column!r}, not a column of values. "
            f"For a dict from sources to targets pass its items()"
        )
    for way in ("to_pylist", "to_list", "tolist"):
        if hasattr(column, way):
            return list(getattr(column, way)())
    return list(column)
