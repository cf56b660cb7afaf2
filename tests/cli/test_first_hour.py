# slow: 60 s
"""The first hour of a new user: pairs of their own, no recipe, and what they do next."""
import itertools
import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest
from heed_program import CONFIG, DATA, NO_INPUT, PROGRAM, SOURCE, USAGE, heed, text

sys.path.insert(0, str(SOURCE / "examples" / "python"))
import phone_numbers  # noqa: E402  pylint: disable=wrong-import-position

BUILD = pathlib.Path(PROGRAM).resolve().parent.parent


@pytest.fixture(name="phones", scope="session")
def trained_without_a_recipe(tmp_path_factory):
    """The folder of a model of 3,000 phone numbers, and what was said while it was trained."""
    if b"__asan_init" in pathlib.Path(PROGRAM).read_bytes():
        pytest.skip("a minute of training is ten with a sanitizer; tests/train has small ones")
    folder = tmp_path_factory.mktemp("first_hour")
    phone_numbers.write(folder / "phones.tsv", phone_numbers.pairs(3000))
    done = subprocess.run([PROGRAM, "train", "phones.tsv"], cwd=folder, capture_output=True, text=True, check=False,
                          timeout=900)
    assert done.returncode == 0, done.stderr
    return folder / "phones-model", done.stdout


def exact(model, file):
    return json.loads(text("evaluate", str(model), str(file), "--metric", "exact", "--json"))["metrics"][0]["score"]


def test_own_pairs_without_a_recipe(phones, tmp_path):
    model, said = phones
    assert "data.source_tokens = characters" in said and "stop.epochs = " in said
    assert "should be" in said and "What next:" in said and f"heed predict {model.name} <" in said
    unseen = phone_numbers.write(tmp_path / "unseen.tsv", phone_numbers.pairs(500, seed=7))
    assert exact(model, unseen) > 95
    # The errors, the worst ten of them, each with what is missing or too much.
    listed = text("evaluate", str(model), unseen, "--errors", "--most", "10")
    assert "of 500 are wrong" in listed or "of 500 is wrong" in listed
    if "difference" in listed:
        assert "{+" in listed or "[-" in listed


def test_the_recipe_that_was_chosen_runs(phones, tmp_path):
    model, _ = phones
    recipe = tmp_path / "recipe.toml"
    shutil.copy(model / "recipe.toml", recipe)
    done = heed("train", str(recipe), "--output", str(tmp_path / "again"), "--set", "stop.epochs=1",
                "--set", f"data.folder={model.parent}")
    assert done.returncode == 0, done.stderr
    assert "Chosen" not in done.stdout


def test_more_pairs_of_a_new_kind(phones, tmp_path):
    """200 numbers with extensions: letters that the first model never wrote."""
    model, _ = phones
    new = phone_numbers.write(tmp_path / "new.tsv", phone_numbers.pairs(200, 3, phone_numbers.pair_with_extension))
    unseen = phone_numbers.write(tmp_path / "more.tsv", phone_numbers.pairs(200, 4, phone_numbers.pair_with_extension))
    assert exact(model, unseen) == 0
    done = heed("train", new, "--from", str(model), "--output", str(tmp_path / "tuned"))
    assert done.returncode == 0, done.stderr
    assert "train.learning_rate = 0.0009" in done.stdout
    assert exact(tmp_path / "tuned", unseen) > 80
    # The 200 pairs alone teach less in the same time.
    alone = heed("train", new, "--output", str(tmp_path / "alone"), "--set", "stop.epochs=20")
    assert alone.returncode == 0 and exact(tmp_path / "alone", unseen) < exact(tmp_path / "tuned", unseen)


def test_one_file_elsewhere(phones, tmp_path):
    """Sent to another machine, where nothing else is: the program, C++ and Python say the same."""
    model, _ = phones
    lines = "".join(f"{source}\n" for source, _ in phone_numbers.pairs(20, seed=9))
    text("export", str(model), "--output", str(tmp_path / "phones.heed"))
    run = {"cwd": tmp_path, "input": lines, "capture_output": True, "text": True, "check": True, "timeout": 60}
    right = subprocess.run([PROGRAM, "predict", model], **run).stdout
    assert right.count("\n") == 20
    assert subprocess.run([PROGRAM, "predict", "phones.heed"], **run).stdout == right
    translate = BUILD / "examples" / "translate"
    if translate.exists():
        said = subprocess.run([translate, "phones.heed"], **run).stdout
        assert [line.split("\t")[0] for line in said.splitlines()] == right.splitlines()
    if (BUILD / "python" / "heed").exists():
        program = ("import sys, heed\nmodel = heed.load('phones.heed')\n"
                   "for found in model.predict(sys.stdin): print(found.text)")
        environment = {**os.environ, "PYTHONPATH": str(BUILD / "python")}
        assert subprocess.run([sys.executable, "-c", program], env=environment, **run).stdout == right


