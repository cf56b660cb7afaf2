"""Models that `heed train` made: text in, text out."""

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
        unknown: tokens of the line that the vocabulary does not hold, as they stand there, each kind once: where there
            are some, the output is a guess.
        nbest: outputs, the best first; none for a line without tokens or with an error.
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
    """How likely a model finds a target, given its source.

    Attributes:
        log_probability: of the target and its end, the natural logarithm.
        tokens: of the target as the vocabulary spells them, the end last.
        token_log_probabilities: [tokens].
        error: why it cannot be scored, or None.
    """

    log_probability: float
    tokens: List[str]
    token_log_probabilities: np.ndarray
    error: Optional[str] = None


class TrainedModel:
    """A model that `heed train` made, from heed.load. Any number of threads may use it at once.

    Attributes:
        path: the folder or file that it came from.
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
        """Outputs for lines of text. The options are those of `heed predict`, and so are the outputs.

        Args:
            lines: a str, or any number of them, such as an open file: the end of a line does not count. Many at once
                are faster than one after the other, and give the same.
            beam: hypotheses that are followed at once; else as many as nbest, so 1, which is greedy.
            nbest: outputs for each line.
            length_penalty: log p is divided by ((5 + length) / 6) to the power of this; 0.6 is usual.
            mean_score: rank by log p divided by the length, instead of length_penalty.
            coverage: weight of the penalty for source tokens that were not looked at; 0.2 is usual.
            max_length: tokens of an output at most; else what the model's recipe says.
            sample: draw every token, instead of taking the likeliest.
            temperature: of samples; below 1: more cautious; above 1: more varied.
            top_k: of samples: only the k likeliest tokens; else all.
            top_p: of samples: only the likeliest, which have this much together.
            seed: of samples: a line draws from the seed and its number.
            first_line: the number of the first line.
            alignments: whether to say where each token looked.
            layer: of the decoder, whose attention the alignments show, from 1; else the last.
            head: of that layer, from 1; else the mean of all.
            copy_unknown: in a text, put the source token that was looked at most in place of ⁇, the sign for an unknown
                token; tokens stay as they are.

        Returns:
            A Prediction for a str, else a list of them in the order of the lines. What is wrong with one line (too long
            for the model) is its `error`, and the others are answered.

        Raises:
            heed.Error, a ValueError: options that have no meaning, or text that is none: a lone surrogate.
            TypeError: lines that are not str.
        """
        given = dict(locals())
        texts = _lines(given.pop("lines"))
        del given["self"]
        found = [_prediction(one) for one in self._predictor.predict(texts, given)]
        return found[0] if isinstance(lines, str) else found

    def predict_json(self, lines: Union[str, Iterable[str]], **options: Any) -> Union[str, List[str]]:
        """As predict(), with the same options: each answer as JSON, as `heed predict --json` prints it.

        Returns:
            An object for a str, else a list of them: line, source, source_tokens, unknown, output, score, log_probability,
            finished, tokens, token_log_probabilities, alignment (without alignments=False), outputs (with nbest above 1);
            or error.
        """
        unknown = sorted(set(options) - set(inspect.signature(self.predict).parameters))
        if unknown:
            raise TypeError(f"predict_json() got an unexpected option '{unknown[0]}'")
        said = self._predictor.predict_json(_lines(lines), options)
        return said[0] if isinstance(lines, str) else said

    def score(self, pairs: Iterable[Tuple[str, str]]) -> List[PairScore]:
        """How likely the model finds targets that are given: what `heed score` prints.

        Args:
            pairs: (source, target), any number of them.

        Returns:
            A PairScore for each, in their order. What is wrong with one pair (an empty source) is its `error`.

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
        """What it does: pairs."""
        return self._predictor.task

    @property
    def kind(self) -> str:
        """rnn or transformer; where encoder and decoder differ, both: "transformer-rnn"."""
        encoder, decoder = self._predictor.encoder, self._predictor.decoder
        return encoder if encoder == decoder else f"{encoder}-{decoder}"

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
        path: the folder of a training, one checkpoint of it, or a file that `heed export` wrote.
        checkpoint: which one of the folder: best, last, or a name such as step-000500.

    Raises:
        FileNotFoundError: there is no such folder or file.
        heed.Error, a ValueError: it holds no such checkpoint, or a damaged one.
    """
    return TrainedModel(path, checkpoint)


def _lines(lines: Union[str, Iterable[str]]) -> List[bytes]:
    if isinstance(lines, str):
        return [_bytes(lines, "lines")]
    if isinstance(lines, (bytes, bytearray)) or not isinstance(lines, Iterable):
        raise TypeError(f"lines: expected a str or some of them, got {type(lines).__name__}")
    return [_bytes(line, f"lines[{i}]") for i, line in enumerate(lines)]


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
    nbest = [Output(**output) for output in found["nbest"]]
    return Prediction(found["source_tokens"], found["unknown"], nbest, found["error"])
