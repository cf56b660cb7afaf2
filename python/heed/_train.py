"""Training from Python: pairs in, a model out."""

from __future__ import annotations

import json
import os
import weakref
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, TextIO, Union

from . import _heed
from ._data import Columns, Files, Pairs, Path, columns_given, files_of, for_heed
from ._heed import Error
from ._progress import Event, progress_of
from ._trained import TrainedModel


def train(
    pairs: Optional[Pairs] = None,
    folder: Optional[Path] = None,
    *,
    texts: Optional[Iterable[str]] = None,
    labels: Optional[Iterable[Any]] = None,
    sources: Optional[Iterable[str]] = None,
    targets: Optional[Iterable[str]] = None,
    text: Optional[Path] = None,
    valid: Optional[Any] = None,
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
        judge = heed.train(texts=frame["review"], labels=frame["stars"])
        reader = heed.train(sources=written, targets=meant)
        writer = heed.train(text="story.txt")

    What kind of task the data is for is seen as `heed train` sees it, and told: pairs, texts with labels, lines that
    name pictures, running text. settings={"model.task": "seq2seq"} decides it instead.

    >>> pairs = [(f"{a} + {b}", str(a + b)) for a in range(10) for b in range(10)]
    >>> model = heed.train(pairs, settings={"model.width": 16, "stop.steps": 5}, progress=False)
    >>> model.predict("2 + 3").error is None
    True

    Args:
        pairs: (source, target) texts, or texts with labels, from anything that can be iterated over; dicts with such
            keys; the path of a file of them separated by tabs; two paths, of sources and targets; or a table (pandas,
            polars, pyarrow, datasets, a dict of columns) with two columns, or with columns named source and target, or
            text and label. None if the recipe names the data.
        texts, labels: instead of pairs, columns: lists, series, arrays, generators. Labels may be numbers, or several
            for each text. Line breaks and tabs in a text are read as blanks. texts alone are documents to go on with.
        sources, targets: the same for a model that turns each source into its target.
        text: instead of pairs, the path of a file of running text, to go on with: docs/language_models.md.
        folder: for checkpoints, log.jsonl and recipe.toml; None: a temporary folder that lives as long as the model.
        valid: what to validate on, in the same form: pairs; with texts and labels, or sources and targets, two columns;
            with texts alone, texts; with text, a path. None: a tenth is held out.
        recipe: a TOML file, as for `heed train`.
        settings: other values for keys of the recipe, as {"model.width": 256}; `heed train x.toml --show` lists all.
        from_model: start from the weights of a trained model: a path, or what heed.train or heed.load returned.
        resume: continue from the newest good checkpoint of the folder.
        progress: True shows a bar in a notebook, and prints to standard error elsewhere (a line that moves on a
            terminal, otherwise a line per validation); a file prints there; False prints nothing.
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
    columns = columns_given(texts, labels, sources, targets)
    if recipe is None and pairs is None and text is None and columns is None:
        raise Error("train: there is no data: pairs, texts, sources, text, or a recipe that names them")
    given = {"pairs": pairs, "text": text, "texts": texts, "sources": sources}
    if len(named := [name for name, data in given.items() if data is not None]) > 1:
        raise Error(f"train: {' and '.join(named)} cannot be combined")
    if text is not None:
        data = Files([os.fspath(text)], {"model.task": "language_model"}, sure=True)
    else:
        data = files_of(pairs if columns is None else columns, path, "pairs")
    held_out = files_of(_as_columns(valid, columns), path, "valid pairs")
    if reward is not None:
        changed.setdefault("train.reward", "own")
    start = from_model.path if isinstance(from_model, TrainedModel) else from_model
    if isinstance(from_model, TrainedModel) and from_model._predictor.written:  # pylint: disable=protected-access
        raise Error("from_model: its parameters were changed here: model.export() writes them to a file to start from")
    shown = progress_of(progress)
    tell = teller(shown, callback)
    take_seen(data, changed, tell, guess=start is None and recipe is None and not resume)
    try:
        _heed.train(
            for_heed(data, held_out, recipe),
            [setting(key, value) for key, value in changed.items()],
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
        weakref.finalize(model, keep.cleanup)
    return model


def _as_columns(valid: Any, like: Optional[Columns]) -> Any:
    """Validation data in the form of the training data."""
    if like is None or valid is None or isinstance(valid, (str, os.PathLike)):
        return valid
    if like.second is None:
        return like._replace(first=valid)
    if isinstance(valid, tuple) and len(valid) == 2:
        return like._replace(first=valid[0], second=valid[1])
    return valid


def setting(key: str, value: Any) -> bytes:
    """As --set takes it: TOML writes what JSON writes, for texts, numbers, switches and lists."""
    if not isinstance(key, str):
        raise TypeError(f"settings: expected keys such as 'model.width', got {key!r}")
    if hasattr(value, "item") and not getattr(value, "shape", None):  # a number of NumPy
        value = value.item()
    try:
        return f"{key}={json.dumps(os.fspath(value) if isinstance(value, os.PathLike) else value)}".encode()
    except (TypeError, ValueError):
        raise TypeError(f"settings[{key!r}]: expected a text, a number, True, False or a list, got {value!r}") from None


def teller(shown: Any, callback: Optional[Callable[[Event], Optional[bool]]]) -> Callable[[str], Optional[bool]]:
    """Passes every event, a line of JSON, to what shows it and to the user's function."""

    def tell(line: str) -> Optional[bool]:
        event = json.loads(line)
        if shown:
            shown.tell(event)
        return callback(event) if callback else None

    return tell


def take_seen(data: Files, settings: Dict[str, Any], tell: Callable[[str], Optional[bool]], guess: bool) -> None:
    """What the form of the data says about the recipe is used, unless the settings say it, and told. `guess`: also what
    only follows from the names of columns."""
    if not (data.sure or guess):
        return
    if data.seen and "model.task" not in settings:
        tell(json.dumps({"event": "seen", "step": 0, "text": data.seen}))
    for key, value in data.settings.items():
        settings.setdefault(key, value)
