"""Models that `heed train` made: text in, text out."""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass
from typing import Any, Iterable, List, Mapping, Optional, Tuple, Union, overload

import numpy as np

from . import _heed
from ._heed import Error


@dataclass(frozen=True)
class Output:
    """One output for a line.

    Attributes:
        text: the line.
        score: what outputs are ranked by: the log-probability, divided as length_penalty says; what `heed predict`
            prints.
        log_probability: of the tokens, and of the end where it came.
        finished: whether the end came within max_length tokens.
        tokens: as the vocabulary spells them.
        token_log_probabilities: [tokens], and that of the end last, where it came.
        alignment: [tokens, source tokens]: where each token looked; None without alignments.
        links: (source, target): of each token, the source token that it looked at most; both from 0.
    """

    text: str
    score: float
    log_probability: float
    finished: bool
    tokens: List[str]
    token_log_probabilities: np.ndarray
    alignment: Optional[np.ndarray]
    links: List[Tuple[int, int]]

    def __repr__(self) -> str:
        return f"Output({self.text!r}, score={self.score:.6f})"


@dataclass(frozen=True)
class Prediction:
    """What became of a line. Without an output, text is "", tokens and links are empty, and the others are None.

    Attributes:
        source_tokens: as the vocabulary spells them.
        nbest: outputs, the best first; none for a line without tokens or with an error.
        error: why there is no output, or None.
    """

    source_tokens: List[str]
    nbest: List[Output]
    error: Optional[str]

    @property
    def text(self) -> str:
        """Of the best output."""
        return self.nbest[0].text if self.nbest else ""

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

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        if self.error is not None:
            return f"Prediction(error={self.error!r})"
        return f"Prediction({self.text!r}" + (f", score={self.score:.6f})" if self.nbest else ")")


class TrainedModel:
    """A model that `heed train` made, from heed.load. Any number of threads may use it at once.

    Attributes:
        path: the folder that it came from.
    """

    def __init__(self, path: Union[str, "os.PathLike[str]"], checkpoint: str = "best") -> None:
        """See heed.load."""
        folder = os.fspath(path)
        if not isinstance(folder, str):
            raise TypeError(f"path: expected a str or a path, got {type(path).__name__}")
        if not isinstance(checkpoint, str):
            raise TypeError(f"checkpoint: expected a str, got {type(checkpoint).__name__}")
        if not os.path.exists(folder):
            raise FileNotFoundError(errno.ENOENT, "there is no model", folder)
        self._predictor = _heed.Predictor(os.fsencode(folder), checkpoint)
        self.path = folder

    @overload
    def predict(self, lines: str, **options: Any) -> Prediction: ...

    @overload
    def predict(self, lines: Iterable[str], **options: Any) -> List[Prediction]: ...

    def predict(
        self,
        lines: Union[str, Iterable[str]],
        *,
        beam: Optional[int] = None,
        nbest: int = 1,
        length_penalty: float = 0.0,
        coverage: float = 0.0,
        max_length: Optional[int] = None,
        sample: bool = False,
        temperature: float = 1.0,
        top_k: Optional[int] = None,
        top_p: float = 1.0,
        seed: int = 0,
        first_line: int = 1,
        alignments: bool = True,
    ) -> Union[Prediction, List[Prediction]]:
        """Outputs for lines of text. The options are those of `heed predict`, and so are the outputs.

        Args:
            lines: a str, or any number of them, such as an open file: the end of a line does not count. Many at once
                are faster than one after the other, and give the same.
            beam: hypotheses that are followed at once; else as many as nbest, so 1, which is greedy.
            nbest: outputs for each line.
            length_penalty: log p is divided by ((5 + length) / 6) to the power of this; 0.6 is usual.
            coverage: weight of the penalty for source tokens that were not looked at; 0.2 is usual.
            max_length: tokens of an output at most; else what the model's recipe says.
            sample: draw every token, instead of taking the likeliest.
            temperature: of samples; below 1: more cautious; above 1: more varied.
            top_k: of samples: only the k likeliest tokens; else all.
            top_p: of samples: only the likeliest, which have this much together.
            seed: of samples: a line draws from the seed and its number.
            first_line: the number of the first line.
            alignments: whether to say where each token looked.

        Returns:
            A Prediction for a str, else a list of them in the order of the lines. What is wrong with one line (too long
            for the model) is its `error`, and the others are answered.

        Raises:
            heed.Error, a ValueError: options that have no meaning, or text that is none: a lone surrogate.
            TypeError: lines that are not str.
        """
        given = dict(beam=beam, nbest=nbest, length_penalty=length_penalty, coverage=coverage, max_length=max_length)
        given.update(sample=sample, temperature=temperature, top_k=top_k, top_p=top_p, seed=seed)
        given.update(first_line=first_line, alignments=alignments)
        if isinstance(lines, str):
            return _prediction(self._predictor.predict([_bytes(lines, "lines")], given)[0])
        if isinstance(lines, (bytes, bytearray)) or not isinstance(lines, Iterable):
            raise TypeError(f"lines: expected a str or some of them, got {type(lines).__name__}")
        texts = [_bytes(line, f"lines[{i}]") for i, line in enumerate(lines)]
        return [_prediction(found) for found in self._predictor.predict(texts, given)]

    @property
    def kind(self) -> str:
        """rnn or transformer."""
        return self._predictor.kind

    @property
    def parameter_count(self) -> int:
        """How many numbers were learned."""
        return self._predictor.parameters

    @property
    def recipe(self) -> str:
        """All that it was trained with, as TOML."""
        return self._predictor.recipe

    def __repr__(self) -> str:
        source, target = self._predictor.vocabulary_sizes
        return (
            f"<heed.TrainedModel {self.path!r}: {self.kind}, {self.parameter_count:,} parameters, "
            f"vocabularies of {source:,} and {target:,}>"
        )


def load(path: Union[str, "os.PathLike[str]"], checkpoint: str = "best") -> TrainedModel:
    """A model that `heed train` made.

    Args:
        path: the folder of a training, or one checkpoint of it.
        checkpoint: which one of the folder: best, last, or a name such as step-000500.

    Raises:
        FileNotFoundError: there is no such folder.
        heed.Error, a ValueError: it holds no such checkpoint, or a damaged one.
    """
    return TrainedModel(path, checkpoint)


def _bytes(line: str, name: str) -> bytes:
    if not isinstance(line, str):
        raise TypeError(f"{name}: expected a str, got {type(line).__name__}")
    try:
        return line.encode("utf-8")
    except UnicodeEncodeError as error:
        raise Error(
            f"{name}: expected text, got a lone surrogate, {line[error.start]!r}, as character {error.start}"
        ) from None


def _prediction(found: Mapping[str, Any]) -> Prediction:
    return Prediction(found["source_tokens"], [Output(**output) for output in found["nbest"]], found["error"])
