"""Tables of texts: pandas, polars, pyarrow, datasets, dicts of columns, lists of dicts. None of these libraries is
imported: what matters is that a table knows the names of its columns, and gives a column by its name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Iterable, Iterator, List, NamedTuple, Optional, Tuple

from ._heed import Error

# Names of sources and targets, or of texts and labels; the first that a table has are taken.
_PAIRS = (("source", "target"), ("sources", "targets"))
_LABELS = (("text", "label"), ("texts", "labels"), ("sentence", "label"))
_TEXTS = ("source", "text", "sources", "texts", "sentence")


class Table(NamedTuple):
    """Two columns of a table.

    Attributes:
        names: of the columns.
        columns: their values.
        labels: the columns are named text and label.
    """

    names: Tuple[str, str]
    columns: Tuple[List[Any], List[Any]]
    labels: bool

    @property
    def rows(self) -> Iterator[Tuple[Any, Any]]:
        """A value of each of the two."""
        return zip(*self.columns)


def column_names(data: Any) -> Optional[List[Any]]:
    """The names of the columns of a table; None if it is none."""
    if isinstance(data, Mapping):
        return list(data)
    for name in ("column_names", "columns"):  # pyarrow and datasets; pandas and polars
        names = getattr(data, name, None)
        if names is not None and not callable(names):
            return list(names)
    names = getattr(getattr(data, "dtype", None), "names", None)  # structured arrays of NumPy
    return list(names) if names else None


def table(data: Any, what: str) -> Optional[Table]:
    """The columns of a table that are sources and targets; None if the data is no table. `what`: for messages."""
    names = column_names(data)
    if names is None:
        return None
    first, second, labels = _chosen(names, what)
    columns = column(data, first, what), column(data, second, what)
    expect_as_many(columns, (f"{what}: column {first!r}", f"column {second!r}"))
    for name, values in zip((first, second), columns):
        expect_values(values, lambda i, name=name: f"{what}: row {i} has nothing in column {name!r}")  # type: ignore
    return Table((str(first), str(second)), columns, labels)


def expect_as_many(columns: Tuple[List[Any], List[Any]], names: Tuple[str, str]) -> None:
    """Throws unless both have as many values."""
    if len(columns[0]) != len(columns[1]):
        raise Error(f"{names[0]} has {len(columns[0])} values, but {names[1]} has {len(columns[1])}")


def expect_values(values: List[Any], complaint: Any) -> None:
    """Throws if one is missing: None, NaN, and pandas.NA, which is neither equal to itself nor different."""
    for i, value in enumerate(values):
        if _is_missing(value):
            raise Error(f"{complaint(i)}: leave such rows out")


def _is_missing(value: Any) -> bool:
    try:
        return value is None or bool(value != value)
    except (TypeError, ValueError):
        return not hasattr(value, "__len__")


def _chosen(names: List[Any], what: str) -> Tuple[Any, Any, bool]:
    by_word = {str(name).strip().lower(): name for name in names}
    known = [words for words in _PAIRS + _LABELS if all(word in by_word for word in words)]
    if len(by_word) == len(names) and len(known) == 1:
        first, second = known[0]
        return by_word[first], by_word[second], known[0] in _LABELS
    if len(set(map(str, names))) == len(names) == 2:
        return names[0], names[1], False
    listed = ", ".join(repr(name) for name in names) or "none"
    raise Error(
        f"{what}: a table with the columns {listed}: expected two, or columns named source and target, or text and "
        f"label. Pass what is meant, such as texts=table['TEXT'], labels=table['LABEL']"
    )


def text_column(data: Any, what: str) -> Optional[List[Any]]:
    """The texts of a table: its only column, or the one with such a name; None if the data is no table."""
    names = column_names(data)
    if names is None:
        return None
    known = [name for name in names if str(name).strip().lower() in _TEXTS]
    if len(names) == 1 or len(known) == 1:
        return column(data, (known or names)[0], what)
    raise TypeError(f"{what}: expected texts, got a table with the columns {names}: pass one of them")


def texts_of(some: Any, what: str) -> List[Any]:
    """The values of what should be several texts: of a list, a series, a table, an array [n] or [n, 1], a generator."""
    found = text_column(some, what)
    values = values_of(some) if found is None else found
    if getattr(some, "ndim", 1) == 2 and all(len(value) == 1 for value in values):
        return [value[0] for value in values]
    return values


def column(data: Any, name: Any, what: str) -> List[Any]:
    """The values of a column; of datasets that number their labels, the names of these."""
    try:
        found = data[name]
    except Exception as error:
        hint = ": collect() it first" if hasattr(data, "collect") else f": {error}"
        raise Error(f"{what}: column {name!r} of this {type(data).__name__} cannot be read{hint}") from error
    if isinstance(found, (str, bytes)) or not hasattr(found, "__iter__"):
        raise Error(
            f"{what}: {name!r} of this {type(data).__name__} is {found!r}, not a column of values. "
            f"For a dict from sources to targets pass its items()"
        )
    values = values_of(found)
    features = getattr(data, "features", None)
    words = getattr(features[name], "names", None) if isinstance(features, Mapping) and name in features else None
    if words and all(isinstance(value, int) and 0 <= value < len(words) for value in values):
        return [words[value] for value in values]
    return values


def values_of(some: Iterable[Any]) -> List[Any]:
    """The values of a column, a series, an array, a list or a generator."""
    for way in ("to_pylist", "to_list", "tolist"):
        if hasattr(some, way):
            values = getattr(some, way)()
            return list(values) if isinstance(values, (list, tuple)) else [values]
    if not hasattr(some, "__iter__") and hasattr(some, "__array__"):
        return values_of(some.__array__())
    return list(some)


def columns_of_dicts(rows: List[Any], what: str) -> Any:
    """Dicts with the same keys as a dict of columns."""
    names = list(rows[0])
    for i, row in enumerate(rows):
        if not isinstance(row, Mapping) or any(name not in row for name in names):
            raise Error(f"{what}[{i}]: expected a dict with {names} like the first, got {row!r}")
    return {name: [row[name] for row in rows] for name in names}
