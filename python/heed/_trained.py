"""Trained models: text in, text out."""

from __future__ import annotations

import errno
import inspect
import os
from typing import Any, Iterable, List, Mapping, Optional, Sequence, Tuple, Union, overload

from . import _heed
from ._heed import Error
from ._look import Looked, looked
from ._prediction import PairScore, Prediction, prediction

Path = Union[str, "os.PathLike[str]"]


class TrainedModel:
    """A trained model, or several that write together, from heed.load. Any number of threads may use it at once.

    Attributes:
        path: the folder or file that it was loaded from; of an ensemble, that of its first model.
    """

    def __init__(
        self, path: Union[Path, Sequence[Path]], checkpoint: str = "best", mean: str = "log_probabilities"
    ) -> None:
        """See heed.load."""
        folders = _folders(path)
        for name, word in (("checkpoint", checkpoint), ("mean", mean)):
            if not isinstance(word, str):
                raise TypeError(f"{name}: expected a str, got {type(word).__name__}")
        self._predictor = _heed.Predictor([os.fsencode(folder) for folder in folders], checkpoint, mean)
        self.path = folders[0]
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
        groups: int = 1,
        diversity: float = 0.5,
        must: Union[str, Sequence[str], Sequence[Sequence[str]]] = (),
        must_not: Union[str, Sequence[str], Sequence[Sequence[str]]] = (),
        prefix: Union[str, Sequence[str]] = "",
        no_repeat_ngram: Optional[int] = None,
        mbr: Optional[str] = None,
        candidates: Optional[int] = None,
        rerank_reverse: Optional["TrainedModel"] = None,
        rerank_weight: float = 1.0,
        sample: bool = False,
        distinct: bool = False,
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
            lengths: parallel decoders: outputs of different lengths to try (default 1, or nbest if more).
            max_length: longest output, in tokens (default: validate.longest of the model's recipe).
            groups: diverse beam search: the beam is cut into this many groups that avoid each other's tokens.
            diversity: what a token costs a group for each one that took it at the same step.
            must: a word or phrase that every output contains, or several; or a sequence of them for each line. What
                could not come before max_length is in Output.missing.
            must_not: the same for what no output contains.
            prefix: what every output begins with, or one for each line.
            no_repeat_ngram: no n tokens come twice in an output.
            mbr: a metric, such as "chrf": choose the candidates that agree most with all others (minimum Bayes risk).
            candidates: for mbr and rerank_reverse: outputs to choose from (default: the beam size or 10, 50 of
                samples).
            rerank_reverse: a model of the other direction: rerank_weight * log p(source | output) is added to each
                score.
            rerank_weight: see rerank_reverse.
            sample: sample every token instead of taking the likeliest.
            distinct: for sampling: nbest outputs that all differ, drawn without replacement.
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
        found = [prediction(one) for one in self._predictor.predict(texts, _options(given, len(texts)))]
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
        texts = _lines(lines)
        said = self._predictor.predict_json(texts, _options(options, len(texts)))
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

    def look(self, line: str, target: Optional[str] = None, **options: Any) -> Looked:
        """What the model attends to while it answers a line, at every layer and head, as `heed look` shows it.

        Args:
            line: the text.
            target: look at this output (default: what the model answers).
            options: those of predict() for the search.

        Raises:
            heed.Error, a ValueError: the line or the target cannot be used, or this is an ensemble.
        """
        unknown = sorted(set(options) - set(inspect.signature(self.predict).parameters))
        if unknown:
            raise TypeError(f"look() got an unexpected option '{unknown[0]}'")
        given = _options(options, 1)
        text, wanted = _bytes(line, "line"), None if target is None else _bytes(target, "target")

        def found(page: bool) -> str:
            return self._predictor.look(text, wanted, given, os.fsencode(self.path), page)

        def draw(attention: str, head: int) -> str:
            return self._predictor.draw(text, wanted, given, attention, head)

        return looked(found(False), lambda: found(True), draw)

    def export(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the model to one file, as `heed export` does; heed.load, the program and C++ read it.

        Args:
            path: the file. An existing model is replaced; any other file is not.

        Raises:
            heed.Error, a ValueError: the file cannot be written, or is not a model.
        """
        if self._predictor.models > 1:
            raise Error("export: one file holds one model; this is an ensemble of several")
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


def load(
    path: Union[Path, Sequence[Path]], checkpoint: str = "best", mean: str = "log_probabilities"
) -> TrainedModel:
    """Loads a trained model, or an ensemble: several that write together.

    Args:
        path: a training folder, one of its checkpoints, or a file from `heed export`; or a list of them. The models of
            an ensemble may be of any kind, but write the same tokens.
        checkpoint: which checkpoint of the folder: best, last, or a name such as step-000500.
        mean: of an ensemble: "log_probabilities" or "probabilities".

    Raises:
        FileNotFoundError: there is no such folder or file.
        heed.Error, a ValueError: there is no such checkpoint, it is damaged, or models write different tokens.
    """
    return TrainedModel(path, checkpoint, mean)


def _folders(path: Union[Path, Sequence[Path]]) -> List[str]:
    several = isinstance(path, (list, tuple))
    folders = []
    for i, each in enumerate(path if several else [path]):
        try:
            folder = os.fspath(each)
        except TypeError:
            folder = None
        if not isinstance(folder, str):
            name = f"path[{i}]" if several else "path"
            raise TypeError(f"{name}: expected a str or a path, got {type(each).__name__}")
        if not os.path.exists(folder):
            raise FileNotFoundError(errno.ENOENT, "there is no model", folder)
        folders.append(folder)
    if not folders:
        raise Error("path: expected at least one model")
    return folders


def _phrases(given: Any, name: str) -> List[bytes]:
    if isinstance(given, str):
        given = [given]
    if isinstance(given, (bytes, bytearray)) or not isinstance(given, Sequence):
        raise TypeError(f"{name}: expected a str or a sequence of str, got {type(given).__name__}")
    return [_bytes(phrase, f"{name}[{i}]") for i, phrase in enumerate(given)]


def _of_each_line(given: Any, name: str, lines: int) -> bool:
    """Whether it is a sequence with something for each line; then it must have the right length."""
    if isinstance(given, str) or not isinstance(given, Sequence):
        return False
    each = any(not isinstance(one, str) for one in given) if name != "prefix" else True
    if each and len(given) != lines:
        raise Error(f"{name}: {len(given)} for {lines} lines")
    return each


def _options(given: Mapping[str, Any], lines: int) -> dict:
    """As the extension module reads them: what holds for all lines, and a tuple for each line if some differ."""
    options = dict(given)
    own = {}
    for name in ("must", "must_not", "prefix"):
        value = options.pop(name, None)
        if value is None or (not isinstance(value, str) and isinstance(value, Sequence) and not value):
            continue
        if _of_each_line(value, name, lines):
            own[name] = value
        elif name == "prefix":
            options[name] = _bytes(value, name)
        else:
            options[name] = _phrases(value, name)
    if own:
        options["line_rules"] = [
            (
                _phrases(own["must"][i], f"must[{i}]") if "must" in own else [],
                _phrases(own["must_not"][i], f"must_not[{i}]") if "must_not" in own else [],
                _bytes(own["prefix"][i], f"prefix[{i}]") if "prefix" in own else b"",
            )
            for i in range(lines)
        ]
    reverse = options.get("rerank_reverse")
    if reverse is not None:
        if not isinstance(reverse, TrainedModel):
            raise TypeError(f"rerank_reverse: expected a model from heed.load, got {type(reverse).__name__}")
        options["rerank_reverse"] = reverse._predictor
    return options


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
