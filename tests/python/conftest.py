"""Models for the tests, trained by the program heed as those of tests/cli are."""

import os
import pathlib
import sys

import pytest

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
import default_signals  # noqa: E402,F401 pylint: disable=unused-import,wrong-import-position

# Enough to say something, and little enough to be unsure.
SETTINGS = ("stop.steps=150", "train.learning_rate=0.02", "validate.every=50")


@pytest.fixture(name="folder", scope="session")
def trained_folder(tmp_path_factory):
    """A training that is called en-de, as in the documents; None where the program was not built."""
    if "HEED" not in os.environ:
        return None
    from heed_program import train_small

    return train_small(tmp_path_factory.mktemp("models") / "en-de", *SETTINGS)
