"""How good a trained model is: TrainedModel.evaluate()."""

from __future__ import annotations

import math
import os
import tempfile
import warnings
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import numpy as np

from . import _heed
from ._data import Columns, files_of
from ._heed import Error
from ._plot import html_table, matrix_svg, notebook_html, plot_matrix
from ._text import as_bytes


@dataclass(frozen=True)
class LabelCounts:
    """How well a label is found.

    Attributes:
        texts, given: how many texts have it, and how many the model gave it to.
        precision, recall, f1: from 0 to 1.
    """

    texts: int
    given: int
    precision: float
    recall: float
    f1: float


@dataclass(frozen=True)
class Evaluation:
    """What TrainedModel.evaluate() found; evaluation["accuracy"] is a metric by its name, as the program computes it.

    Attributes:
        metrics: by name, the model's own first. Shares and error rates are in percent.
        higher_is_better: of each of them.
        parts: what each was computed from.
        examples: the number of them; of running text, of its lines.
        sources, outputs, references: the lines, what the model said, and the right answers of each line.
        labels: of models that give labels: heed.LabelCounts of each.
        confusion: [labels, labels], the right label down and the given one across, in the order of `classes`; None if a
            text may have several labels, or the model gives none.
        classes: the labels that are right or given.
        calibration_error: in percent, how far the probabilities are from the share that is right; None without labels.

    >>> films = [f"film {i} is {word}" for i in range(30) for word in ("good", "bad")]
    >>> judge = heed.Classifier(width=16, epochs=20, learning_rate=0.02).fit(films, ["yes", "no"] * 30)
    >>> found = judge.model_.evaluate(texts=films, labels=["yes", "no"] * 30)
    >>> found["accuracy"], found.confusion.tolist(), found.svg()[:4]
    (100.0, [[30, 0], [0, 30]], '<svg')
    >>> axes = found.plot()  # doctest: +SKIP
    """

    metrics: Dict[str, float]
    higher_is_better: Dict[str, bool]
    parts: Dict[str, Dict[str, float]] = field(repr=False)
    examples: int
    sources: List[str] = field(repr=False, default_factory=list)
    outputs: List[str] = field(repr=False, default_factory=list)
    references: List[List[str]] = field(repr=False, default_factory=list)
    labels: Dict[str, LabelCounts] = field(repr=False, default_factory=dict)
    confusion: Optional[np.ndarray] = field(repr=False, default=None)
    classes: List[str] = field(repr=False, default_factory=list)
    calibration_error: Optional[float] = field(repr=False, default=None)

    def __getitem__(self, name: str) -> float:
        if name not in self.metrics:
            raise KeyError(f"{name!r} is not one of {list(self.metrics)}")
        return self.metrics[name]

    @property
    def wrong(self) -> List[Tuple[str, str, List[str]]]:
        """(source, output, right answers) of every line whose output is none of the right ones."""
        rows = zip(self.sources, self.outputs, self.references)
        return [(source, output, right) for source, output, right in rows if output not in right]

    def svg(self) -> str:
        """The confusion matrix: of each right label, which share was given which."""
        return matrix_svg(self._shares(), self.classes, self.classes, "right label down, given label across")

    def plot(self, axes: Any = None) -> Any:
        """Draws the confusion matrix with matplotlib, into `axes` or a new figure, and returns the axes."""
        return plot_matrix(self._shares(), self.classes, self.classes, "right \\ given", axes)

    def _shares(self) -> np.ndarray:
        if self.confusion is None:
            raise Error("nothing to draw: a confusion matrix needs a model that gives one label to a text")
        return self.confusion / np.maximum(self.confusion.sum(axis=1, keepdims=True), 1)

    def __str__(self) -> str:
        lines = [f"{name:<20} {value:8.2f}" for name, value in self.metrics.items()]
        if self.confusion is not None and len(self.classes) <= 20:
            width = max(map(len, [*self.classes, str(self.confusion.max(initial=0)), "right \\ given"]))
            lines += ["", "  ".join(f"{name:>{width}}" for name in ["right \\ given", *self.classes])]
            for name, row in zip(self.classes, self.confusion):
                lines.append("  ".join(f"{cell:>{width}}" for cell in [name, *row.tolist()]))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """For notebooks: the metrics, and the confusion matrix."""
        better = {True: "higher is better", False: "lower is better"}
        rows = [(name, f"{value:.2f}", better[self.higher_is_better[name]]) for name, value in self.metrics.items()]
        shown = html_table(("metric", "score", ""), rows)
        if self.confusion is not None and self.classes:
            shown += notebook_html("confusion", "right label down, given label across", self.svg())
        return shown


def evaluation(
    predictor: _heed.Predictor, data: Any, metrics: Sequence[str], predict: Callable[[List[str]], Tuple[List[str], Any]]
) -> Evaluation:
    """`data`: as for heed.train, or None for the validation data. `predict`: outputs of lines, and their probabilities
    if they are labels."""
    with tempfile.TemporaryDirectory(prefix="heed-") as work:
        names = [] if data is None else files_of(data, work, "pairs").names
        sources, references, warning = _heed.references(predictor, [os.fsencode(name) for name in names])
    if warning:
        warnings.warn(f"evaluate: {warning.rstrip()}", stacklevel=3)
    if not sources:
        raise Error("evaluate: there are no lines")
    outputs, probabilities = predict(sources)
    found = _heed.judge(
        predictor,
        [as_bytes(output, "outputs") for output in outputs],
        [[as_bytes(one, "references") for one in each] for each in references],
        list(metrics),
        probabilities,
    )
    classes, counts = found.get("confusion", ([], None))
    return Evaluation(
        metrics={one["metric"]: one["score"] for one in found["metrics"]},
        higher_is_better={one["metric"]: one["higher_is_better"] for one in found["metrics"]},
        parts={one["metric"]: one["parts"] for one in found["metrics"]},
        examples=len(sources),
        sources=sources,
        outputs=outputs,
        references=references,
        labels={one.pop("label"): LabelCounts(**one) for one in found.get("labels", [])},
        confusion=None if counts is None else np.array(counts, dtype=np.int64).reshape(len(classes), len(classes)),
        classes=classes,
        calibration_error=found.get("calibration_error"),
    )


def text_evaluation(predictor: _heed.Predictor, data: Any, stride: int) -> Evaluation:
    """Of a model of running text. `data`: the path of a file, or texts."""
    with tempfile.TemporaryDirectory(prefix="heed-") as work:
        if not isinstance(data, (str, os.PathLike)):
            columns = Columns(data, None, ("texts", ""), {})
            data = files_of(columns, work, "texts").names[0]
        found = _heed.judge_text(predictor, os.fsencode(data), stride)
    if found["warning"]:
        warnings.warn(f"evaluate: {found['warning']}", stacklevel=3)
    if not found["tokens"]:
        raise Error("evaluate: there is no text")
    metrics = {
        "perplexity": math.exp(-found["log_probability"] / found["tokens"]),
        "token_accuracy": found["correct"] / found["tokens"],
    }
    if found["characters"]:  # all of the text is predicted, not some of its tokens
        metrics["bits_per_character"] = -found["log_probability"] / math.log(2) / found["characters"]
    counts = {name: float(value) for name, value in found.items() if name != "warning"}
    better = {"perplexity": False, "bits_per_character": False, "token_accuracy": True}
    return Evaluation(metrics, better, {"perplexity": counts}, found["lines"])
