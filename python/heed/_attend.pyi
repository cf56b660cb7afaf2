"""Every argument of heed.attend by its name and type, for editors and type checkers."""

from dataclasses import dataclass
from typing import Any, Callable, Dict, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from ._question import Question, Window

@dataclass
class Attended:
    context: np.ndarray
    weights: Optional[np.ndarray] = None
    present_key: Optional[np.ndarray] = None
    present_value: Optional[np.ndarray] = None
    stages: Dict[str, np.ndarray] = ...

    def _repr_html_(self) -> str: ...

def attend(
    q: Any,
    k: Any,
    v: Any = None,
    *,
    score: str = "scaled_dot",
    normalise: str = "softmax",
    region: Optional[str] = None,
    time: str = "dynamic",
    q_heads: int = 0,
    kv_heads: int = 0,
    scale: Optional[float] = None,
    softcap: float = 0.0,
    causal: bool = False,
    strict: bool = False,
    window: Window = None,
    sinks: Optional[int] = None,
    align: Union[str, int] = "top_left",
    mask: Any = None,
    bias: Any = None,
    key_lengths: Any = None,
    query_lengths: Any = None,
    query_documents: Any = None,
    key_documents: Any = None,
    query_offsets: Any = None,
    key_offsets: Any = None,
    past_key: Any = None,
    past_value: Any = None,
    dropout: float = 0.0,
    seed: int = 0,
    training: bool = True,
    divide_by_visible: bool = False,
    parameters: Optional[Mapping[str, Any]] = None,
    is_causal: bool = False,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    enable_gqa: Optional[bool] = None,
    promote: bool = False,
    out: Any = None,
    return_weights: bool = False,
    stages: Union[str, Sequence[str]] = (),
    **options: Any,
) -> Any: ...
def _call(q: Any, k: Any, v: Any, ask: Question) -> Any: ...
def attend_with_gradient(
    q: Any,
    k: Any,
    v: Any = None,
    *,
    out: Any = None,
    return_weights: bool = False,
    stages: Union[str, Sequence[str]] = (),
    promote: bool = False,
    **options: Any,
) -> Tuple[Any, Callable[[Any], Dict[str, np.ndarray]]]: ...
