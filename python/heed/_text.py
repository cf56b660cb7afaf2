"""Texts on their way into heed."""

from __future__ import annotations

from ._heed import Error


def as_bytes(text: str, name: str) -> bytes:
    """UTF-8. `name`: for messages."""
    if not isinstance(text, str):
        raise TypeError(f"{name}: expected a str, got {type(text).__name__}")
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise Error(
            f"{name}: expected text, got a lone surrogate, {text[error.start]!r}, at index {error.start}"
        ) from None
