# slow: 9 s
"""heed train: recipes with mistakes, bad data, progress, and trainings that are interrupted."""
import json
import os
import signal
import subprocess
import time

import pytest
from heed_program import CANNOT_CREATE, CONFIG, DATA, NO_INPUT, PROGRAM, USAGE, heed, on_terminal, small_recipe, text

SMALL = small_recipe(data={"examples": 200}, model={"width": 8},
                     train={"batch_tokens": 128, "warmup": 3, "schedule": "cosine"}, stop={"steps": 40},
                     validate={"every": 10}, output={"log_every": 1})


@pytest.fixture(name="recipe")
def recipe_file(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return str(path)


def events(folder, kind):
    lines = (folder / "log.jsonl").read_text().splitlines()
    return [line for line in map(json.loads, lines) if line["event"] == kind]


def losses(folder):
    return [(line["step"], line["loss"]) for line in events(folder, "step")]


# ----------------------------------------------------------------------------------------------------------------- usage

def test_help_shows_a_recipe_that_runs(tmp_path):
    said = text("train", "--help")
    example = said[said.index("# Dates"):said.index("heed train RECIPE --show")]
    (tmp_path / "example.toml").write_text(example)
    shown = text("train", str(tmp_path / "example.toml"), "--show")
    assert '\ntask = "dates"\n' in shown and '\nscore = "additive"\n' in shown
    (tmp_path / "shown.toml").write_text(shown)
    assert text("train", str(tmp_path / "shown.toml"), "--show") == shown


@pytest.mark.parametrize("arguments, code, says", [
    ((), USAGE, "heed train PAIRS.tsv"),
    (("--resume",), USAGE, "--resume needs the data, a recipe"),
    (("nowhere.toml",), NO_INPUT, "there is no recipe or data 'nowhere.toml'"),
    (("datse",), NO_INPUT, "there is no recipe or data 'datse', and no built-in task of that name: dates"),
    (("RECIPE", "--threads", "0"), USAGE, "--threads"),
    (("RECIPE",), CONFIG, "there is no output folder: set output.folder, or --output"),
    (("RECIPE", "--set", "model.widht=3"), CONFIG, "unknown key 'model.widht'; did you mean 'model.width'?"),
    (("RECIPE", "--set", "model.width=0"), CONFIG, "--set model.width=0: model.width must be from 1"),
    (("RECIPE", "--set", "model.width"), CONFIG, "section.name=value"),
    (("RECIPE", "--set", "attention.heads=3", "--output", "OUT"), CONFIG, "heads"),
    (("RECIPE", "--output", "RECIPE"), CANNOT_CREATE, "small.toml"),
    (("RECIPE", "--set", "data.task=none", "--set", "data.tsv=gone.tsv", "--output", "OUT"), NO_INPUT, "gone.tsv"),
    (("--resume", "--output", "OUT"), DATA, "holds no checkpoint"),
])
def test_wrong_usage(recipe, tmp_path, arguments, code, says):
    done = heed("train", *[{"RECIPE": recipe, "OUT": str(tmp_path / "out")}.get(a, a) for a in arguments])
    assert done.returncode == code, done.stderr
    assert says in done.stderr and done.stderr.startswith("heed: ")
    assert not (tmp_path / "out" / "step-000040").exists()


def test_every_mistake_of_a_recipe_at_once(tmp_path):
    path = tmp_path / "broken.toml"
    path.write_text("[data]\ntask = \"reverse\"\n[model]\nkind = \"rnm\"\nwidth = 1.5\n[stopp]\nsteps = 3\n")
    done = heed("train", str(path), "--output", str(tmp_path / "out"))
    assert done.returncode == CONFIG
    for line, says in ((4, "model.kind must be one of rnn, transformer"), (5, "model.width must be a whole number"),
                       (6, "unknown section [stopp]; did you mean [stop]?")):
        assert f"broken.toml:{line}: {says}" in done.stderr
    path.write_text("[data\n")
    assert "broken.toml:1" in heed("train", str(path)).stderr


@pytest.mark.parametrize("arguments", [("--show",), ("--output", "OUT", "--set", "stop.steps=2")])
def test_former_words_are_read_and_noted_once(tmp_path, arguments):
    path = tmp_path / "old.toml"
    path.write_text(small_recipe(data={"examples": 50}, model={"task": "pairs", "kind": "transformer", "positions": "sin_cos",
                                                               "width": 8, "encoder_layers": 1, "decoder_layers": 1}))
    done = heed("train", str(path), *[str(tmp_path / "out") if a == "OUT" else a for a in arguments], "--set",
                "model.task=pairs")
    assert done.returncode == 0, done.stderr
    for note in ("heed: 'pairs' is now called 'seq2seq'\n", "heed: 'sin_cos' is now called 'sinusoidal'\n"):
        assert done.stderr.count(note) == 1, done.stderr
    written = done.stdout if arguments == ("--show",) else (tmp_path / "out" / "recipe.toml").read_text()
    assert 'task = "seq2seq"' in written and 'positions = "sinusoidal"' in written
    if "--output" in arguments:
        assert [event["text"] for event in events(tmp_path / "out", "seen")] == [
            "'pairs' is now called 'seq2seq'", "'sin_cos' is now called 'sinusoidal'"]
        again = heed("train", "--resume", "--output", str(tmp_path / "out"), "--set", "stop.steps=3")
        assert again.returncode == 0 and "is now called" not in again.stderr, again.stderr


# ------------------------------------------------------------------------------------------------------------------ data

def test_bad_lines_are_named_and_the_rest_is_learned(tmp_path, recipe):
    good = [f"word{i}\tw {i}".encode() for i in range(60)]
    good[4:4] = [b"bad\xff\tb", b"no tab", b"\tempty", b"long" * 30 + b"\tl"]
    (tmp_path / "words.tsv").write_bytes(b"\n".join(good) + b"\n")
    out = tmp_path / "out"
    done = heed("train", recipe, "--output", str(out), "--set", "data.task=none", "--set", f"data.folder={tmp_path}",
                "--set", "data.tsv=words.tsv", "--set", "data.max_source=30", "--set", "data.held_out=0.1")
    assert done.returncode == 0, done.stderr
    for says in ("words.tsv: 4 of 64 lines left out", "1 invalid UTF-8: 5 (source, byte 4)",
                 "1 wrong number of columns: 6", "1 an empty side: 7 (source)", "1 too long: 8 (source, 120 tokens)"):
        assert says in done.stderr
    assert "54 pairs for training, 6 for validation" in done.stdout
    assert "4 of 64" in events(out, "warning")[0]["text"]


def test_files_of_unequal_length_are_refused(tmp_path, recipe):
    (tmp_path / "a").write_text("one\ntwo\nthree\n")
    (tmp_path / "b").write_text("1\n2\n")
    done = heed("train", recipe, "--output", str(tmp_path / "out"), "--set", "data.task=none",
                "--set", f"data.source={tmp_path / 'a'}", "--set", f"data.target={tmp_path / 'b'}")
    assert done.returncode == DATA
    assert "3 lines" in done.stderr and "has 2" in done.stderr


# -------------------------------------------------------------------------------------------------------------- training

def test_a_whole_training(tmp_path, recipe):
    out = tmp_path / "out"
    said = text("train", recipe, "--output", str(out))
    assert "200 pairs for training" in said and "finished after 40 updates" in said and "the best model is" in said
    assert said.count("perplexity") >= 4 and "\033" not in said and "\r" not in said
    assert len(losses(out)) == 40 and len(events(out, "validated")) == 4
    assert any(path.name.startswith("events.out.tfevents.") for path in out.iterdir())
    again = heed("train", recipe, "--output", str(out))
    assert again.returncode == CANNOT_CREATE and "--resume" in again.stderr


def begin(recipe, out, last, **more):
    """A training that runs until update `last` was logged."""
    # pylint: disable=consider-using-with
    process = subprocess.Popen([PROGRAM, "train", recipe, "--output", str(out), "--set", "stop.steps=4000",
                                "--set", "validate.every=50", *more.get("arguments", ())],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    limit = time.monotonic() + 60
    while time.monotonic() < limit:
        if (out / "log.jsonl").exists() and f'"step":{last},' in (out / "log.jsonl").read_text():
            return process
        time.sleep(0.01)
    process.kill()
    raise AssertionError(process.communicate())


def test_profile_says_what_took_the_time(tmp_path, recipe):
    said = text("train", recipe, "--output", str(tmp_path / "out"), "--profile")
    lines = said[said.index("where the"):].splitlines()[1:]
    shares = {name.strip(): float(share) for share, name in (line.split("%") for line in lines)}
    assert {"matrix products", "output layer", "attention", "optimiser", "other"} <= set(shares)
    assert abs(sum(shares.values()) - 100) < 1


@pytest.mark.parametrize("wish", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_saves_and_ends(tmp_path, recipe, wish):
    out = tmp_path / "out"
    process = begin(recipe, out, 20)
    process.send_signal(wish)
    said, complained = process.communicate(timeout=60)
    assert process.returncode == 0, complained
    assert "stopped after update" in said and "--resume" in said
    settings = "--set stop.steps=4000 --set validate.every=50"
    assert f"To resume: heed train {recipe} {settings} --resume --output {out}" in said
    last = events(out, "finished")[0]
    assert last["by"] == "stopped" and last["step"] >= 20
    assert (out / f"step-{last['step']:06}" / "MANIFEST.json").exists()


def test_the_command_to_go_on_is_one_for_a_shell(tmp_path, recipe):
    """With names that a shell would take apart."""
    out = tmp_path / "a folder; it's"
    process = begin(recipe, out, 20, arguments=["--set", "data.folder=x y", "--set", "attention.score=general"])
    process.send_signal(signal.SIGINT)
    said, complained = process.communicate(timeout=60)
    assert process.returncode == 0, complained
    command = said[said.index("To resume: heed ") + len("To resume: heed "):].strip()
    again = subprocess.run(["sh", "-c", f"'{PROGRAM}' {command} --set stop.steps=21"], capture_output=True, text=True,
                           timeout=60, check=False)
    assert again.returncode == 0, again.stderr
    assert "resuming after update" in again.stdout


def test_kill_9_and_resume_is_as_if_nothing_had_happened(tmp_path, recipe):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    limits = ["--set", "validate.every=50", "--set", "stop.steps=4000"]
    process = begin(recipe, parts, 120)
    process.kill()
    process.communicate()
    further = losses(parts)[-1][0] + 50  # than the first one had come when it was killed
    process = begin(recipe, parts, further, arguments=["--resume"])
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    done = events(parts, "finished")[0]["step"]
    # Both stop at the same update; the length of the schedule stays that of the recipe.
    process = begin(recipe, whole, done)
    process.kill()
    process.communicate()
    there = dict(losses(whole))
    assert [step for step, _ in losses(parts)] == list(range(1, done + 1))
    assert all(there[step] == loss for step, loss in losses(parts))
    said = text("train", "--resume", "--output", str(parts), "--set", f"stop.steps={done}", *limits[:2])
    assert f"resuming after update {done}" in said


def test_a_damaged_checkpoint_is_named_and_the_one_before_is_taken(tmp_path, recipe):
    out = tmp_path / "out"
    text("train", recipe, "--output", str(out))
    with open(out / "step-000040" / "weights.safetensors", "r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"\x7f")
    done = heed("train", recipe, "--resume", "--output", str(out))
    assert done.returncode == 0
    assert "step-000040" in done.stderr and "weights.safetensors has changed" in done.stderr
    assert "resuming from step-000030" in done.stderr and "resuming after update 30" in done.stdout


def test_another_recipe_does_not_go_on(tmp_path, recipe):
    out = tmp_path / "out"
    text("train", recipe, "--output", str(out))
    done = heed("train", recipe, "--resume", "--output", str(out), "--set", "train.seed=5")
    assert done.returncode == DATA and "train.seed is 5, was 1" in done.stderr


# --------------------------------------------------------------------------------------------------------------- terminal

@pytest.mark.parametrize("columns", [40, 60, 80, 200])
def test_a_bar_that_fits_the_terminal(tmp_path, recipe, columns):
    said = on_terminal("train", recipe, "--output", str(tmp_path / "out"), "--set", "stop.steps=2000",
                       "--set", "validate.every=1000", COLUMNS=str(columns), NO_COLOR="1")
    bars = [part.split("\033[K")[0].split("\r\n")[-1] for part in said.split("\r") if " left" in part and "loss" in part]
    assert bars
    assert all(len(bar) <= columns for bar in bars)
    assert all(("█" in bar or "·" in bar) for bar in bars)
    # At most ten a second, and the first.
    seconds = events(tmp_path / "out", "finished")[0]["seconds"]
    assert len(bars) <= 10 * seconds + 2
    assert "\033[1m" not in said


def test_colours_on_a_terminal(tmp_path, recipe):
    assert "\033[1m" in on_terminal("train", recipe, "--output", str(tmp_path / "out"))


def test_the_baseline_of_sampled_choices_goes_on_where_it_was(tmp_path, recipe):
    """It moves from update to update, so a training in two parts needs the one of the first part."""
    choices = ["--set", "attention.normalise=hard_sampled", "--set", "attention.entropy_weight=0.01"]
    choices += ["--set", "train.schedule=constant"]  # cosine depends on the end
    steps = ["--set", "validate.every=10", "--set", "stop.steps=20"]
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    text("train", recipe, "--output", str(whole), *choices, *steps)
    text("train", recipe, "--output", str(parts), *choices, *steps[:2], "--set", "stop.steps=10")
    text("train", recipe, "--resume", "--output", str(parts), *choices, *steps)
    weights = [(folder / "step-000020" / "weights.safetensors").read_bytes() for folder in (whole, parts)]
    assert weights[0] == weights[1] and b"reinforce.baseline" in weights[0]
