"""What trained models answer: heed.Prediction, heed.Output, heed.PairScore."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, List, Mapping, Optional, Tuple

import numpy as np

from . import _heed
from ._heed import Error
from ._plot import notebook_html, plot_matrix


@dataclass(frozen=True)
class Output:
    """One output for a line.

    Attributes:
        text: the line.
        score: what outputs are ranked by: the log-probability, normalised by length_penalty, as `heed predict` prints
            it.
        log_probability: of the tokens, and of the end token if it came.
        finished: whether the end token came within max_length tokens.
        tokens: as the vocabulary spells them.
        token_log_probabilities: [tokens]; the end token last, if it came.
        alignment: [tokens, source tokens]: the attention weights; None without alignments.
        links: (source, target): for each token, the source token with the most attention; both from 0.
        times: of a model that reads recordings: (word, start, end) in seconds, by what it attended to; empty without
            alignments.
        missing: words of must that did not come; mostly empty.
        missing_because: why.
        reverse_log_probability: with rerank_reverse: log p(source | output) by that model.
    """

    text: str
    score: float
    log_probability: float
    finished: bool
    tokens: List[str]
    token_log_probabilities: np.ndarray
    alignment: Optional[np.ndarray]
    links: List[Tuple[int, int]]
    times: List[Tuple[str, float, float]]
    missing: List[str]
    missing_because: str
    reverse_log_probability: float

    def __repr__(self) -> str:
        return f"Output({self.text!r}, score={self.score:.6f})"


@dataclass(frozen=True)
class Prediction:
    """The answer to a line. Without an output, text is "", tokens and links are empty, and the others are None.

    Attributes:
        source_tokens: as the vocabulary spells them.
        unknown: tokens of the line that are not in the vocabulary, as written there, each once. If there are any, the
            output is a guess.
        nbest: outputs, the best first; empty for a line without tokens or with an error.
        error: why there is no output, or None.

    In a notebook it shows the text and what its tokens attended to.

    >>> found = model.predict("12.3.")
    >>> found.svg()[:4], found.alignment.shape == (len(found.tokens), len(found.source_tokens))
    ('<svg', True)
    >>> axes = found.plot()  # doctest: +SKIP
    """

    source_tokens: List[str]
    unknown: List[str]
    nbest: List[Output]
    error: Optional[str]
    _found: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def text(self) -> str:
        """Of the best output."""
        return self.nbest[0].text if self.nbest else ""

    @property
    def vector(self) -> Optional[np.ndarray]:
        """[width] of a model that gives vectors; otherwise None."""
        return self._found.get("vector")

    @property
    def score(self) -> Optional[float]:
        """Of the best output: see Output."""
        return self.nbest[0].score if self.nbest else None

    @property
    def tokens(self) -> List[str]:
        """Of the best output."""
        return self.nbest[0].tokens if self.nbest else []

    @property
    def alignment(self) -> Optional[np.ndarray]:
        """Of the best output, [tokens, source tokens]."""
        return self.nbest[0].alignment if self.nbest else None

    @property
    def links(self) -> List[Tuple[int, int]]:
        """Of the best output: (source, target)."""
        return self.nbest[0].links if self.nbest else []

    def svg(self) -> str:
        """What the best output attended to, as `heed predict --pictures` draws it: a matrix, for labels the text shaded
        by its weights, for pictures the cells. TrainedModel.look() has every attention inside the model.

        Raises:
            heed.Error, a ValueError: there is no alignment.
        """
        self._expect_alignment()
        return _heed.alignment_svg(self._found)

    def plot(self, axes: Any = None) -> Any:
        """Draws the alignment of the best output with matplotlib, the source across and the output down.

        Args:
            axes: where to draw (default: a new figure that fits the tokens).

        Returns:
            The axes.

        Raises:
            heed.Error, a ValueError: there is no alignment.
            ImportError: matplotlib is not installed.
        """
        weights = self._expect_alignment()
        return plot_matrix(weights, self._found["rows"][1], self._found["columns"], self.text, axes)

    def _expect_alignment(self) -> np.ndarray:
        weights = self.alignment
        if weights is None or not weights.size or not self._found.get("rows"):
            why = self.error or "there is no alignment: predict(..., alignments=True) of a model with attention gives one"
            raise Error(f"nothing to draw: {why}")
        return weights

    def _repr_html_(self) -> str:
        """For notebooks."""
        if self.error is not None:
            return notebook_html("no output:", self.error, "")
        drawn = self.alignment is not None and self.alignment.size and self._found.get("rows")
        note = "" if self.score is None else f"score {self.score:.3f}"
        return notebook_html(self.text, note, self.svg() if drawn else "")

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        if self.error is not None:
            return f"Prediction(error={self.error!r})"
        return f"Prediction({self.text!r}" + (f", score={self.score:.6f})" if self.nbest else ")")


class Predictions(List[Prediction]):
    """The answers to several lines: a list of heed.Prediction.

    >>> found = model.predict(["12.3.", "4.5."])
    >>> len(found), found.texts == [found[0].text, found[1].text]
    (2, True)
    """

    _SHOWN = 10  # in a notebook, with their drawings

    @property
    def texts(self) -> List[str]:
        """The best output of each."""
        return [one.text for one in self]

    @property
    def scores(self) -> np.ndarray:
        """The score of each; NaN without an output."""
        return np.array([math.nan if one.score is None else one.score for one in self])

    def _repr_html_(self) -> str:
        """For notebooks."""
        more = len(self) - self._SHOWN
        shown = "".join(one._repr_html_() for one in self[: self._SHOWN])
        return shown + (f"<p>... and {more:,} more</p>" if more > 0 else "")


@dataclass(frozen=True)
class PairScore:
    """The probability that a model gives to a target, given its source.

    Attributes:
        log_probability: natural logarithm of the probability of the target and its end token.
        tokens: of the target, as the vocabulary spells them; the end token last.
        token_log_probabilities: [tokens].
        error: why it cannot be scored, or None.
    """

    log_probability: float
    tokens: List[str]
    token_log_probabilities: np.ndarray
    error: Optional[str] = None


def prediction(found: Mapping[str, Any]) -> Prediction:
    """From what the extension module says of a line."""
    nbest = [Output(**output) for output in found["nbest"]]
    return Prediction(found["source_tokens"], found["unknown"], nbest, found["error"], found)
