"""Trained models: text in, text out."""

from __future__ import annotations

import errno
import inspect
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
        score: what outputs are ranked by: the log-probability, normalised by length_penalty, as `heed predict` prints
            it.
        log_probability: of the tokens, and of the end token if it came.
        finished: whether the end token came within max_length tokens.
        tokens: as the vocabulary spells them.
        token_log_probabilities: [tokens]; the end token last, if it came.
        alignment: [tokens, source tokens]: the attention weights; None without alignments.
        links: (source, target): for each token, the source token with the most attention; both from 0.
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
    """The answer to a line. Without an output, text is "", tokens and links are empty, and the others are None.

    Attributes:
        source_tokens: as the vocabulary spells them.
        unknown: tokens of the line that are not in the vocabulary, as written there, each once. If there are any, the
            output is a guess.
        nbest: outputs, the best first; empty for a line without tokens or with an error.
        error: why there is no output, or None.
    """

    source_tokens: List[str]
    unknown: List[str]
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


class TrainedModel:
    """A trained model, from heed.load. Any number of threads may use it at once.

    Attributes:
        path: the folder or file that it was loaded from.
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
        self._checkpoint = checkpoint

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
        mean_score: bool = False,
        coverage: float = 0.0,
        iterations: Optional[int] = None,
        lengths: Optional[int] = None,
        max_length: Optional[int] = None,
        sample: bool = False,
        temperature: float = 1.0,
        top_k: Optional[int] = None,
        top_p: float = 1.0,
        seed: int = 0,
        first_line: int = 1,
        alignments: bool = True,
        layer: Optional[int] = None,
        head: Optional[int] = None,
        copy_unknown: bool = False,
    ) -> Union[Prediction, List[Prediction]]:
        """Outputs for lines of text. Options and outputs are those of `heed predict`.

        Args:
            lines: a str, or several, such as an open file; line ends are ignored. Passing many at once is faster than
                one after the other, and gives the same outputs.
            beam: beam size (default: nbest; 1 is greedy search).
            nbest: outputs per line.
            length_penalty: log p is divided by ((5 + length) / 6) to this power; 0.6 is common.
            mean_score: rank by log p divided by the length, instead of by length_penalty.
            coverage: weight of the penalty for source tokens without attention; 0.2 is common.
            iterations: parallel decoders: passes over an output (default 4).
            lengths: parallel decoders: outputs of different lengths to try (default 3, or nbest if more).
            max_length: longest output, in tokens (default: validate.longest of the model's recipe).
            sample: sample every token instead of taking the likeliest.
            temperature: for sampling; below 1: more cautious; above 1: more varied.
            top_k: for sampling: only the k likeliest tokens (default: all).
            top_p: for sampling: only the likeliest tokens, up to this total probability.
            seed: for sampling: a line's samples depend only on the seed and its number.
            first_line: the number of the first line.
            alignments: whether to return the attention weights.
            layer: the decoder layer whose attention is returned, from 1 (default: the last).
            head: the head of that layer, from 1 (default: the mean of all).
            copy_unknown: in the text, replace each ⁇ (an unknown token) by the source token with the most attention;
                tokens stay as they are.

        Returns:
            A Prediction for a str, otherwise a list of them in the order of the lines. If a line cannot be used (too
            long for the model), its `error` says why, and the others are answered.

        Raises:
            heed.Error, a ValueError: invalid options, or a line with a lone surrogate, which is not text.
            TypeError: lines that are not str.
        """
        given = dict(locals())
        texts = _lines(given.pop("lines"))
        del given["self"]
        found = [_prediction(one) for one in self._predictor.predict(texts, given)]
        return found[0] if isinstance(lines, str) else found

    def predict_json(self, lines: Union[str, Iterable[str]], **options: Any) -> Union[str, List[str]]:
        """Like predict(), with the same options, but each answer as JSON, as `heed predict --json` prints it.

        Returns:
            An object for a str, otherwise a list of them: line, source, source_tokens, unknown, output, score,
            log_probability, finished, tokens, token_log_probabilities, alignment (unless alignments=False), outputs
            (with nbest above 1); or error.
        """
        unknown = sorted(set(options) - set(inspect.signature(self.predict).parameters))
        if unknown:
            raise TypeError(f"predict_json() got an unexpected option '{unknown[0]}'")
        said = self._predictor.predict_json(_lines(lines), options)
        return said[0] if isinstance(lines, str) else said

    def score(self, pairs: Iterable[Tuple[str, str]]) -> List[PairScore]:
        """The probability that the model gives to targets, as `heed score` prints it.

        Args:
            pairs: any number of (source, target).

        Returns:
            A PairScore for each, in the same order. If a pair cannot be scored (an empty source), its `error` says why.

        Raises:
            TypeError: pairs that are not two str each.
        """
        asked = []
        for i, pair in enumerate(pairs):
            if isinstance(pair, (str, bytes)) or len(pair) != 2:
                raise TypeError(f"pairs[{i}]: expected a source and a target, got {pair!r}")
            asked.append((_bytes(pair[0], f"pairs[{i}][0]"), _bytes(pair[1], f"pairs[{i}][1]")))
        return [PairScore(**found) for found in self._predictor.score(asked)]

    def export(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the model to one file, as `heed export` does; heed.load, the program and C++ read it.

        Args:
            path: the file. An existing model is replaced; any other file is not.

        Raises:
            heed.Error, a ValueError: the file cannot be written, or is not a model.
        """
        _heed.export_model(os.fsencode(self.path), self._checkpoint, os.fsencode(path))

    @property
    def task(self) -> str:
        """The kind of task: pairs."""
        return self._predictor.task

    @property
    def kind(self) -> str:
        """rnn or transformer; both if encoder and decoder differ: "transformer-rnn"."""
        encoder, decoder = self._predictor.encoder, self._predictor.decoder
        return encoder if encoder == decoder else f"{encoder}-{decoder}"

    @property
    def parameter_count(self) -> int:
        """The number of parameters."""
        return self._predictor.parameters

    @property
    def recipe(self) -> str:
        """The whole recipe that it was trained with, as TOML."""
        return self._predictor.recipe

    def __repr__(self) -> str:
        source, target = self._predictor.vocabulary_sizes
        return (
            f"<heed.TrainedModel {self.path!r}: {self.kind}, {self.parameter_count:,} parameters, "
            f"vocabularies of {source:,} and {target:,}>"
        )


def load(path: Union[str, "os.PathLike[str]"], checkpoint: str = "best") -> TrainedModel:
    """Loads a trained model.

    Args:
        path: a training folder, one of its checkpoints, or a file from `heed export`.
        checkpoint: which checkpoint of the folder: best, last, or a name such as step-000500.

    Raises:
        FileNotFoundError: there is no such folder or file.
        heed.Error, a ValueError: there is no such checkpoint, or it is damaged.
    """
    return TrainedModel(path, checkpoint)


def _lines(lines: Union[str, Iterable[str]]) -> List[bytes]:
    if isinstance(lines, str):
        return [_bytes(lines, "lines")]
    if isinstance(lines, (bytes, bytearray)) or not isinstance(lines, Iterable):
        raise TypeError(f"lines: expected a str or an iterable of str, got {type(lines).__name__}")
    return [_bytes(line, f"lines[{i}]") for i, line in enumerate(lines)]


def _bytes(line: str, name: str) -> bytes:
    if not isinstance(line, str):
        raise TypeError(f"{name}: expected a str, got {type(line).__name__}")
    try:
        return line.encode("utf-8")
    except UnicodeEncodeError as error:
        raise Error(
            f"{name}: expected text, got a lone surrogate, {line[error.start]!r}, at index {error.start}"
        ) from None


def _prediction(found: Mapping[str, Any]) -> Prediction:
    nbest = [Output(**output) for output in found["nbest"]]
    return Prediction(found["source_tokens"], found["unknown"], nbest, found["error"])
