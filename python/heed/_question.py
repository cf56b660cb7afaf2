"""What can be asked of heed.attend, as one value."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field, fields
from typing import Any, Dict, Mapping, Optional, Sequence, Tuple, Union

from . import _heed
from ._heed import Error

STAGES = ("raw", "softcap", "masked", "weights")
Window = Union[None, int, Tuple[Optional[int], Optional[int]]]


@dataclass
class Question:
    """Every argument of heed.attend besides q, k, v and what to return; see there."""

    score: str = "scaled_dot"
    normalise: str = "softmax"
    region: str = "global"
    time: str = "dynamic"
    q_heads: int = 0
    kv_heads: int = 0
    scale: Optional[float] = None
    softcap: float = 0.0
    causal: bool = False
    strict: bool = False
    window: Window = None
    sinks: int = 0
    align: Union[str, int] = "top_left"
    mask: Any = None
    bias: Any = None
    key_lengths: Any = None
    query_lengths: Any = None
    query_documents: Any = None
    key_documents: Any = None
    query_offsets: Any = None
    key_offsets: Any = None
    past_key: Any = None
    past_value: Any = None
    dropout: float = 0.0
    seed: int = 0
    training: bool = True
    divide_by_visible: bool = False
    parameters: Optional[Mapping[str, Any]] = None
    options: Dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for part in ("score", "normalise", "time"):
            setattr(self, part, _name_of(getattr(self, part), part))
        self._read_region()
        if (self.past_key is None) != (self.past_value is None):
            raise Error("past_key, past_value: expected both or neither, got one")
        if (self.query_offsets is None) != (self.key_offsets is None):
            raise Error("query_offsets, key_offsets: expected both or neither, got one")
        if (self.query_documents is None) != (self.key_documents is None):
            raise Error("query_documents, key_documents: expected both or neither, got one")
        if self.ragged and self.past_key is not None:
            raise Error("past_key: expected a batch of [B, heads, T, width]; ragged batches have no past")
        if isinstance(self.align, str) and self.align not in ("top_left", "bottom_right"):
            raise Error(f"align: expected top_left, bottom_right or a number, got {self.align}")

    def _read_region(self) -> None:
        """Words of `region` that are options here become those; the others stay."""
        left = []
        for word in self.region.split("+"):
            if word in ("causal", "sliding_window"):
                self.causal = True
            if word in ("sliding_window", "local_m") and self.window is None:
                self.window = 8
            if word == "sinks" and not self.sinks:
                self.sinks = 4
            if word == "masked" and self.mask is None and self.key_lengths is None:
                raise Error("region masked: expected mask or key_lengths")
            if word == "documents" and self.query_documents is None:
                raise Error("region documents: expected query_documents and key_documents")
            if word not in ("global", "causal", "sliding_window", "local_m", "sinks", "masked", "documents"):
                left.append(word)
        self.region = "+".join(left)

    @property
    def ragged(self) -> bool:
        return self.query_offsets is not None

    @property
    def window_sides(self) -> Tuple[int, int]:
        """Keys to the left and to the right that are visible; -1: all."""
        if self.window is None:
            return -1, -1
        if isinstance(self.window, int):
            sides = (self.window, -1 if self.causal else self.window)
        else:
            left, right = self.window
            sides = (-1 if left is None else left, -1 if right is None else right)
        if min(sides) < -1:
            raise Error(f"window: expected numbers of keys, got {self.window}")
        return sides

    @property
    def fused(self) -> bool:
        """Whether the loop of heed/kernels can be called on the arrays themselves."""
        return (
            self.score in ("dot", "scaled_dot")
            and self.normalise not in ("hard_sampled",)
            and self.time in ("dynamic", "forced_forward")
            and not self.region
            and not self.options
        )


def _name_of(name: str, part: str) -> str:
    """An alias becomes the name it stands for."""
    entry = _heed.find(name)
    if entry["part"] != part:
        names = ", ".join(e["name"] for e in _heed.mechanisms() if e["part"] == part)
        raise Error(f"{part}: expected one of {names}, got {name}, which is a {entry['part']}")
    return str(entry["name"])


QUESTION_FIELDS = tuple(f.name for f in fields(Question) if f.name != "options")


def question(arguments: Mapping[str, Any]) -> Question:
    """Names that are not the question's own are options of the mechanism."""
    own = {name: value for name, value in arguments.items() if name in QUESTION_FIELDS}
    rest = {name: value for name, value in arguments.items() if name not in QUESTION_FIELDS}
    return Question(**own, options=rest)


def checked_stages(stages: Union[str, Sequence[str]]) -> Tuple[str, ...]:
    names = (stages,) if isinstance(stages, str) else tuple(stages)
    for name in names:
        if name not in STAGES:
            near = difflib.get_close_matches(name, STAGES, 1)
            hint = f"; {near[0]}?" if near else ""
            raise Error(f"stages: expected some of {', '.join(STAGES)}, got {name}{hint}")
    return names
