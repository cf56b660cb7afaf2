"""Models that older releases wrote load, and answer as they did then, to the last bit (make_models.py made them)."""
import hashlib
import json
import os
import pathlib
import shutil
import subprocess

import pytest

HERE = pathlib.Path(__file__).parent
MODELS = sorted(folder for folder in HERE.glob("*/*") if (folder / "answers.json").exists())
# A key that an answer of that release has is there today, with the same value; today's answers may have more.
NAMES = [f"{folder.parent.name}-{folder.name}" for folder in MODELS]


def run(*arguments, given="", **environment):
    done = subprocess.run([os.environ["HEED"], *map(str, arguments)], input=given.encode(), capture_output=True, timeout=120,
                          check=False, env={**os.environ, **environment})
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def usable():
    """The instruction sets that this machine has, of those that the answers were made with."""
    for isa in ("avx512", "avx2", "sse4", "scalar"):
        done = subprocess.run([os.environ["HEED"], "info"], env={**os.environ, "HEED_ISA": isa}, capture_output=True,
                              check=False)
        if done.returncode == 0:
            yield isa


def expect_same(model, folder, isa):
    lines = run("predict", model, "--json", "--scores", "--max-length", "20", given=(folder / "questions.txt").read_text(),
                HEED_ISA=isa).splitlines()
    before = json.loads((folder / "answers.json").read_text())[isa]
    assert len(lines) == len(before) > 0
    for line, old in zip(lines, before):
        now = json.loads(line)
        assert {key: now.get(key) for key in old} == old


def test_there_is_every_kind_of_model():
    tasks = {name.split("-", 1)[1].split("_")[0] for name in NAMES}
    assert tasks == {"pairs", "label", "next", "picture"}


@pytest.mark.parametrize("folder", MODELS, ids=NAMES)
def test_answers_are_the_same_bits(folder):
    isas = list(usable())
    assert "scalar" in isas
    for isa in isas:
        expect_same(folder / "checkpoint", folder, isa)


@pytest.mark.parametrize("folder", MODELS, ids=NAMES)
def test_it_can_be_exported_again(folder, tmp_path):
    run("export", folder / "checkpoint", "--output", tmp_path / "model.heed")
    expect_same(tmp_path / "model.heed", folder, "scalar")


@pytest.mark.parametrize("before, now", [("wer", "ser"), ("per", "wer"), ("cer", "cer")])
def test_what_metrics_were_called(before, now, tmp_path):
    """`wer` was the share of wrong outputs, `per` the edits per word."""
    model = tmp_path / "model"
    shutil.copytree(HERE / "0.1" / "pairs_rnn" / "checkpoint", model)
    config = (model / "config.toml").read_text()
    assert 'metric = "loss"' in config
    config = config.replace('metric = "loss"', f'metric = "{before}"').encode()
    (model / "config.toml").write_bytes(config)
    manifest = json.loads((model / "MANIFEST.json").read_text())
    for part in manifest["parts"]:
        if part["name"] == "config.toml":
            part.update(size=len(config), sha256=hashlib.sha256(config).hexdigest())
    (model / "MANIFEST.json").write_text(json.dumps(manifest))
    (tmp_path / "x.tsv").write_text("abc\tcba\n")
    metrics = json.loads(run("evaluate", model, tmp_path / "x.tsv", "--json"))["metrics"]
    assert metrics[0]["metric"] == now


def written_anew(folder, place):
    """The same weights as today's heed writes them: the mean of one model is that model."""
    run("average", folder / "checkpoint", "--output", place)
    assert "version = 2\n" in (place / "model.toml").read_text()
    assert (place / "config.toml").exists()
    return place


def without_recipe(checkpoint):
    """As a model that was never trained here: a description, vocabularies and weights."""
    manifest = json.loads((checkpoint / "MANIFEST.json").read_text())
    for part in ("config.toml", "state.json"):
        (checkpoint / part).unlink()
    manifest["parts"] = [part for part in manifest["parts"] if (checkpoint / part["name"]).exists()]
    (checkpoint / "MANIFEST.json").write_text(json.dumps(manifest))
    return checkpoint


@pytest.mark.parametrize("folder", MODELS, ids=NAMES)
def test_it_can_be_written_anew(folder, tmp_path):
    model = written_anew(folder, tmp_path / "anew")
    expect_same(model, folder, "scalar")
    expect_same(without_recipe(model), folder, "scalar")
    run("export", model, "--output", tmp_path / "model.heed")
    expect_same(tmp_path / "model.heed", folder, "scalar")
    said = json.loads(run("info", tmp_path / "model.heed", "--json"))["model"]
    assert "training" not in said and said["parameters"] > 0


@pytest.mark.parametrize("folder", [f for f in MODELS if f.name in ("pairs_rnn", "label_several", "next_token_rnn")],
                         ids=lambda folder: folder.name)
def test_what_runs_without_a_recipe(folder, tmp_path):
    model = without_recipe(written_anew(folder, tmp_path / "bare"))
    old = folder / "checkpoint"
    if folder.name == "next_token_rnn":
        data = tmp_path / "text.txt"
        data.write_text("the cat sat on the mat.\na dog ran in the park.\n" * 30)
    else:
        rows = ("the film was good\tpos,film", "a sad song\tneg") if "label" in folder.name else ("12\tone two", "30\tthree zero")
        data = tmp_path / "data.tsv"
        data.write_text("".join(row + "\n" for row in rows) * 30)
    assert run("score", model, data) == run("score", old, data)
    judged = ["evaluate", data, "--json"] if folder.name == "next_token_rnn" else ["evaluate", data, "--json", "--metric", "exact"]
    assert run(judged[0], model, *judged[1:]) == run(judged[0], old, *judged[1:])
    run("look", model, "--json", tmp_path / "look.json", given="12\n")
    run("average", model, model, "--output", tmp_path / "mean")
    assert not (tmp_path / "mean" / "config.toml").exists()
    run("train", data, "--from", model, "--output", tmp_path / "further", "--set", "stop.steps=2", "--threads", "1")
    assert "width = 12\n" in (tmp_path / "further" / "recipe.toml").read_text()
    for verb, says in ((["evaluate", model, "--valid"], "it has no recipe (config.toml), which says what it is validated on"),
                       (["train", "--resume", "--output", tmp_path / "run"], "so its training cannot be resumed")):
        shutil.copytree(model, tmp_path / "run" / "step-000001", dirs_exist_ok=True)
        done = subprocess.run([os.environ["HEED"], *map(str, verb)], capture_output=True, check=False, timeout=120)
        assert done.returncode == 65 and says in done.stderr.decode(), done.stderr


@pytest.mark.parametrize("folder", [f for f in MODELS if (f / "model.heed").exists()])
def test_one_file_models(folder):
    expect_same(folder / "model.heed", folder, "scalar")
