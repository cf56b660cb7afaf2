"""Trained models: text in, text out."""

from __future__ import annotations

import errno
import math
import os
from typing import TYPE_CHECKING, Any, Iterable, List, Mapping, Optional, Sequence, Tuple, Union, overload

import numpy as np

from . import _heed
from ._data import columns_given
from ._decoding import documented, own_names
from ._heed import Error
from ._evaluation import Evaluation, evaluation, text_evaluation
from ._look import Looked, looked
from ._prediction import PairScore, Prediction, Predictions, prediction
from ._stored import bytes_of, restored
from ._tables import column_names, table, texts_of
from ._text import as_bytes
from ._weights import ModelParameters

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._decoding_options import DecodingOptions

Path = Union[str, "os.PathLike[str]"]


class TrainedModel:
    """A trained model, or several that write together, from heed.load. Any number of threads may use it at once; one that
    writes to its `parameters` waits for the others. It can be pickled, also for another machine, and copied: a copy has
    weights of its own.

    Attributes:
        path: the folder or file that it was loaded from; of an ensemble, that of its first model.
        labels: what it can say, of a model that gives labels; otherwise none.
    """

    def __init__(
        self,
        path: Union[Path, Sequence[Path]],
        checkpoint: str = "best",
        mean: str = "log_probabilities",
        precision: str = "stored",
    ) -> None:
        """See heed.load."""
        folders = _folders(path)
        for name, word in (("checkpoint", checkpoint), ("mean", mean), ("precision", precision)):
            if not isinstance(word, str):
                raise TypeError(f"{name}: expected a str, got {type(word).__name__}")
        self._checkpoints: List[str] = []
        self._predictor = _heed.Predictor(
            [os.fsencode(folder) for folder in folders], checkpoint, mean, precision, self._checkpoints
        )
        self._folders = folders
        self._mean = mean
        self._precision = precision
        self._purpose = _heed.purpose_of(self._predictor)
        self.path = folders[0]
        self.labels: List[str] = self._purpose["labels"]

    def __reduce__(self) -> Any:
        # copy.copy() and copy.deepcopy() use this too: weights can be written to, so nothing is shared.
        models = bytes_of(self._predictor, self._folders, self._checkpoints)
        return restored, (type(self), models, self._mean, self._precision)

    # A str is an Iterable[str] too: the first that fits is taken.
    @overload
    def predict(  # type: ignore[overload-overlap,unused-ignore]
        self, lines: str, **options: Unpack[DecodingOptions]
    ) -> Prediction: ...

    @overload
    def predict(self, lines: Iterable[str], **options: Unpack[DecodingOptions]) -> Predictions: ...

    @documented
    def predict(self, lines: Union[str, Iterable[str]], **options: Any) -> Union[Prediction, Predictions]:
        """Outputs for lines of text. Options and outputs are those of `heed predict`.

        >>> model.predict("12.3.").text == model.predict(["12.3.", "4.5."])[0].text
        True

        Args:
            lines: a str, or several: a list, a series, an array, a column of a table, an open file. Line ends are
                ignored. Passing many at once is faster than one after the other, and gives the same outputs.
            options: see below.

        Returns:
            A Prediction for a str, otherwise heed.Predictions, a list of them in the order of the lines. If a line
            cannot be used (too long for the model), its `error` says why, and the others are answered.

        Raises:
            heed.Error, a ValueError: invalid options, or a line with a lone surrogate, which is not text.
            TypeError: lines that are not str, or an option that does not exist.
        """
        texts = self._lines(lines)
        given = _options(own_names(options, "predict"), len(texts))
        found = Predictions(prediction(one) for one in self._predictor.predict(texts, given))
        return found[0] if isinstance(lines, str) else found

    def vectors(self, texts: Union[str, Iterable[str]]) -> np.ndarray:
        """Vectors of texts, of a model that gives vectors: [texts, width], or [width] of a str. They are those of
        `heed predict`; with unit vectors, the product of two is the cosine of their angle.

        >>> couples = [f"item {i}\\tthing {i}" for i in range(40)]
        >>> from pathlib import Path
        >>> _ = Path("couples.tsv").write_text("\\n".join(couples), encoding="utf-8")
        >>> near = heed.train("couples.tsv", progress=False,
        ...                   settings={"model.task": "vectors", "model.width": 8, "data.text_tokens": "words",
        ...                             "stop.steps": 3})
        >>> near.vectors(["item 3", "thing 7"]).shape
        (2, 16)

        Raises:
            heed.Error, a ValueError: the model gives none, or a text has none: it is empty or too long.
        """
        found = self.predict([texts] if isinstance(texts, str) else texts, alignments=False)
        for number, one in enumerate(found):
            if one.vector is None:
                raise Error(f"vectors: text {number} has none: {one.error or 'it is empty, or the model gives others'}")
        if isinstance(texts, str):
            return found[0].vector
        return np.stack([one.vector for one in found]) if found else np.zeros((0, 0), np.float32)

    def predict_proba(self, texts: Union[str, Iterable[str]]) -> np.ndarray:
        """The probability of every label, of a model that gives labels.

        >>> films = [f"film {i} is {word}" for i in range(30) for word in ("good", "bad")]
        >>> judge = heed.train(texts=films, labels=["yes", "no"] * 30, progress=False,
        ...                    settings={"model.width": 8, "stop.steps": 5})
        >>> judge.labels, judge.predict_proba(["film 3 is good", "film 7 is bad"]).shape
        (['no', 'yes'], (2, 2))

        Args:
            texts: as for predict().

        Returns:
            [texts, labels] in the order of `labels`; of a str [labels]. A text that cannot be used, such as an empty
            one, has NaN.

        Raises:
            heed.Error, a ValueError: the model gives no labels.
        """
        probabilities, _ = _heed.label_probabilities(self._predictor, self._lines(texts))
        return probabilities[0] if isinstance(texts, str) else probabilities

    def evaluate(
        self,
        data: Any = None,
        *,
        texts: Optional[Iterable[str]] = None,
        labels: Optional[Iterable[Any]] = None,
        sources: Optional[Iterable[str]] = None,
        targets: Optional[Iterable[str]] = None,
        metrics: Union[str, Sequence[str]] = (),
        **options: Unpack[DecodingOptions],
    ) -> Evaluation:
        """How good the outputs are, by the metrics of `heed evaluate`: the same numbers.

        >>> found = model.evaluate([("12.3.", "03-12"), ("4.5.", "05-04")], metrics=["exact", "cer"])
        >>> sorted(found.metrics), found.examples
        (['cer', 'exact'], 2)

        Args:
            data: lines with their right answers, in any form that heed.train takes; of a model that goes on with texts,
                texts or the path of a file. None, and nothing else given: the validation data of the training, whose
                files must still be there.
            texts, labels, sources, targets: instead, columns, as for heed.train.
            metrics: names, as for `heed evaluate --metric` (default: those of the model).
            options: those of predict() for the search; of a model that goes on with texts, stride.

        Raises:
            heed.Error, a ValueError: data or metrics that cannot be used.
        """
        given = {"texts": texts, "labels": labels, "sources": sources, "targets": targets}
        columns = columns_given(**given)
        if columns is not None:
            if data is not None:
                raise Error("evaluate: data and columns cannot be combined")
            data = columns
        own = own_names(options, "evaluate")
        if self._purpose["running_text"]:
            if metrics or set(own) - {"stride"}:
                raise Error("evaluate: a model of running text is judged by how well it predicts one: no metrics, and "
                            "of the options only stride")
            return text_evaluation(self._predictor, texts if columns is not None else data, int(own.get("stride") or 0))

        if not self._purpose["metrics"]:
            raise Error("evaluate: this model gives vectors, which have no right answer: compare those of vectors()")

        def outputs(lines: List[str]) -> Tuple[List[str], List[float]]:
            own["alignments"] = False
            said = self._predictor.predict(self._lines(lines), _options(own, len(lines)))
            best = [one["nbest"][0] if one["nbest"] else None for one in said]
            texts = [one["text"] if one else "" for one in best]
            if not self.labels:
                return texts, []
            return texts, [math.exp(one["score"]) if one else 0.0 for one in best]

        names = [metrics] if isinstance(metrics, str) else list(metrics)
        return evaluation(self._predictor, data, names or self._purpose["metrics"], outputs)

    def predict_json(
        self, lines: Union[str, Iterable[str]], **options: Unpack[DecodingOptions]
    ) -> Union[str, List[str]]:
        """Like predict(), with the same options, but each answer as JSON, as `heed predict --json` prints it.

        >>> sorted(json.loads(model.predict_json("12.3.", alignments=False)))[:3]
        ['finished', 'line', 'log_probability']

        Returns:
            An object for a str, otherwise a list of them: line, source, source_tokens, unknown, output, score,
            log_probability, finished, tokens, token_log_probabilities, alignment (unless alignments=False), outputs
            (with nbest above 1); or error.
        """
        texts = self._lines(lines)
        said = self._predictor.predict_json(texts, _options(own_names(options, "predict_json"), len(texts)))
        return said[0] if isinstance(lines, str) else said

    def score(self, pairs: Iterable[Tuple[str, str]], stride: Optional[int] = None) -> List[PairScore]:
        """The probability that the model gives to targets, as `heed score` prints it.

        >>> model.score([("12.3.", "03-12")])[0].log_probability < 0
        True

        Args:
            pairs: any number of (source, target), or a table of them, as for heed.train.
            stride: Transformers of running text: tokens from one window to the next, as for predict().

        Returns:
            A PairScore for each, in the same order. If a pair cannot be scored (an empty source), its `error` says why.

        Raises:
            TypeError: pairs that are not two str each.
        """
        asked = []
        found = table(pairs, "pairs")
        for i, pair in enumerate(found.rows if found else pairs):
            if isinstance(pair, (str, bytes)) or len(pair) != 2:
                raise TypeError(f"pairs[{i}]: expected a source and a target, got {pair!r}")
            asked.append((as_bytes(pair[0], f"pairs[{i}][0]"), as_bytes(pair[1], f"pairs[{i}][1]")))
        return [PairScore(**one) for one in self._predictor.score(asked, stride or 0)]

    def look(self, line: str, target: Optional[str] = None, **options: Unpack[DecodingOptions]) -> Looked:
        """What the model attends to while it answers a line, at every layer and head, as `heed look` shows it.

        >>> looked = model.look("12.3.")
        >>> looked.main.weights.shape[0], looked.main.keys[:2]           # heads; the tokens that are looked at
        (1, ['1', '2'])

        Args:
            line: the text.
            target: look at this output (default: what the model answers).
            options: those of predict() for the search.

        Raises:
            heed.Error, a ValueError: the line or the target cannot be used, or this is an ensemble.
        """
        given = _options(own_names(options, "look"), 1)
        text, wanted = as_bytes(line, "line"), None if target is None else as_bytes(target, "target")

        def found(page: bool) -> str:
            return self._predictor.look(text, wanted, given, os.fsencode(self.path), page)

        def draw(attention: str, head: int) -> str:
            return self._predictor.draw(text, wanted, given, attention, head)

        return looked(found(False), lambda: found(True), draw)

    def export(self, path: Union[str, "os.PathLike[str]"], precision: str = "stored") -> None:
        """Writes the model to one file, as `heed export` does; heed.load, the program and C++ read it. Weights that were
        changed through `parameters` are written as they are now.

        >>> model.export("days.heed")

        Args:
            path: the file. An existing model is replaced; any other file is not.
            precision: of the numbers in the file: "float32"; "float16" or "bfloat16", half as large; "int8", a quarter.
                "stored": as they are in the file that the model was loaded from.

        Raises:
            heed.Error, a ValueError: the file cannot be written, or is not a model.
        """
        if self._predictor.models > 1:
            raise Error("export: one file holds one model; this is an ensemble of several")
        self._predictor.export_to(os.fsencode(self.path), self._checkpoints[0], os.fsencode(path), precision)

    def _lines(self, lines: Union[str, Iterable[str]]) -> List[bytes]:
        """Line breaks inside are read as blanks, as in training, but where texts may have several lines."""
        if isinstance(lines, str):
            return [self._line(lines, "lines")]
        iterable = isinstance(lines, Iterable) or column_names(lines) is not None
        if isinstance(lines, (bytes, bytearray)) or not iterable:
            raise TypeError(f"lines: expected a str or an iterable of str, got {type(lines).__name__}")
        return [self._line(line, f"lines[{i}]") for i, line in enumerate(texts_of(lines, "lines"))]

    def _line(self, line: str, name: str) -> bytes:
        text = as_bytes(line, name)
        if self._purpose["continues_texts"] or not (b"\n" in text or b"\r" in text):
            return text
        return b" ".join(text.splitlines())

    @property
    def task(self) -> str:
        """The kind of task: seq2seq, classification, language_model, masked_language_model or image."""
        return self._predictor.task

    @property
    def kind(self) -> str:
        """rnn or transformer; both if encoder and decoder differ: "transformer-rnn"."""
        encoder, decoder = self._predictor.encoder, self._predictor.decoder
        return encoder if encoder == decoder else f"{encoder}-{decoder}"

    @property
    def parameter_count(self) -> int:
        """The number of parameters."""
        return self._predictor.parameter_count

    @property
    def parameters(self) -> ModelParameters:
        """The weights by name, to read and to write.

        >>> name = list(model.parameters)[0]
        >>> model.parameters[name] = 1.0 * model.parameters[name]

        Raises:
            heed.Error, a ValueError: this is an ensemble: load one of its models alone.
        """
        return ModelParameters(self._predictor)

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
    path: Union[Path, Sequence[Path]],
    checkpoint: str = "best",
    mean: str = "log_probabilities",
    precision: str = "stored",
) -> TrainedModel:
    """Loads a trained model, or an ensemble: several that write together.

    >>> model.export("days.heed")                                 # what heed.train returned, as one file
    >>> heed.load("days.heed").predict("12.3.").text == model.predict("12.3.").text
    True
    >>> heed.load(["days.heed", "days.heed"]).predict("12.3.").error is None           # an ensemble
    True

    Args:
        path: a training folder, one of its checkpoints, or a file from `heed export`; or a list of them. The models of
            an ensemble may be of any kind, but write the same tokens.
        checkpoint: which checkpoint of the folder: best, last, or a name such as step-000500.
        mean: of an ensemble: "log_probabilities" or "probabilities".
        precision: of the weights in memory: "float32"; "bfloat16" for half of it; "int8" for a quarter, and faster.
            "stored": as the file has them.

    Raises:
        FileNotFoundError: there is no such folder or file.
        heed.Error, a ValueError: there is no such checkpoint, it is damaged, or models write different tokens.
    """
    return TrainedModel(path, checkpoint, mean, precision)


def _folders(path: Union[Path, Sequence[Path]]) -> List[str]:
    several = isinstance(path, (list, tuple))
    each: Any
    folders = []
    for i, each in enumerate(path if isinstance(path, (list, tuple)) else [path]):
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
    return [as_bytes(phrase, f"{name}[{i}]") for i, phrase in enumerate(given)]


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
            options[name] = as_bytes(value, name)
        else:
            options[name] = _phrases(value, name)
    if own:
        options["line_rules"] = [
            (
                _phrases(own["must"][i], f"must[{i}]") if "must" in own else [],
                _phrases(own["must_not"][i], f"must_not[{i}]") if "must_not" in own else [],
                as_bytes(own["prefix"][i], f"prefix[{i}]") if "prefix" in own else b"",
            )
            for i in range(lines)
        ]
    reverse = options.get("rerank_reverse")
    if reverse is not None:
        if not isinstance(reverse, TrainedModel):
            raise TypeError(f"rerank_reverse: expected a model from heed.load, got {type(reverse).__name__}")
        options["rerank_reverse"] = reverse._predictor
    return options
