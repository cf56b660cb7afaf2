"""What a trained model attended to: TrainedModel.look()."""

from __future__ import annotations

import base64
import json
import os
from dataclasses import dataclass
from typing import Any, Callable, List, Mapping, Optional, Union

import numpy as np

from ._plot import matrix_svg, notebook_html, plot_matrix


@dataclass(frozen=True)
class AttentionMap:
    """The weights of one attention inside a model.

    Attributes:
        name: where it is in the model: "decoder.0.source".
        label: the same for people: "attention to the source, layer 1".
        queries: the tokens that look, the rows.
        keys: the tokens that are looked at, the columns.
        weights: [heads, queries, keys].

    >>> one = model.look("12.3.").main
    >>> one.of_head(1).shape == one.weights.shape[1:], one.svg()[:4]
    (True, '<svg')
    """

    name: str
    label: str
    queries: List[str]
    keys: List[str]
    weights: np.ndarray

    def of_head(self, head: Optional[int] = None) -> np.ndarray:
        """[queries, keys] of a head, counted from 1, or the mean of all."""
        if head is None:
            return self.weights.mean(axis=0)
        if not 1 <= head <= len(self.weights):
            raise ValueError(f"head {head}: {self.name} has {len(self.weights)}, counted from 1")
        return self.weights[head - 1]

    def svg(self, head: Optional[int] = None) -> str:
        """A head, counted from 1, or the mean of all, as SVG."""
        return matrix_svg(self.of_head(head), self.queries, self.keys, self.label)

    def _repr_html_(self) -> str:
        """For notebooks."""
        heads = len(self.weights)
        return notebook_html(self.label, self.name if heads == 1 else f"{self.name}, mean of {heads} heads", self.svg())

    def __repr__(self) -> str:
        heads, rows, columns = self.weights.shape
        return f"AttentionMap({self.name!r}, heads={heads}, queries={rows}, keys={columns})"


class Looked:
    """What a model attended to while it answered a line.

    Attributes:
        input, output: the texts.
        log_probability: of the output.
        maps: every attention inside the model, in its order. looked["decoder.0.source"] finds one by name.
        document: the whole as docs/attention_document.md has it.

    >>> looked = model.look("12.3.")
    >>> looked.save("looked.html"), looked.html() == open("looked.html", encoding="utf-8").read()
    (None, True)
    >>> looked.svg(head=1)[:4], looked[looked.maps[0].name].of_head(1).shape == looked.main.weights.shape[1:]
    ('<svg', True)
    >>> axes = looked.plot()  # doctest: +SKIP
    """

    def __init__(
        self, document: Mapping[str, Any], page: Callable[[], str], draw: Callable[[str, int], str]
    ) -> None:
        example = document["examples"][0]
        self.document = document
        self.input: str = example["input"]
        self.output: str = example["output"]
        self.log_probability: float = example["log_probability"]
        self.maps = [_map(one, example["sequences"]) for one in example["maps"]]
        self._page = page
        self._draw = draw

    @property
    def main(self) -> AttentionMap:
        """What to look at first: the last attention to the source, or the last of all."""
        if not self.maps:
            raise ValueError("this model has no attention")
        return self.maps[-1]

    def __getitem__(self, name: str) -> AttentionMap:
        for one in self.maps:
            if one.name == name:
                return one
        raise KeyError(f"there is no attention '{name}'; there are: {', '.join(m.name for m in self.maps)}")

    def html(self) -> str:
        """One page with every layer and head, which opens without a network."""
        return self._page()

    def svg(self, name: Optional[str] = None, head: Optional[int] = None) -> str:
        """One attention as SVG, as `heed look --svg` draws it.

        Args:
            name: which one, as a matrix (default: what suits the model: the matrix of main, a text shaded by its words
                and sentences, or a picture with its cells).
            head: counted from 1 (default: the mean of all).
        """
        one = self[name] if name else self.main
        one.of_head(head)  # whether there is such a head
        return self._draw(name or "", -1 if head is None else head - 1)

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes html() to a file, or svg() to one whose name ends in .svg."""
        text = self.svg() if os.fspath(path).endswith(".svg") else self.html()
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def plot(self, name: Optional[str] = None, head: Optional[int] = None, axes: Any = None) -> Any:
        """Draws the matrix of one attention with matplotlib, the keys across and the queries down; returns the axes.

        Args:
            name: which one (default: main).
            head: counted from 1 (default: the mean of all).
            axes: where to draw (default: a new figure that fits the tokens).
        """
        one = self[name] if name else self.main
        return plot_matrix(one.of_head(head), one.queries, one.keys, one.label, axes)

    def _repr_html_(self) -> str:
        """For notebooks: the output, and what the model attended to."""
        return notebook_html(self.output, f"log p {self.log_probability:.3f}", self.svg() if self.maps else "")

    def __repr__(self) -> str:
        return f"<heed.Looked {self.input!r} -> {self.output!r}: {len(self.maps)} attentions>"


def looked(found: str, page: Callable[[], str], draw: Callable[[str, int], str]) -> Looked:
    """From the document as JSON; `page` and `draw` make the page and a drawing when they are asked for."""
    return Looked(json.loads(found), page, draw)


def _map(one: Mapping[str, Any], sequences: Mapping[str, Any]) -> AttentionMap:
    numbers = np.frombuffer(base64.b64decode(one["weights"]["data"]), dtype="<f4")
    return AttentionMap(
        name=one["name"],
        label=one["label"],
        queries=sequences[one["queries"]]["tokens"],
        keys=sequences[one["keys"]]["tokens"],
        weights=numbers.reshape(one["heads"], one["rows"], one["cols"]),
    )
