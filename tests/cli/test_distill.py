"""heed distill: targets written anew, and what is left of it when it is interrupted."""
import json
import pathlib
import signal
import subprocess
import time

import pytest
from heed_program import CANNOT_CREATE, CONFIG, NO_INPUT, PROGRAM, USAGE, answers, heed, small_recipe, text

FILES = ("train.source", "train.target", "valid.source", "valid.target", "recipe.toml", "distilled.json")


@pytest.fixture(name="recipe")
def student_recipe(tmp_path):
    path = tmp_path / "student.toml"
    path.write_text(small_recipe(model={"kind": "transformer", "decoder": "parallel", "max_length": 32},
                                 attention={"score": "scaled_dot"}, output={"folder": str(tmp_path / "student")},
                                 stop={"steps": 4}))
    return path


def lines(path):
    return pathlib.Path(path).read_text(encoding="utf-8").splitlines()


def test_the_targets_are_those_of_the_model(model, recipe, tmp_path):
    out = tmp_path / "out"
    said = text("distill", str(model), str(recipe), "--output", str(out), "--beam", "3")
    assert sorted(path.name for path in out.iterdir()) == sorted(FILES)
    sources, targets = lines(out / "train.source"), lines(out / "train.target")
    assert len(sources) == len(targets) == 400 and len(lines(out / "valid.source")) == 20
    right = answers("predict", str(model), str(out / "train.source"), "--beam", "3", given="")
    reversed_ones = [source[::-1] for source in sources]
    same = sum(target == one for target, one in zip(targets, right))
    kept = json.loads((out / "distilled.json").read_text())["kept"]
    assert same >= 400 - kept and same > 300
    assert lines(out / "valid.target") == [source[::-1] for source in lines(out / "valid.source")]
    changed = sum(target != before for target, before in zip(targets, reversed_ones))
    assert said.startswith(f"400 pairs: {changed} have another target now, {kept} kept theirs")
    assert f"heed train {out}/recipe.toml" in said


def test_the_recipe_trains(model, recipe, tmp_path):
    out = tmp_path / "out"
    text("distill", str(model), str(recipe), "--output", str(out))
    done = heed("train", str(out / "recipe.toml"))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "student-distilled" / "recipe.toml").exists()


def test_an_interrupted_one_goes_on_to_the_same_end(model, recipe, tmp_path):
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    text("distill", str(model), str(recipe), "--output", str(whole))
    with subprocess.Popen([PROGRAM, "distill", str(model), str(recipe), "--output", str(cut), "--threads", "1"],
                          stdout=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 50
        while not list(cut.glob("parts/0*")) and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.002)
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=50)
    assert process.returncode == 0
    if "stopped" in said:  # otherwise it was faster
        assert "stopped after 256 of 400 pairs, and saved" in said
        again = text("distill", str(model), str(recipe), "--output", str(cut))
        assert "256 were done before" in again
    for name in FILES[:4]:
        assert (cut / name).read_bytes() == (whole / name).read_bytes(), name


def test_an_answer_far_longer_than_the_target_is_not_taken(tmp_path):
    """The model always says one word of 40 letters."""
    said, short, long = "w" * 40, "s" * 9, "l" * 10  # 2 x 9 + 20 < 40 = 2 x 10 + 20

    def recipe(name, targets):
        (tmp_path / f"{name}.tsv").write_text("".join(f"{i}\t{targets[i % len(targets)]}\n" for i in range(100, 200)))
        path = tmp_path / f"{name}.toml"
        path.write_text(small_recipe(data={"task": "none", "tsv": str(tmp_path / f"{name}.tsv"), "target_tokens": "words"}))
        return str(path)

    done = heed("train", recipe("teacher", [said]), "--output", str(tmp_path / "teacher"))
    assert done.returncode == 0, done.stderr
    text("distill", str(tmp_path / "teacher"), recipe("student", [short, long]), "--output", str(tmp_path / "out"))
    targets = lines(tmp_path / "out" / "train.target")
    assert set(targets) == {short, said}
    assert json.loads((tmp_path / "out" / "distilled.json").read_text())["kept"] == targets.count(short)


def test_a_damaged_part_is_done_again(model, recipe, tmp_path):
    out = tmp_path / "out"
    text("distill", str(model), str(recipe), "--output", str(out))
    right = (out / "train.target").read_bytes()
    work = json.loads((out / "distilled.json").read_text())["work"]
    (out / "parts").mkdir()
    (out / "parts" / "000000000").write_text(f"{work}\n{'0' * 64}\n" + "+wrong\n" * 256)
    text("distill", str(model), str(recipe), "--output", str(out))
    assert (out / "train.target").read_bytes() == right and not (out / "parts").exists()


def test_another_work_in_the_folder_is_refused(model, recipe, tmp_path):
    out = tmp_path / "out"
    text("distill", str(model), str(recipe), "--output", str(out))
    done = heed("distill", str(model), str(recipe), "--output", str(out), "--beam", "2")
    assert done.returncode == CANNOT_CREATE
    assert "holds targets of another model, with other options or for other data" in done.stderr


@pytest.mark.parametrize("arguments, code, message", [
    (["missing", "RECIPE"], NO_INPUT, "missing"),
    (["MODEL", "missing.toml"], NO_INPUT, "missing.toml"),
    (["MODEL"], USAGE, "RECIPE"),
    (["MODEL", "RECIPE", "--iterations", "2"], USAGE, "--iterations 2 is for models that write all positions at once"),
    (["MODEL", "RECIPE", "--set", "model.task=classification"], CONFIG, ""),
])
def test_what_is_refused(model, recipe, tmp_path, arguments, code, message):
    places = {"MODEL": str(model), "RECIPE": str(recipe)}
    done = heed("distill", *[places.get(word, word) for word in arguments], "--output", str(tmp_path / "out"))
    assert done.returncode == code, done.stderr
    assert message in done.stderr
    assert not (tmp_path / "out").exists()