# ------------------------------------------------------------------------------------------------- what people type

def test_two_files_and_their_folder(tmp_path):
    pairs = phone_numbers.pairs(60)
    (tmp_path / "train.raw").write_text("".join(f"{source}\n" for source, _ in pairs))
    (tmp_path / "train.e164").write_text("".join(f"{target}\n" for _, target in pairs))
    done = subprocess.run([PROGRAM, "train", "train.raw", "train.e164", "--set", "stop.steps=2", "--set",
                           "model.width=8"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "raw-e164-model" / "best.txt").exists()
    assert 'source = "train.raw"' in (tmp_path / "raw-e164-model" / "recipe.toml").read_text()


QUICK = ["--threads", "1", "--set", "stop.steps=2", "--set", "model.width=8"]


def trained_in(folder, *arguments):
    done = subprocess.run([PROGRAM, "train", *arguments, *QUICK], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done


def words_with_header(folder):
    pairs = "".join(f"{''.join(word)}\t{''.join(reversed(word))}\n" for word in itertools.product("abc", "def", "gh", "ij"))
    (folder / "words.tsv").write_text("word\tipa\n" + pairs)
    return pairs.count("\n")


@pytest.mark.parametrize("data", ["words.tsv", "labels.tsv", "story.txt", "-odd name.tsv", "dates", "scenes"])
def test_what_next_works(tmp_path, data):
    """Every command that is suggested after a training runs as it is written."""
    words_with_header(tmp_path)
    shutil.copy(tmp_path / "words.tsv", tmp_path / "-odd name.tsv")
    (tmp_path / "labels.tsv").write_text("".join(f"some text number {i} of many\t{'ab'[i % 2]}\n" for i in range(60)))
    (tmp_path / "story.txt").write_text("".join(f"the dog number {i} runs home .\n" for i in range(100)))
    (tmp_path / "dates").write_text('[data]\ntask = "dates"\nexamples = 60\nvalid_examples = 10\n')
    (tmp_path / "scenes").write_text('[data]\ntask = "scenes"\nexamples = 60\nvalid_examples = 10\n'
                                     '[model]\ntask = "image"\n')
    (tmp_path / "lines.txt").write_text("dog\n")
    said = trained_in(tmp_path, "./" + data, *([] if data.endswith((".tsv", ".txt")) else ["--output", "out"]))
    commands = said.stdout.split("What next:\n")[1].splitlines()
    assert len(commands) == 3 and any(" --valid" in command for command in commands)
    environment = {**os.environ, "PATH": f"{pathlib.Path(PROGRAM).resolve().parent}:{os.environ['PATH']}"}
    for line in commands:
        command = line.strip().rsplit("  ", 1)[0]
        done = subprocess.run(command, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True,
                              check=False, timeout=120)
        # A word is no picture: the line is refused, the command is not.
        assert done.returncode == 0 or (data == "scenes" and "predict" in command and done.returncode == DATA), \
            (command, done.stderr)


def test_a_header_is_seen(tmp_path):
    count = words_with_header(tmp_path)
    said = trained_in(tmp_path, "words.tsv")
    assert "words.tsv: line 1 ('word', 'ipa') names the columns, and is left out: data.header = false" in said.stderr
    held_out = int(said.stdout.split(" for validation")[0].split()[-1])
    assert f"{count - held_out} pairs for training" in said.stdout
    kept = trained_in(tmp_path, "words.tsv", "--set", "data.header=false", "--output", "kept")
    assert "line 1" not in kept.stderr and count + 1 == sum(
        int(part.split()[-1]) for part in (kept.stdout.split(" pairs for training")[0], kept.stdout.split(" for validation")[0]))
    # A file to evaluate on is looked at by itself.
    (tmp_path / "test.tsv").write_text("adgi\tigda\n")
    (tmp_path / "named.tsv").write_text("word\tipa\nadgi\tigda\n")
    for name, told in [("test.tsv", False), ("named.tsv", True)]:
        done = heed("evaluate", str(tmp_path / "words-model"), str(tmp_path / name), "--json")
        assert json.loads(done.stdout)["segments"] == 1 and ("names the columns" in done.stderr) == told, done.stderr
    done = heed("train", str(tmp_path / "words.tsv"), "--set", "data.header=perhaps", "--output", str(tmp_path / "no"))
    assert done.returncode == CONFIG and 'true, false or "auto"' in done.stderr


def test_the_recipe_works_from_any_folder(tmp_path):
    project, elsewhere = tmp_path / "project", tmp_path / "elsewhere"
    project.mkdir()
    elsewhere.mkdir()
    words_with_header(project)
    trained_in(project, "words.tsv")
    (elsewhere / "words.tsv").write_text("".join(f"another {i}\tfile\n" for i in range(30)))  # of the same name: not meant
    first = trained_in(elsewhere, str(project / "words-model" / "recipe.toml"), "--output", "one")
    assert "line 1 ('word', 'ipa')" in first.stderr
    assert trained_in(elsewhere, "one/recipe.toml", "--output", "two").stdout.count("saved") > 0
    # Moved with the data beside it; from a link; resumed, and validated.
    moved = tmp_path / "moved"
    project.rename(moved)
    (tmp_path / "link").symlink_to(moved / "words-model")
    for path in [moved / "words-model" / "recipe.toml", tmp_path / "link" / "recipe.toml"]:
        trained_in(elsewhere, str(path), "--output", str(tmp_path / "again"))
        shutil.rmtree(tmp_path / "again")
    trained_in(elsewhere, "--resume", "--output", str(moved / "words-model"), "--set", "stop.steps=3")
    for model in [moved / "words-model", tmp_path / "link"]:
        done = subprocess.run([PROGRAM, "evaluate", model, "--valid"], cwd=elsewhere, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
    # What follows --set is meant from where one is.
    done = trained_in(elsewhere, str(moved / "words-model" / "recipe.toml"), "--output", "three", "--set",
                      "data.tsv=words.tsv")
    assert "names the columns" not in done.stderr
    # An exported file is a copy somewhere else: from where it was made, it finds the data.
    done = subprocess.run([PROGRAM, "export", "words-model", "--output", "../words.heed"], cwd=moved,
                          capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    done = subprocess.run([PROGRAM, "evaluate", tmp_path / "words.heed", "--valid"], cwd=moved, capture_output=True,
                          check=False)
    assert done.returncode == 0, done.stderr


def test_names_in_old_recipes_are_relative_to_the_current_folder(tmp_path):
    words_with_header(tmp_path)
    (tmp_path / "recipes").mkdir()
    (tmp_path / "recipes" / "old.toml").write_text('[data]\ntsv = "words.tsv"\n')
    trained_in(tmp_path, "recipes/old.toml", "--output", "out")
    done = heed("train", str(tmp_path / "recipes" / "old.toml"), "--output", str(tmp_path / "no"))
    assert done.returncode == NO_INPUT, done.stderr


def test_show_tells_what_would_be_chosen(tmp_path):
    data = phone_numbers.write(tmp_path / "numbers.tsv", phone_numbers.pairs(300))
    shown = text("train", data, "--show")
    assert '\nsource_tokens = "characters"\n' in shown and "\nepochs = 0\n" not in shown
    (tmp_path / "bare.toml").write_text('[data]\ntsv = "gone.tsv"\n')
    done = heed("train", str(tmp_path / "bare.toml"), "--show")
    assert done.returncode == 0 and "shown with their defaults" in done.stderr and "gone.tsv" in done.stderr
    assert "\nepochs = 0\n" in done.stdout
    assert not (tmp_path / "numbers-model").exists()


@pytest.mark.parametrize("name, content, code, says", [
    ("pairs.csv", b"a,b\nc,d\n", DATA, "separated by ','"),
    ("wide.tsv", "a\tb\n".encode("utf-16"), DATA, "iconv -f UTF-16"),
    ("empty.tsv", b"", DATA, "no usable pair"),
    ("one.tsv", b"a\tb\n", DATA, "single source"),
    ("words.txt", b"only words\n", DATA, "a tab and a target"),
])
def test_data_that_cannot_be_used(tmp_path, name, content, code, says):
    (tmp_path / name).write_bytes(content)
    done = heed("train", str(tmp_path / name), "--output", str(tmp_path / "out"))
    assert done.returncode == code and says in done.stderr, done.stderr
    assert "Traceback" not in done.stderr and not list((tmp_path / "out").glob("step-*"))


def test_what_does_not_fit_the_model_to_go_on_from(phones, tmp_path):
    model, _ = phones
    new = phone_numbers.write(tmp_path / "new.tsv", phone_numbers.pairs(50, 3))
    out = ("--output", str(tmp_path / "out"))
    wrong = heed("train", new, "--from", str(model), *out, "--set", "model.width=64")
    assert wrong.returncode == CONFIG and "model.width is 64, but" in wrong.stderr
    assert heed("train", new, "--from", "nowhere", *out).returncode == NO_INPUT
    assert heed("train", new, new, new).returncode == USAGE
    assert "is a recipe" in heed("train", new, str(model / "recipe.toml")).stderr
    assert not list((tmp_path / "out").glob("step-*"))
