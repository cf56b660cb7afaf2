"""The options of predict(): the library's own list (heed/task/decoding_table.h), as a signature and as documentation."""

from __future__ import annotations

import inspect
import textwrap
from typing import Any, Callable, Dict, List, Mapping

from . import _heed
from ._heed import Error

OPTIONS: List[Dict[str, Any]] = _heed.decoding_options()

# What is not a plain value, and therefore not in that list: name, default, meaning.
_OTHERS = (
    (
        "rerank_reverse",
        None,
        "a model of the other direction, from heed.load: rerank_weight * log p(source | output) is added to each score.",
    ),
    ("first_line", 1, "the number of the first line, which samples depend on."),
    ("alignments", True, "whether to return the attention weights."),
)

# More than the list says, for Python alone.
_MORE = {
    "must": "Or several; or a sequence of them for each line. What could not come before max_length is in Output.missing.",
    "must_not": "The same.",
    "prefix": "Or one for each line.",
    "copy_unknown": "Tokens stay as they are.",
}

_OWN_NAMES = {other: option["name"] for option in OPTIONS for other in option["other_names"]}


def own_names(given: Mapping[str, Any], function: str) -> Dict[str, Any]:
    """The same options under heed's names: num_beams=5 is beam=5."""
    known = {option["name"] for option in OPTIONS} | {name for name, *_ in _OTHERS}
    options: Dict[str, Any] = {}
    for name, value in given.items():
        own = _OWN_NAMES.get(name, name)
        if own not in known:
            raise TypeError(f"{function}() got an unexpected keyword argument '{name}'")
        if own in options:
            raise Error(f"{own} was given twice, once as {name}")
        options[own] = value
    return options


def _default(option: Mapping[str, Any]) -> Any:
    if option["none_is_default"]:
        return None
    return tuple(option["default"]) if isinstance(option["default"], list) else option["default"]


def _line(name: str, meaning: str) -> str:
    return textwrap.fill(
        f"{name}: {meaning}", width=112, initial_indent=" " * 12, subsequent_indent=" " * 16, break_on_hyphens=False
    )


def documented(function: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a function with **options their names and defaults, and puts what they mean into its documentation."""
    lines, parameters = [], []
    for option in OPTIONS:
        words = [option["meaning"], option["default_text"]]
        text = " ".join(word for word in words if word) + "."
        if option["name"] in _MORE:
            text += " " + _MORE[option["name"]]
        if option["other_names"]:
            text += f" Also {', '.join(option['other_names'])}."
        lines.append(_line(option["name"], text))
        parameters.append((option["name"], _default(option)))
    for name, default, meaning in _OTHERS:
        lines.append(_line(name, meaning))
        parameters.append((name, default))
    signature = inspect.signature(function)
    kept = [p for p in signature.parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
    added = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=value) for name, value in parameters]
    function.__signature__ = signature.replace(parameters=kept + added)  # type: ignore[attr-defined]
    if function.__doc__:
        function.__doc__ = function.__doc__.replace("            options: see below.", "\n".join(lines))
    return function
