"""Comparing from Python: the same model with several attentions, or several values of any key."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, TextIO, Union

from . import _heed
from ._heed import Error
from ._data import Files, Pairs, Path, files_of, for_heed
from ._plot import html_table
from ._progress import Event, Progress, progress_of
from ._train import setting, take_seen, teller
from ._trained import TrainedModel, load


@dataclass(frozen=True)
class Variant:
    """A row of a comparison.

    Attributes:
        name: "additive", "model.width=64".
        settings: what differs from the recipe, as --set takes it.
        rank: 1 is the best; None without a value.
        reason: why there is no value (refused, failed); empty if there is one, or it is still to come.
        means: over the seeds, of value (the metric), loss, parameters, training_speed, decoding_speed,
            training_memory, entropy, monotonicity, updates and seconds.
        spreads: their standard deviations; None with one seed.
        p: how likely such a difference from the best is by chance, corrected for the number of rows; None for the best.
        runs: of each seed, as in compare.json.
        folder: with a training folder for each of them.

    >>> found = heed.compare("dates", "widths", over={"model.width": [8, 16]}, settings={"stop.steps": 3}, progress=False)
    >>> found.best.model().task == found.variants[0].model(seed=1).task
    True
    """

    name: str
    settings: List[str]
    rank: Optional[int]
    reason: str
    means: Dict[str, Optional[float]]
    spreads: Dict[str, Optional[float]]
    p: Optional[float]
    runs: List[Dict[str, Any]] = field(repr=False)
    folder: str = field(repr=False)

    @property
    def value(self) -> Optional[float]:
        """The metric, the mean of the seeds."""
        return self.means["value"]

    def model(self, seed: Optional[int] = None) -> TrainedModel:
        """The trained model of a seed; None: of the first."""
        seeds = [run["seed"] for run in self.runs]
        if not seeds:
            raise Error(f"compare: {self.name} was not trained{': ' + self.reason if self.reason else ''}")
        return load(os.path.join(self.folder, f"seed-{seeds[0] if seed is None else seed}"))


@dataclass(frozen=True)
class Compared:
    """The result of a comparison. str() of it is the table, as Markdown; compared["dot"] is a row by its name.

    Attributes:
        folder: with compare.html, compare.md, compare.csv and compare.json, and the training of every run.
        metric: what is compared.
        higher_is_better: or lower is.
        finished: False if a callback stopped it; resume=True continues.
        variants: the rows, the best first, those without a value last.
    """

    folder: str
    metric: str
    higher_is_better: bool
    finished: bool
    variants: List[Variant] = field(repr=False)

    @property
    def best(self) -> Variant:
        """The first row."""
        return self.variants[0]

    def __getitem__(self, name: str) -> Variant:
        for variant in self.variants:
            if variant.name == name:
                return variant
        raise KeyError(f"{name!r} is not one of {[variant.name for variant in self.variants]}")

    def __str__(self) -> str:
        with open(os.path.join(self.folder, "compare.md"), encoding="utf-8") as file:
            return file.read()

    def _repr_html_(self) -> str:
        """For notebooks: the table."""
        rows = [(v.rank or "", v.name, v.reason if v.value is None else f"{v.value:.2f}") for v in self.variants]
        return html_table(("", "variant", self.metric), rows)


def compare(
    data: Optional[Pairs] = None,
    folder: Optional[Path] = None,
    *,
    attention: Sequence[str] = (),
    over: Optional[Mapping[str, Sequence[Any]]] = None,
    seeds: int = 1,
    minutes: Optional[float] = None,
    same: str = "updates",
    valid: Optional[Pairs] = None,
    recipe: Optional[Path] = None,
    settings: Optional[Mapping[str, Any]] = None,
    resume: bool = False,
    progress: Union[bool, TextIO] = True,
    callback: Optional[Callable[[Event], Optional[bool]]] = None,
) -> Compared:
    """Trains the same model several times, as `heed compare` does, and puts the results side by side: docs/compare.md.

        found = heed.compare("dates", "out", attention=["additive", "dot", "additive+sparsemax"], seeds=3)
        found = heed.compare("pairs.tsv", "out", over={"model.width": [64, 128]}, minutes=1)
        print(found, found.best.name, found["dot"].value)

    >>> found = heed.compare("dates", "scores", attention=["additive", "dot"], settings={"stop.steps": 3}, progress=False)
    >>> sorted(variant.name for variant in found.variants), found["dot"].model().predict("1 May 2000").error is None
    (['additive', 'dot'], True)

    Args:
        data: the name of a built-in task; or pairs in any form that heed.train takes. None if the recipe names them.
        folder: for compare.html, .md, .csv and .json and the training of every run; None: compare-DATA. Pairs that are
            given as texts are written to FOLDER-data.
        attention: mechanisms by name, parts joined by +. Empty, and `over` too: the whole catalogue.
        over: keys of the recipe with the values to compare; several keys give every combination.
        seeds: runs of each variant.
        minutes: training time of the recipe as it is; None: [stop] of the recipe.
        same: what every run gets the same of, where the time is limited: "updates", as many as the recipe as it is makes
            in that time; or "time".
        valid, recipe, settings: as for heed.train; the settings are those of all variants.
        resume: continue the comparison in the folder; without data and recipe, as it is. Variants may be added.
        progress: True prints a line per run to standard error; a file prints there; False prints nothing.
        callback: called with every event: "run" (variant, seed, run, runs) when one begins, those of heed.train, and
            "result" (variant, seed, metric, value, ...) when it ends. If it returns False, the comparison stops after
            the current update.

    Raises:
        heed.Error, a ValueError: names, data or settings that cannot be used.
        KeyboardInterrupt: Ctrl-C. What is done was saved; resume=True continues.
    """
    task = data if isinstance(data, str) and data in _heed.built_in_tasks() and not os.path.exists(data) else ""
    if same not in ("updates", "time"):
        raise Error(f"compare: same must be 'updates' or 'time', not {same!r}")
    path = _folder(data, recipe, folder)
    changed = dict(settings or {})
    files = files_of(None if task else data, path + "-data", "pairs")
    held_out = files_of(valid, path + "-data", "valid pairs")
    if task and held_out.names:
        keys = ["data.valid_tsv"] if len(held_out.names) == 1 else ["data.valid_source", "data.valid_target"]
        changed.update(zip(keys, held_out.names))
    if minutes is not None:
        changed["stop.minutes"] = minutes
    if not task and data is None and recipe is None:
        if not resume:
            raise Error("compare: there is no data: a built-in task, pairs, or a recipe that names them")
        if changed or held_out.names or attention or over or seeds != 1:
            raise Error("compare: without data and recipe, resume continues what the folder holds; leave the rest out")
    bar = progress_of(progress)
    shown = _RunLines(bar) if bar else None
    tell = teller(shown, callback)
    take_seen(files, changed, tell, guess=recipe is None)
    try:
        stopped = _heed.compare(
            task.encode(),
            for_heed(files, Files([]) if task else held_out, recipe),
            [setting(key, value) for key, value in changed.items()],
            [_name(name) for name in ([attention] if isinstance(attention, str) else attention)],
            [_values(key, values) for key, values in (over or {}).items()],
            seeds,
            os.fsencode(path),
            resume,
            same == "time",
            tell,
        )
    finally:
        if shown:
            shown.end()
    return _read(path, not stopped)


def _folder(data: Optional[Pairs], recipe: Optional[Path], folder: Optional[Path]) -> str:
    if folder is not None:
        return os.fspath(folder)
    named = recipe if recipe is not None else data
    if not isinstance(named, (str, os.PathLike)):
        raise Error("compare: a folder is needed, for the results and the training of every run")
    return "compare-" + os.path.basename(os.fspath(named)).split(".")[0]


def _name(name: str) -> bytes:
    if not isinstance(name, str):
        raise TypeError(f"attention: expected names such as 'additive', got {name!r}")
    return name.encode()


def _values(key: str, values: Sequence[Any]) -> bytes:
    """As --over takes it."""
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        raise TypeError(f"over[{key!r}]: expected a list of values, got {values!r}")
    return (key + "=" + ",".join(v if isinstance(v, str) else json.dumps(v) for v in values)).encode()


def _read(folder: str, finished: bool) -> Compared:
    with open(os.path.join(folder, "compare.json"), encoding="utf-8") as file:
        found = json.load(file)

    def numbers(means: Dict[str, Any], part: str) -> Dict[str, Optional[float]]:
        return {key: mean[part] if mean else None for key, mean in means.items()}

    return Compared(
        folder=folder,
        metric=found["metric"],
        higher_is_better=found["higher_is_better"],
        finished=finished,
        variants=[
            Variant(
                name=row["name"],
                settings=row["settings"],
                rank=row["rank"],
                reason=row["reason"],
                means=numbers(row["means"], "mean"),
                spreads=numbers(row["means"], "spread"),
                p=row["adjusted_p"],
                runs=row["runs"],
                folder=os.path.join(folder, row["folder"]),
            )
            for row in found["variants"]
        ],
    )


class _RunLines:
    """Tells a person how a comparison goes: a line per run, and the bar of the current one."""

    def __init__(self, bar: Progress) -> None:
        self._bar = bar
        self._warned: set = set()

    def tell(self, event: Event) -> None:
        kind = event["event"]
        if kind in ("step", "seen"):
            self._bar.tell(event)
        elif kind == "warning" and event["text"] not in self._warned:  # every run reads the same data
            self._warned.add(event["text"])
            self._bar.tell(event)
        elif kind == "result":
            how = f"failed: {event['error']}" if event["error"] else f"{event['metric']} {event['value']:.2f}"
            self._bar.say(f"{event['run']} of {event['runs']}  {event['variant']}, seed {event['seed']}: {how}")

    def end(self) -> None:
        self._bar.end()
