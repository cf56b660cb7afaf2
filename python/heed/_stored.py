"""Trained models as bytes: what pickle and copy take, and what works on another machine."""

from __future__ import annotations

import os
import tempfile
import weakref
from typing import Any, List, Sequence, Tuple

from . import _heed
from ._heed import Error


def bytes_of(predictor: _heed.Predictor, folders: Sequence[str], checkpoints: Sequence[str]) -> Tuple[bytes, ...]:
    """Each model as one file: the one that was loaded even where training went on, with weights that were changed here."""
    found: List[bytes] = []
    with tempfile.TemporaryDirectory(prefix="heed-") as work:
        path = os.path.join(work, "model.heed")
        for folder, checkpoint in zip(folders, checkpoints):
            try:
                if os.path.isfile(folder) and not predictor.written:
                    with open(folder, "rb") as file:
                        found.append(file.read())
                    continue
                predictor.export_to(os.fsencode(folder), checkpoint, os.fsencode(path), "stored")
            except (Error, OSError) as error:
                raise Error(f"the model of '{folder}' cannot be copied, since its files are gone: {error}") from error
            with open(path, "rb") as file:
                found.append(file.read())
    return tuple(found)


def restored(kind: Any, models: Tuple[bytes, ...], mean: str, precision: str) -> Any:
    """The reverse: a model, or an ensemble."""
    work = tempfile.TemporaryDirectory(prefix="heed-")  # pylint: disable=consider-using-with
    paths = []
    for i, content in enumerate(models, 1):
        path = os.path.join(work.name, f"model-{i}.heed" if len(models) > 1 else "model.heed")
        with open(path, "wb") as file:
            file.write(content)
        paths.append(path)
    model = kind(paths, "best", mean, precision)
    weakref.finalize(model, work.cleanup)
    return model
