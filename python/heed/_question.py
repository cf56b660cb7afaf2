"""The arguments of heed.attend, as one value."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field, fields
from typing import Any, Dict, Mapping, Optional, Sequence, Tuple, Union

from . import _heed
from ._arrays import KEYS, SEEDS, flag, number, whole_number
from ._catalogue import check_names
from ._heed import Error

STAGES = ("raw", "softcap", "masked", "weights")
Window = Union[None, int, Tuple[Optional[int], Optional[int]]]


@dataclass
class Question:
    """Every argument of heed.attend except q, k, v and what to return; its help() uses this text.

    Attributes:
        score: a score by name: heed.mechanisms("score").
        normalise: softmax, relu, sigmoid, identity, sparsemax, entmax15, hard, ...: heed.mechanisms("normalise").
        region: names joined by +; causal, window, sinks, mask and lengths below do the same. None: global, or the
            region that the score needs (intra: causal).
        time: dynamic, forced_forward, ...: heed.mechanisms("time").
        q_heads, kv_heads: H and G if heads are side by side (default 1, and G = H).
        scale: factor of dot products (default 1 / sqrt(D) for scaled_dot, 1 for dot).
        softcap: > 0: score = softcap * tanh(score / softcap), before bias and mask.
        causal: query i sees keys j <= position(i); with `strict` j < position(i).
        window: n: |position(i) - j| <= n; (left, right): each side, None for no bound. With region local_p: around the
            predicted position.
        sinks: number of first keys that no window or document hides (default 0; 4 with region sinks).
        align: position of query i among the keys. top_left: i (after the past, if any); bottom_right: the last query on
            the last key, by query_lengths and key_lengths if given; a number n: n + i.
        mask: bool, True where visible; or float32, added to the scores. Broadcasts to [B, H, Tq, Tk]; keys missing at
            the end are hidden. Ragged: to [H, all queries, longest keys].
        bias: float32, added to the scores; same shapes as mask. -inf hides a pair.
        key_lengths, query_lengths: [B], the number of valid rows from the start. Queries beyond it give 0.
        query_documents, key_documents: [B, Tq] and [B, Tk], ids that never decrease: only equal ids see each other.
        query_offsets, key_offsets: [B + 1] each: a ragged batch, sequence b in the rows offsets[b] to offsets[b + 1].
        past_key, past_value: [B, G, past, width], placed before k and v. The result then has present_key and
            present_value.
        dropout: on the weights. `seed` determines it and the choices of hard_sampled; training=False turns both off.
        divide_by_visible: relu, sigmoid, identity: divide by the number of visible keys.
        parameters: name -> array, for scores with parameters; heed.parameter_shapes(score, ...) lists them.
        is_causal, attn_mask, dropout_p: PyTorch's names for causal, mask and dropout; enable_gqa: False refuses key
            heads shared by several query heads.
    """

    score: str = "scaled_dot"
    normalise: str = "softmax"
    region: Optional[str] = None
    time: str = "dynamic"
    q_heads: int = 0
    kv_heads: int = 0
    scale: Optional[float] = None
    softcap: float = 0.0
    causal: bool = False
    strict: bool = False
    window: Window = None
    sinks: Optional[int] = None
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
    is_causal: bool = False
    attn_mask: Any = None
    dropout_p: float = 0.0
    enable_gqa: Optional[bool] = None
    options: Dict[str, Any] = field(default_factory=dict)
    mask_name = "mask"  # the name that the caller used
    own_region = True

    def __post_init__(self) -> None:
        self._read_other_names()
        self._check_values()
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

    def _read_other_names(self) -> None:
        """PyTorch's names become heed's."""
        self.causal = flag(self.causal, "causal") or flag(self.is_causal, "is_causal")
        if self.attn_mask is not None:
            if self.mask is not None:
                raise Error("attn_mask and mask mean the same: expected one of them, got both")
            self.mask, self.mask_name = self.attn_mask, "attn_mask"
        if number(self.dropout_p, "dropout_p"):
            if self.dropout:
                raise Error("dropout_p and dropout mean the same: expected one of them, got both")
            self.dropout = self.dropout_p

    def _check_values(self) -> None:
        for name in ("q_heads", "kv_heads"):
            setattr(self, name, whole_number(getattr(self, name), name, 0, KEYS))
        for name in ("strict", "training", "divide_by_visible"):
            setattr(self, name, flag(getattr(self, name), name))
        for name in ("softcap", "dropout"):
            setattr(self, name, number(getattr(self, name), name))
        if self.scale is not None:
            self.scale = number(self.scale, "scale")
        self.seed = whole_number(self.seed, "seed", *SEEDS)
        self.window_sides  # noqa: B018  raises if it is not a window
        if self.sinks is not None:
            self.sinks = whole_number(self.sinks, "sinks", 0, KEYS)
        if isinstance(self.align, str) or self.align is None:
            if self.align not in ("top_left", "bottom_right"):
                raise Error(f"align: expected top_left, bottom_right or a whole number, got {self.align}")
        else:
            self.align = whole_number(self.align, "align", -KEYS, KEYS)

    def _read_region(self) -> None:
        """Names in `region` that are options here are turned into them; the others stay."""
        if self.region is not None and not isinstance(self.region, str):
            raise Error(f"region: expected names joined by +, got {self.region!r}")
        words = [] if self.region is None else [_name_of(word.strip(), "region") for word in self.region.split("+")]
        for word in words:
            if words.count(word) > 1:
                raise Error(f"region: {self.region} names {word} twice")
        if self.strict and not self.causal and "causal" not in words:
            raise Error("strict: expected causal=True with it, where it also hides the query's own position")
        left = []
        for word in words:
            if word in ("causal", "sliding_window"):
                self.causal = True
            if word == "sinks" and self.sinks is None:
                self.sinks = 4
            if word == "sinks" and self.sinks == 0 and not self.options.get("learned_sink"):
                raise Error("sinks: region sinks keeps the first keys visible: expected 1 or more, got 0")
            if word == "masked" and self.mask is None and self.key_lengths is None:
                raise Error("region masked: expected mask or key_lengths")
            if word == "documents" and self.query_documents is None:
                raise Error("region documents: expected query_documents and key_documents")
            if word == "sinks" and self.options.get("learned_sink"):
                left.append(word)
            if word not in ("global", "causal", "sliding_window", "local_m", "sinks", "masked", "documents"):
                left.append(word)
        if "local_p" in left and self.window is not None:  # the window around the predicted position
            self.options = {**self.options, "window": whole_number(self.window, "window", 1, KEYS)}
        if "sliding_window" in words or "local_m" in words:
            self.window = 8 if self.window is None else self.window
        elif "local_p" in left:
            self.window = None
        self.own_region = self.region is None and not self.causal
        """No region was given: a score that needs its own, such as intra, keeps it."""
        self.region = "+".join(left)

    @property
    def ragged(self) -> bool:
        """Whether sequences of unequal lengths are stacked."""
        return self.query_offsets is not None

    @property
    def window_sides(self) -> Tuple[int, int]:
        """Keys to the left and to the right that are visible; -1: all."""
        if self.window is None:
            return -1, -1
        if not isinstance(self.window, (tuple, list)):
            n = whole_number(self.window, "window", 0, KEYS)
            return n, -1 if self.causal else n
        if len(self.window) != 2:
            raise Error(f"window: expected a number of keys, or (left, right), got {self.window}")
        left, right = (-1 if side is None else whole_number(side, "window", 0, KEYS) for side in self.window)
        return left, right

    @property
    def first_keys(self) -> int:
        """The number of first keys that no window hides."""
        return self.sinks or 0

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
    """Replaces an alias by its name."""
    if not isinstance(name, str):
        raise Error(f"{part}: expected a name of heed.mechanisms({part!r}), got {name!r}")
    entry = _heed.find(name)
    if entry["part"] != part:
        names = ", ".join(e["name"] for e in _heed.mechanisms() if e["part"] == part)
        raise Error(f"{part}: expected one of {names}, got {name}, which is a {entry['part']}")
    return str(entry["name"])


QUESTION_FIELDS = tuple(f.name for f in fields(Question) if f.name != "options")


def question(arguments: Mapping[str, Any]) -> Question:
    """Names that are not fields of the question are options of the mechanism."""
    own = {name: value for name, value in arguments.items() if name in QUESTION_FIELDS}
    rest = {name: value for name, value in arguments.items() if name not in QUESTION_FIELDS}
    check_names(rest)
    return Question(**own, options=rest)


def checked_stages(stages: Union[str, Sequence[str]]) -> Tuple[str, ...]:
    names = (stages,) if isinstance(stages, str) else tuple(stages)
    for name in names:
        if name not in STAGES:
            near = difflib.get_close_matches(name, STAGES, 1)
            hint = f"; {near[0]}?" if near else ""
            raise Error(f"stages: expected some of {', '.join(STAGES)}, got {name}{hint}")
    return names
