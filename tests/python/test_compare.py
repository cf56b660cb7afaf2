"""heed.compare: the same model with several attentions, or values of a key."""
import io
import os

import pytest

import heed

PAIRS = [(f"{a}-{b}", f"{b}{a}") for a in range(10, 34) for b in range(40, 50)]
SMALL = {"model.kind": "rnn", "model.width": 16, "stop.steps": 6, "validate.every": 6, "validate.longest": 12,
         "validate.decode": 20}


def quiet(*arguments, **more):
    return heed.compare(*arguments, **{"settings": SMALL, "progress": False, **more})


def test_names_side_by_side(tmp_path):
    events = []
    found = quiet(PAIRS, tmp_path / "out", attention=["additive", "dot", "softmax"], seeds=2, callback=events.append)
    assert found.finished and found.folder == str(tmp_path / "out")
    assert [v.name for v in found.variants if v.rank] == [v.name for v in found.variants[:2]]
    assert found.best.rank == 1 and found.best.p is None
    assert {"additive", "dot"} == {v.name for v in found.variants[:2]}
    assert found["softmax"].rank is None and "the same model as additive" in found["softmax"].reason
    worse = found.variants[1]
    assert (found.best.value >= worse.value) == found.higher_is_better or found.best.value == worse.value
    assert worse.means["parameters"] > 0 and worse.spreads["value"] is not None and 0 <= worse.p <= 1
    assert [run["seed"] for run in worse.runs] == [1, 2]
    kinds = [event["event"] for event in events]
    assert kinds.count("run") == kinds.count("result") == 4 and kinds.count("step") == 24
    first = events[kinds.index("run")]
    assert (first["variant"], first["seed"], first["run"], first["runs"]) == ("additive", 1, 1, 4)
    assert "| variant |" in str(found)
    for name in ("compare.html", "compare.csv", "compare.json", "compare.md"):
        assert (tmp_path / "out" / name).exists()
    model = found["dot"].model(seed=2)
    assert isinstance(model, heed.TrainedModel) and model.path.endswith(os.path.join("dot", "seed-2"))
    with pytest.raises(heed.Error, match="was not trained: the same model"):
        found["softmax"].model()
    with pytest.raises(KeyError, match="additive"):
        found["general"]


def test_values_of_keys_on_a_built_in_task(tmp_path):
    found = heed.compare("reverse", tmp_path / "out", over={"model.width": [8, 16], "model.cell": ["gru", "lstm"]},
                         settings={"stop.steps": 2, "data.examples": 50, "data.valid_examples": 5}, progress=False)
    assert {v.name for v in found.variants} == {
        f"model.width={width}, model.cell={cell}" for width in (8, 16) for cell in ("gru", "lstm")}


def test_stopped_and_resumed(tmp_path):
    def stop(event):
        return not (event["event"] == "run" and event["run"] == 2)

    part = quiet(PAIRS, tmp_path / "out", attention=["additive", "dot"], callback=stop)
    assert not part.finished and part["additive"].rank == 1 and part["dot"].rank is None
    whole = heed.compare(folder=tmp_path / "out", resume=True, progress=False)
    assert whole.finished and whole["dot"].rank
    assert whole["additive"].value == part["additive"].value
    again = quiet(PAIRS, tmp_path / "out", attention=["additive", "dot", "general"], resume=True)
    assert again["general"].rank


def test_progress_is_a_line_per_run(tmp_path):
    out = io.StringIO()
    quiet(PAIRS, tmp_path / "out", attention=["dot"], progress=out)
    assert "1 of 1  dot, seed 1: " in out.getvalue()


def test_an_exception_in_the_callback_is_raised_and_the_rest_is_kept(tmp_path):
    def fail(event):
        if event["event"] == "run" and event["run"] == 2:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        quiet(PAIRS, tmp_path / "out", attention=["additive", "dot"], callback=fail)
    assert (tmp_path / "out" / "additive" / "seed-1" / "result.json").exists()


def test_mistakes_are_named(tmp_path):
    with pytest.raises(heed.Error, match="did you mean 'additive'"):
        quiet(PAIRS, tmp_path / "a", attention=["aditive"])
    with pytest.raises(heed.Error, match="there is no data"):
        quiet(folder=tmp_path / "b")
    with pytest.raises(heed.Error, match="leave the rest out"):
        quiet(folder=tmp_path / "b", resume=True, attention=["dot"])
    with pytest.raises(heed.Error, match="a folder is needed"):
        quiet(PAIRS)
    with pytest.raises(TypeError, match="a list of values"):
        quiet(PAIRS, tmp_path / "c", over={"model.width": 8})
    with pytest.raises(TypeError, match="names such as"):
        quiet(PAIRS, tmp_path / "c", attention=[3])
    quiet(PAIRS, tmp_path / "d", attention=["dot"])
    with pytest.raises(heed.Error, match="already holds a comparison"):
        quiet(PAIRS, tmp_path / "d", attention=["dot"])
