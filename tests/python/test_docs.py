"""Every block of Python in docs/python.md runs, in order, and so does every example."""

import importlib.util
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DOCUMENT = ROOT / "docs" / "python.md"
BLOCK = re.compile(r"^```python([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_document(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # for what a block writes
    text = DOCUMENT.read_text(encoding="utf-8")
    blocks = list(BLOCK.finditer(text))
    assert len(blocks) >= 8
    names = {}
    for block in blocks:
        if "torch" in block[1] and importlib.util.find_spec("torch") is None:
            continue
        if "model" in block[1]:  # a training that is called en-de
            if folder is None:
                continue
            monkeypatch.chdir(folder.parent)
        lines = "\n" * text.count("\n", 0, block.start(2))  # so that a traceback tells the line of the document
        exec(compile(lines + block[2], str(DOCUMENT), "exec"), names)


EXAMPLES = sorted((ROOT / "examples" / "python").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=[e.stem for e in EXAMPLES])
def test_the_examples(example):
    done = subprocess.run([sys.executable, str(example)], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout
