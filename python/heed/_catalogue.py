"""Every mechanism and every option."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional, Tuple

from . import _heed
from ._heed import Error

PARTS = ("score", "normalise", "region", "time", "input", "structure")


@dataclass(frozen=True)
class Mechanism:
    """What the catalogue says about a mechanism.

    Attributes:
        id: its place in the catalogue, such as S5.
        name: its name here, in recipes and on the command line; aliases: other names.
        part: score, normalise, region, time, input or structure.
        title, formula, paper: what it is in a few words, its formula, and its source.
        time: cost of n queries on m keys; memory: beyond inputs and outputs, while training.
        combines: what it can be combined with.
        page: what it does and when to use it, for newcomers.
        options: the names of the options it uses.
    """

    id: str
    name: str
    part: str
    title: str
    formula: str
    paper: str
    time: str
    memory: str
    combines: str
    page: str
    options: Tuple[str, ...]
    aliases: Tuple[str, ...]

    def __str__(self) -> str:
        lines = [f"{self.name} ({self.id}, {self.part}): {self.title}", f"  {self.formula}", f"  {self.paper}"]
        if self.options:
            lines.append("  options: " + ", ".join(self.options))
        return "\n".join(lines)


def mechanisms(part: Optional[str] = None) -> List[Mechanism]:
    """Every mechanism, or those of one part: score, normalise, region, time, input, structure.

    >>> [mechanism.name for mechanism in heed.mechanisms("normalise")][:2]
    ['softmax', 'relu']
    """
    if part is not None and part not in PARTS:
        raise Error(f"part: expected one of {', '.join(PARTS)}, got {part}")
    return [Mechanism(**entry) for entry in _heed.mechanisms() if part in (None, entry["part"])]


def mechanism(name: str) -> Mechanism:
    """The mechanism with this name or alias.

    >>> heed.mechanism("concat").name
    'additive'
    """
    if not isinstance(name, str):
        raise Error(f"name: expected the name of a mechanism, see heed.mechanisms(), got {name!r}")
    return Mechanism(**_heed.find(name))


def default_options() -> Dict[str, Any]:
    """Every option of heed.Attention with its default.

    >>> heed.default_options()["heads"]
    1
    """
    return _heed.default_options()


def check_names(options: Mapping[str, Any]) -> None:
    known = _heed.default_options()
    for name in options:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            raise Error(f"there is no option {name}" + (f"; did you mean {near[0]}?" if near else ""))
