"""Training from Python: pairs in, a model out."""

from __future__ import annotations

import json
import os
import sys
import weakref
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, TextIO, Tuple, Union

from . import _heed
from ._heed import Error
from ._trained import TrainedModel, _bytes

Path = Union[str, "os.PathLike[str]"]
Pairs = Union[Path, Tuple[Path, Path], Iterable[Tuple[str, str]]]
Event = Dict[str, Any]


def train(
    pairs: Optional[Pairs] = None,
    folder: Optional[Path] = None,
    *,
    text: Optional[Path] = None,
    valid: Optional[Pairs] = None,
    recipe: Optional[Path] = None,
    settings: Optional[Mapping[str, Any]] = None,
    from_model: Optional[Union[Path, TrainedModel]] = None,
    resume: bool = False,
    progress: Union[bool, TextIO] = True,
    callback: Optional[Callable[[Event], Optional[bool]]] = None,
    reward: Optional[Callable[[str, str, List[str]], float]] = None,
) -> TrainedModel:
    """Trains a model, as `heed train` does, and returns it as heed.load would.

    Whatever is not given (tokens, model, batch size, learning rate, epochs, metric) is chosen to fit the data.

        model = heed.train([("12 Sept 84", "1984-09-12"), ...])
        model = heed.train("pairs.tsv", "dates", settings={"model.kind": "transformer", "stop.minutes": 5})
        better = heed.train(new_pairs, from_model=model)
        writer = heed.train(text="story.txt")

    Args:
        pairs: (source, target) texts; or the path of a file of them separated by tabs; or two paths, of sources and
            targets. None if the recipe names the data.
        text: instead of pairs, the path of a file of running text, to go on with: docs/language_models.md.
        folder: for checkpoints, log.jsonl and recipe.toml; None: a temporary folder that lives as long as the model.
        valid: pairs to validate on, in any of the same forms (with text: a path); None: a tenth is held out.
        recipe: a TOML file, as for `heed train`.
        settings: other values for keys of the recipe, as {"model.width": 256}; `heed train x.toml --show` lists all.
        from_model: start from the weights of a trained model: a path, or what heed.train or heed.load returned.
        resume: continue from the newest good checkpoint of the folder.
        progress: True prints to standard error (a line that moves on a terminal, a line per validation elsewhere);
            a file prints there; False prints nothing.
        callback: called with every event, a dict like a line of log.jsonl: event ("chosen", "started", "step",
            "validated", "saved", "warning", "skipped", "finished"), step, loss, ... . If it returns False, training
            stops after the current update.
        reward: what an output is worth, for the objectives "reinforce" and "minimum_risk" (docs/training.md): called
            with the source, the output and all right outputs of the source; higher is better. It sets
            train.reward = "own".

    Returns:
        The best model, loaded. `model.export("model.heed")` writes it to one file.

    Raises:
        heed.Error, a ValueError: data or settings that cannot be used. The message says what and where.
        KeyboardInterrupt: Ctrl-C. The training was saved; resume=True continues it.
    """
    keep = None
    if folder is None:
        if resume:
            raise Error("train: resume needs the folder of the training")
        import tempfile  # loads compression libraries that `import heed` can do without

        keep = tempfile.TemporaryDirectory(prefix="heed-")  # pylint: disable=consider-using-with
        folder = keep.name
    path = os.fspath(folder)
    changed = dict(settings or {})
    if recipe is None and pairs is None and text is None:
        raise Error("train: there is no data: pairs, text, or a recipe that names them")
    if text is not None:
        if pairs is not None:
            raise Error("train: pairs and text cannot be combined")
        changed.update({"model.task": "next_token", "data.text": os.fspath(text)})
        if valid is not None:
            changed["data.valid_text"] = os.fspath(valid)  # type: ignore[arg-type]
    else:
        changed.update(_files(pairs, path, "", resume))
        changed.update(_files(valid, path, "valid_", resume))
    if reward is not None:
        changed.setdefault("train.reward", "own")
    start = from_model.path if isinstance(from_model, TrainedModel) else from_model
    shown = _Progress(sys.stderr if progress is True else progress) if progress else None
    try:
        _heed.train(
            os.fsencode(recipe) if recipe is not None else b"",
            [_setting(key, value) for key, value in changed.items()],
            os.fsencode(path),
            os.fsencode(start) if start is not None else b"",
            resume,
            _teller(shown, callback),
            reward,
        )
    finally:
        if shown:
            shown.end()
    model = TrainedModel(path)
    if keep:
        model._finalizer = weakref.finalize(model, keep.cleanup)  # pylint: disable=protected-access
    return model


