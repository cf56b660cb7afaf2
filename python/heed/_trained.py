"""Trained models: text in, text out."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING, Any, Iterable, List, Mapping, Optional, Sequence, Tuple, Union, overload

from . import _heed
from ._decoding import documented, own_names
from ._heed import Error
from ._look import Looked, looked
from ._prediction import PairScore, Prediction, prediction
from ._tables import column_names, table
from ._weights import ModelParameters

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._decoding_options import DecodingOptions

Path = Union[str, "os.PathLike[str]"]


class TrainedModel:
    """A trained model, or several that write together, from heed.load. Any number of threads may use it at once; one that
    writes to its `parameters` waits for the others.

    Attributes:
        path: the folder or file that it was loaded from; of an ensemble, that of its first model.
    """

    def __init__(
        self,
        path: Union[Path, Sequence[Path]],
        checkpoint: str = "best",
        mean: str = "log_probabilities",
        precision: str = "float32",
    ) -> None:
        """See heed.load."""
        folders = _folders(path)
        for name, word in (("checkpoint", checkpoint), ("mean", mean), ("precision", precision)):
            if not isinstance(word, str):
                raise TypeError(f"{name}: expected a str, got {type(word).__name__}")
        self._predictor = _heed.Predictor([os.fsencode(folder) for folder in folders], checkpoint, mean, precision)
        self.path = folders[0]
        self._checkpoint = checkpoint

    @overload
    def predict(self, lines: str, **options: Unpack[DecodingOptions]) -> Prediction: ...

    @overload
    def predict(self, lines: Iterable[str], **options: Unpack[DecodingOptions]) -> List[Prediction]: ...

    @documented
    def predict(self, lines: Union[str, Iterable[str]], **options: Any) -> Union[Prediction, List[Prediction]]:
        """Outputs for lines of text. Options and outputs are those of `heed predict`.

        Args:
            lines: a str, or several, such as an open file; line ends are ignored. Passing many at once is faster than
                one after the other, and gives the same outputs.
            options: see below.

        Returns:
            A Prediction for a str, otherwise a list of them in the order of the lines. If a line cannot be used (too
            long for the model), its `error` says why, and the others are answered.

        Raises:
            heed.Error, a ValueError: invalid options, or a line with a lone surrogate, which is not text.
            TypeError: lines that are not str, or an option that does not exist.
        """
        texts = _lines(lines)
        given = _options(own_names(options, "predict"), len(texts))
        found = [prediction(one) for one in self._predictor.predict(texts, given)]
        return found[0] if isinstance(lines, str) else found

    def predict_json(
        self, lines: Union[str, Iterable[str]], **options: Unpack[DecodingOptions]
    ) -> Union[str, List[str]]:
        """Like predict(), with the same options, but each answer as JSON, as `heed predict --json` prints it.

        Returns:
            An object for a str, otherwise a list of them: line, source, source_tokens, unknown, output, score,
            log_probability, finished, tokens, token_log_probabilities, alignment (unless alignments=False), outputs
            (with nbest above 1); or error.
        """
        texts = _lines(lines)
        said = self._predictor.predict_json(texts, _options(own_names(options, "predict_json"), len(texts)))
        return said[0] if isinstance(lines, str) else said

    def score(self, pairs: Iterable[Tuple[str, str]], stride: Optional[int] = None) -> List[PairScore]:
        """The probability that the model gives to targets, as `heed score` prints it.

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
            asked.append((_bytes(pair[0], f"pairs[{i}][0]"), _bytes(pair[1], f"pairs[{i}][1]")))
        return [PairScore(**one) for one in self._predictor.score(asked, stride or 0)]

    def look(self, line: str, target: Optional[str] = None, **options: Unpack[DecodingOptions]) -> Looked:
        """What the model attends to while it answers a line, at every layer and head, as `heed look` shows it.

        Args:
            line: the text.
            target: look at this output (default: what the model answers).
            options: those of predict() for the search.

        Raises:
            heed.Error, a ValueError: the line or the target cannot be used, or this is an ensemble.
        """
        given = _options(own_names(options, "look"), 1)
        text, wanted = _bytes(line, "line"), None if target is None else _bytes(target, "target")

        def found(page: bool) -> str:
            return self._predictor.look(text, wanted, given, os.fsencode(self.path), page)

        def draw(attention: str, head: int) -> str:
            return self._predictor.draw(text, wanted, given, attention, head)

        return looked(found(False), lambda: found(True), draw)

    def export(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the model to one file, as `heed export` does; heed.load, the program and C++ read it. Weights that were
        changed through `parameters` are written as they are now.

        Args:
            path: the file. An existing model is replaced; any other file is not.

        Raises:
            heed.Error, a ValueError: the file cannot be written, or is not a model.
        """
        if self._predictor.models > 1:
            raise Error("export: one file holds one model; this is an ensemble of several")
        self._predictor.export_to(os.fsencode(self.path), self._checkpoint, os.fsencode(path))

    @property
    def task(self) -> str:
        """The kind of task: seq2seq, classification, language_model or image."""
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

            bias = model.parameters["output.bias"]
            model.parameters["output.bias"] = bias + 1

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
    precision: str = "float32",
) -> TrainedModel:
    """Loads a trained model, or an ensemble: several that write together.

    Args:
        path: a training folder, one of its checkpoints, or a file from `heed export`; or a list of them. The models of
            an ensemble may be of any kind, but write the same tokens.
        checkpoint: which checkpoint of the folder: best, last, or a name such as step-000500.
        mean: of an ensemble: "log_probabilities" or "probabilities".
        precision: of the weights in memory: "float32", or "bfloat16" for half of it.

    Raises:
        FileNotFoundError: there is no such folder or file.
        heed.Error, a ValueError: there is no such checkpoint, it is damaged, or models write different tokens.
    """
    return TrainedModel(path, checkpoint, mean, precision)


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
    names = column_names(lines)
    if names is not None:
        raise TypeError(f"lines: expected texts, got a table with the columns {names}: pass one of them")
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
