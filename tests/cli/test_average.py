"""heed average: the mean of weights."""
import shutil
import struct

import pytest
from heed_program import CANNOT_CREATE, DATA, NO_INPUT, USAGE, answers, from_json, run, text, train_small, weights

TEXT = "abc\nhello\nzyx0wvu\n"


def test_the_mean_of_equal_ones_says_the_same(model, tmp_path):
    copies = []
    for name in ("one", "two", "three"):
        shutil.copytree(model / "step-000060", tmp_path / name)
        copies.append(str(tmp_path / name))
    text("average", *copies, "--output", str(tmp_path / "mean"))
    assert weights(tmp_path / "mean") == weights(model / "step-000060")
    assert answers("predict", tmp_path / "mean", "--scores", given=TEXT) == answers(
        "predict", model, "--checkpoint", "step-000060", "--scores", given=TEXT)


def test_the_mean_of_the_last(model, tmp_path):
    said = text("average", str(model), "--last", "2", "--output", str(tmp_path / "mean"))
    assert "the mean of 2 checkpoints: step-000040, step-000060" in said
    a, b, mean = (weights(f) for f in (model / "step-000040", model / "step-000060", tmp_path / "mean"))
    assert a.keys() == b.keys() == mean.keys() and a != b
    for name, values in mean.items():
        for x, y, z in zip(a[name], b[name], values):
            assert z == struct.unpack("<f", struct.pack("<f", (x + y) / 2))[0]
    assert len(answers("predict", tmp_path / "mean", given=TEXT)) == 3
    assert from_json("info", str(tmp_path / "mean"), "--json")["model"]["training"] == {"updates": 60, "averaged": 2}
    assert "3 checkpoints" in text("average", str(model), "--output", str(tmp_path / "all"))


@pytest.mark.parametrize("arguments, code, says", [
    ((), USAGE, "is required"),
    (("MODEL",), USAGE, "--output is required"),
    (("gone", "--output", "NEW"), NO_INPUT, "there is no model 'gone'"),
    (("MODEL", "--output", "OLD"), CANNOT_CREATE, "already exists"),
    (("MODEL", "--output", "OLD/file/new"), CANNOT_CREATE, "file"),
    (("OLD", "--output", "NEW"), DATA, "holds no checkpoint"),
    (("MODEL", "--last", "9", "--output", "NEW"), DATA, "holds 3 checkpoints, but --last asks for 9"),
    (("MODEL", "--last", "0", "--output", "NEW"), USAGE, "--last"),
    (("DAMAGED", "--output", "NEW"), DATA, "has changed"),
    (("MODEL", "OTHER", "--output", "NEW"), DATA, "are not the same model: model.width is 8, was 16"),
    (("MODEL", "--outptu", "NEW"), USAGE, "did you mean '--output'?"),
])
def test_wrong_usage(model, damaged, tmp_path, arguments, code, says):
    # pylint: disable=too-many-arguments
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "file").write_text("in the way")
    there = {"MODEL": model, "DAMAGED": damaged, "NEW": tmp_path / "new", "OLD": tmp_path / "old",
             "OLD/file/new": tmp_path / "old" / "file" / "new"}
    if "OTHER" in arguments:
        there["OTHER"] = train_small(tmp_path / "other", "model.width=8", "stop.steps=1")
    done = run("average", *[there.get(a, a) for a in arguments])
    assert done.returncode == code, done.stderr
    assert says in done.stderr.decode() and done.stdout == b""
    assert not (tmp_path / "new").exists()
