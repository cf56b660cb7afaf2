"""Type checkers are content with heed and with its examples. mypy comes from PyPI: make test-python-peers."""

import importlib.util
import os
import pathlib
import subprocess
import sys

import pytest

import heed

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PACKAGE = pathlib.Path(heed.__file__).parent

USE = """
from typing import List
import heed
import numpy as np

model = heed.load("en-de")
text: str = model.predict("A dog runs.", beam=5).text
texts: List[str] = [found.text for found in model.predict(["A dog runs."], nbest=3)]
accuracy: float = model.evaluate(texts=["a"], labels=[1])["accuracy"]
probabilities: np.ndarray = heed.Classifier(width=16).fit(["a", "b"], [0, 1]).predict_proba(["a"])
"""
WRONG = 'import heed\nheed.load("en-de").predict("A dog", baem=5)\nheed.load(5)\nheed.Classifier(widht=3)\n'


def mypy(tmp_path, *files):
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("mypy is not installed: make test-python-peers installs it and runs this")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", ROOT / "pyproject.toml", "--cache-dir", tmp_path / "cache", *files],
        env={**os.environ, "MYPYPATH": str(PACKAGE.parent)}, capture_output=True, text=True, check=False, cwd=tmp_path,
    )
    return done.stdout + done.stderr


def test_heed_and_its_examples(tmp_path):
    said = mypy(tmp_path, "-p", "heed")
    assert "Success: no issues found" in said, said
    said = mypy(tmp_path, *sorted((ROOT / "examples" / "python").glob("*.py")))
    assert "Success: no issues found" in said, said


def test_what_a_user_writes(tmp_path):
    (tmp_path / "use.py").write_text(USE)
    said = mypy(tmp_path, "--strict", tmp_path / "use.py")
    assert "Success: no issues found" in said, said
    (tmp_path / "wrong.py").write_text(WRONG)
    said = mypy(tmp_path, tmp_path / "wrong.py")
    assert all(f"wrong.py:{line}: error" in said for line in (2, 3, 4)) and "baem" in said and "widht" in said, said