def _setting(key: str, value: Any) -> bytes:
    """As --set takes it: TOML writes what JSON writes, for texts, numbers, switches and lists."""
    if not isinstance(key, str):
        raise TypeError(f"settings: expected keys such as 'model.width', got {key!r}")
    try:
        return f"{key}={json.dumps(os.fspath(value) if isinstance(value, os.PathLike) else value)}".encode()
    except (TypeError, ValueError):
        raise TypeError(f"settings[{key!r}]: expected a text, a number, True, False or a list, got {value!r}") from None


def _files(pairs: Optional[Pairs], folder: str, prefix: str, resume: bool) -> Dict[str, str]:
    """The settings that name the data. Texts become a file in the folder, so that a resumed training finds them."""
    if pairs is None:
        return {}
    if isinstance(pairs, (str, os.PathLike)):
        return {f"data.{prefix}tsv": os.fspath(pairs)}
    texts = list(pairs)
    if len(texts) == 2 and all(isinstance(each, (str, os.PathLike)) for each in texts):
        return {f"data.{prefix}source": os.fspath(texts[0]), f"data.{prefix}target": os.fspath(texts[1])}
    name = prefix + "pairs"
    lines = b"".join(_line(pair, f"{name.replace('_', ' ')}[{i}]") for i, pair in enumerate(texts))
    if not lines:
        raise Error(f"{name.replace('_', ' ')}: expected some, got none")
    path = os.path.join(folder, f"{name}.tsv")
    try:
        os.makedirs(folder, exist_ok=True)
        if not (resume and _holds(path, lines)):
            with open(path, "wb") as file:
                file.write(lines)
    except OSError as error:
        raise Error(f"train: '{path}' cannot be written: {error.strerror}") from error
    return {f"data.{prefix}tsv": path}


def _holds(path: str, content: bytes) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read() == content
    except FileNotFoundError:
        return False


def _line(pair: Tuple[str, str], name: str) -> bytes:
    if isinstance(pair, (str, bytes)) or len(pair) != 2:
        raise TypeError(f"{name}: expected a source and a target, got {pair!r}")
    for side, text in zip(("source", "target"), pair):
        if isinstance(text, str) and any(c in text for c in "\t\n\r"):
            raise Error(f"{name}: the {side} holds a tab or a line break, and a text is one line: {text!r}")
    return b"\t".join(_bytes(text, f"{name}[{i}]") for i, text in enumerate(pair)) + b"\n"


def _teller(shown: Any, callback: Optional[Callable[[Event], Optional[bool]]]) -> Callable[[str], Optional[bool]]:
    """Passes every event, a line of JSON, to what shows it and to the user's function."""

    def tell(line: str) -> Optional[bool]:
        event = json.loads(line)
        if shown:
            shown.tell(event)
        return callback(event) if callback else None

    return tell


class _Progress:
    """Tells a person how a training goes."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._moves = file.isatty()
        self._bar = False
        self._prediction = "token"

    def tell(self, event: Event) -> None:
        kind = event["event"]
        if kind == "chosen":
            self._say("chosen to fit the data: " + ", ".join(f"{k} = {v}" for k, v in event["settings"].items()))
        elif kind == "started":
            self._prediction = event["prediction"]
            self._say(
                f"{event['examples']:,} {event['example']}s to learn from, {event['valid_examples']:,} to validate on; "
                f"{event['model']} with {event['parameters']:,} parameters"
            )
        elif kind == "warning":
            self._say("warning: " + event["text"].rstrip())
        elif kind == "skipped":
            self._say(f"update {event['step']} was skipped: {event['why']}")
        elif kind == "validated":
            right = f"  right {100 * event['exact']:.2f} %" if "exact" in event else ""
            best = "  best so far" if event["best"] else ""
            self._say(f"update {event['step']:,}  loss {event['nll']:.4f}{right}{best}")
        elif kind == "step" and self._moves:
            left = f"  {_duration(event['seconds_left'])} left" if event["seconds_left"] >= 0 else ""
            worth = f"  reward {event['reward']:.3f}" if "reward" in event else ""
            self._file.write(
                f"\r{100 * event['share']:3.0f} %{left}  loss {event['nll']:.3f}{worth}  "
                f"{event['tokens_per_second']:,.0f} {self._prediction}s/s\033[K"
            )
            self._file.flush()
            self._bar = True
        elif kind == "finished":
            self._say(f"finished after {event['step']:,} updates and {_duration(event['seconds'])}")

    def end(self) -> None:
        if self._bar:
            self._file.write("\r\033[K")
            self._file.flush()
            self._bar = False

    def _say(self, line: str) -> None:
        self.end()
        print(line, file=self._file, flush=True)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}" if minutes >= 60 else f"{minutes}:{rest:02}"
