"""Training from Python: pairs in, a model out."""

from __future__ import annotations

import json
import os
import sys
import weakref
from typing import Any, Callable, Dict, List, Mapping, Optional, TextIO, Union

from . import _heed
from ._data import Files, Pairs, Path, files_of, for_heed
from ._heed import Error
from ._trained import TrainedModel

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
        judge = heed.train(zip(reviews, stars))
        writer = heed.train(text="story.txt")

    What kind of task the data is for is seen as `heed train` sees it, and told: pairs, texts with labels, lines that
    name pictures, running text. settings={"model.task": "seq2seq"} decides it instead.

    Args:
        pairs: (source, target) texts, or texts with labels; or the path of a file of them separated by tabs; or two
            paths, of sources and targets; or a table (pandas, polars, pyarrow, a dict of columns) with two columns, or
            with columns named source and target, or text and label. None if the recipe names the data.
        text: instead of pairs, the path of a file of running text, to go on with: docs/language_models.md.
        folder: for checkpoints, log.jsonl and recipe.toml; None: a temporary folder that lives as long as the model.
        valid: pairs to validate on, in any of the same forms (with text: a path); None: a tenth is held out.
        recipe: a TOML file, as for `heed train`.
        settings: other values for keys of the recipe, as {"model.width": 256}; `heed train x.toml --show` lists all.
        from_model: start from the weights of a trained model: a path, or what heed.train or heed.load returned.
        resume: continue from the newest good checkpoint of the folder.
        progress: True prints to standard error (a line that moves on a terminal, a line per validation elsewhere);
            a file prints there; False prints nothing.
        callback: called with every event, a dict like a line of log.jsonl: event ("seen", "chosen", "started", "step",
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
        changed["model.task"] = "language_model"
        data = Files([os.fspath(text)])
    else:
        data = files_of(pairs, path, "pairs")
    held_out = files_of(valid, path, "valid pairs")
    if reward is not None:
        changed.setdefault("train.reward", "own")
    start = from_model.path if isinstance(from_model, TrainedModel) else from_model
    if isinstance(from_model, TrainedModel) and from_model._predictor.written:  # pylint: disable=protected-access
        raise Error("from_model: its parameters were changed here: model.export() writes them to a file to start from")
    shown = _Progress(sys.stderr if progress is True else progress) if progress else None
    tell = _teller(shown, callback)
    if start is None and recipe is None and not resume:
        say_seen(data, changed, tell)
    try:
        _heed.train(
            for_heed(data, held_out, recipe),
            [_setting(key, value) for key, value in changed.items()],
            os.fsencode(path),
            os.fsencode(start) if start is not None else b"",
            resume,
            tell,
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


def _teller(shown: Any, callback: Optional[Callable[[Event], Optional[bool]]]) -> Callable[[str], Optional[bool]]:
    """Passes every event, a line of JSON, to what shows it and to the user's function."""

    def tell(line: str) -> Optional[bool]:
        event = json.loads(line)
        if shown:
            shown.tell(event)
        return callback(event) if callback else None

    return tell


def say_seen(data: Files, settings: Dict[str, Any], tell: Callable[[str], Optional[bool]]) -> None:
    """What the names of a table's columns say about its task is used, and told, unless the task is given."""
    if data.seen and "model.task" not in settings:
        settings["model.task"] = "classification"
        tell(json.dumps({"event": "seen", "step": 0, "text": data.seen}))


class _Progress:
    """Tells a person how a training goes."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._moves = file.isatty()
        self._bar = False
        self._prediction = "token"

    def tell(self, event: Event) -> None:
        kind = event["event"]
        if kind == "seen":
            self._say(event["text"])
        elif kind == "chosen":
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
