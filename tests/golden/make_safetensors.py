#!/usr/bin/env python3
"""Writes tests/golden/small.safetensors with the safetensors package of PyPI, and reads what heed wrote.

usage: make_safetensors.py write     tests/golden/small.safetensors, which the tests read
       make_safetensors.py read F    checks that F, a copy of that file made by heed, holds the same

Needs: pip install safetensors numpy
"""
import pathlib
import sys

import numpy as np
import safetensors
from safetensors.numpy import save_file

TENSORS = {
    "encoder.0.weight": np.array([[0.0, 0.5, -1.0], [1.5, -2.0, 2.5]], dtype=np.float32),
    "scalar": np.array(np.pi, dtype=np.float32),
    "empty": np.zeros((0, 7), dtype=np.float32),
    "odd": np.array([np.inf, -np.inf, np.nan, -0.0], dtype=np.float32),
    'name with "quotes" é': np.array([1e-45, np.finfo(np.float32).max], dtype=np.float32),
}
METADATA = {"framework": "numpy", "note": "written by safetensors é"}


def check(path: str) -> None:
    with safetensors.safe_open(path, framework="numpy") as file:
        assert file.metadata() == METADATA, file.metadata()
        assert set(file.keys()) == set(TENSORS), file.keys()
        for name, wanted in TENSORS.items():
            got = file.get_tensor(name)
            assert got.dtype == np.float32 and got.shape == wanted.shape, (name, got.dtype, got.shape)
            assert got.tobytes() == wanted.tobytes(), name


if sys.argv[1:] == ["write"]:
    target = pathlib.Path(__file__).parent / "small.safetensors"
    save_file(TENSORS, target, METADATA)
    check(str(target))
elif len(sys.argv) == 3 and sys.argv[1] == "read":
    check(sys.argv[2])
else:
    sys.exit(__doc__)
