"""Drawings of attention: as SVG, by matplotlib, and for notebooks."""

from __future__ import annotations

import base64
import html
from typing import Any, Iterable, List, Optional, Sequence

import numpy as np

from . import _heed

MOST_CELLS = 65_536  # of a matrix that a notebook draws by itself


def matrix_svg(weights: np.ndarray, rows: Sequence[Any], columns: Sequence[Any], title: str = "") -> str:
    """Weights [rows, columns] as SVG, in the colours of all of heed's drawings."""
    return _heed.matrix_svg(
        np.ascontiguousarray(weights, np.float32), [str(row) for row in rows], [str(name) for name in columns], title
    )


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


def heads_html(weights: Optional[np.ndarray], note: str) -> str:
    """Weights [.., queries, keys], the mean over all before: what a notebook shows of a result that has weights."""
    if weights is None or weights.ndim < 2 or not weights.size:
        return notebook_html(note, "", "")
    mean = weights.reshape(-1, *weights.shape[-2:]).mean(axis=0)
    drawn = matrix_svg(mean, range(mean.shape[0]), range(mean.shape[1])) if mean.size <= MOST_CELLS else ""
    of = " x ".join(map(str, weights.shape[:-2]))
    return notebook_html(note, f"weights {list(weights.shape)}" + (f", the mean of {of}" if of else ""), drawn)


def html_table(heading: Iterable[Any], rows: Iterable[Iterable[Any]]) -> str:
    """A table for notebooks."""

    def line(cells: Iterable[Any], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"

    lines: List[str] = [line(row, "td") for row in rows]
    return f"<table><thead>{line(heading, 'th')}</thead><tbody>{''.join(lines)}</tbody></table>"
