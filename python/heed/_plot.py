"""Drawings of attention: by matplotlib, and for notebooks."""

from __future__ import annotations

import base64
import html
from typing import Any, Sequence

import numpy as np


def plot_matrix(weights: np.ndarray, rows: Sequence[str], columns: Sequence[str], title: str, axes: Any) -> Any:
    """Draws weights [rows, columns] by matplotlib and returns the axes; without axes, a new figure that fits the labels."""
    try:
        import matplotlib.pyplot  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        raise ImportError(
            "plot() draws with matplotlib, which is not installed: pip install matplotlib (on Debian: apt-get install "
            "python3-matplotlib); svg() works without it"
        ) from error
    if axes is None:
        axes = matplotlib.pyplot.figure(figsize=(2 + 0.3 * len(columns), 1 + 0.3 * len(rows))).subplots()
    axes.imshow(weights, cmap="Blues", vmin=min(0.0, float(np.min(weights, initial=0.0))), aspect="equal")
    axes.set_xticks(range(len(columns)), columns, rotation=90)
    axes.set_yticks(range(len(rows)), rows)
    axes.xaxis.tick_top()
    axes.set_title(title)
    return axes


def notebook_html(heading: str, note: str, svg: str) -> str:
    """A heading, and a drawing as an image, so that its colours and those of the notebook stay apart."""
    text = f"<p><b>{html.escape(heading)}</b> {html.escape(note)}</p>"
    if not svg:
        return text
    data = base64.b64encode(svg.encode("utf-8")).decode("ascii")
    return f'{text}<img alt="{html.escape(f"What {heading} attended to")}" src="data:image/svg+xml;base64,{data}"/>'
