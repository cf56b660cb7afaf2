# slow: 5 s
"""A standard error that cannot be written, and streams that are not there: the work goes on, the exit code tells."""
import os
import subprocess

import pytest
from heed_program import DATA, NO_INPUT, OUTPUT, PROGRAM, USAGE, heed, train_small


@pytest.fixture(name="no_error", params=["full", "closed", "broken"])
def unwritable_error(request):
    """Runs the program with a standard error of that kind."""
    def run(*arguments, given=b""):
        command = [PROGRAM, *map(str, arguments)]
        if request.param == "closed":
            command = ["sh", "-c", 'exec "$@" 2>&-', "sh", *command]
        error = os.open("/dev/full", os.O_WRONLY)
        if request.param == "broken":
            os.close(error)
            reader, error = os.pipe()
            os.close(reader)
        try:
            return subprocess.run(command, input=given, stdout=subprocess.PIPE, stderr=error, timeout=60, check=False)
        finally:
            os.close(error)
    return run


def test_every_verb_ends_with_its_code(no_error, model, damaged, tmp_path):
    assert no_error().returncode == USAGE
    assert no_error("mechnisms").returncode == USAGE
    assert no_error("predict", "nowhere").returncode == NO_INPUT
    assert no_error("info", damaged).returncode == DATA
    assert no_error("train", "nowhere.toml").returncode == NO_INPUT
    (tmp_path / "pairs.tsv").write_text("ab\tba\nno tab\n")
    scored = no_error("score", model, tmp_path / "pairs.tsv")
    assert scored.returncode == 0 and scored.stdout.count(b"\n") == 2
    assert no_error("evaluate", model, tmp_path / "pairs.tsv").returncode == 0


def test_lines_are_answered(no_error, model):
    done = no_error("predict", model, given=b"ab\n\xff\ncd\n")  # of which the second would be named
    assert done.returncode == 0
    answers = done.stdout.split(b"\n")
    assert len(answers) == 4 and answers[0] and not answers[1] and answers[2]


def test_a_training_goes_on(no_error, tmp_path):
    """Also where it warns: a pair is left out."""
    (tmp_path / "pairs.tsv").write_text("".join(f"w{i}\t{i}w\n" for i in range(60)) + "no tab\n")
    recipe = tmp_path / "recipe.toml"
    recipe.write_text("[data]\ntsv = 'pairs.tsv'\nheld_out = 0.1\n[model]\nwidth = 8\n[stop]\nsteps = 3\n"
                      "[validate]\nevery = 1\ndecode = 0\n")
    out = tmp_path / "out"
    done = no_error("train", recipe, "--output", out, "--set", f"data.folder={tmp_path}")
    assert done.returncode == 0 and b"finished after 3 updates" in done.stdout
    # Nothing that was meant for standard error went into a file that took its number.
    assert heed("info", str(out)).returncode == 0
    assert not any("heed: " in path.read_text(errors="replace") for path in out.rglob("*") if path.is_file())


def test_input_and_output_that_are_closed(tmp_path):
    model = train_small(tmp_path / "model", "stop.steps=2")
    closed = subprocess.run(["sh", "-c", f"'{PROGRAM}' mechanisms >&-"], capture_output=True, check=False)
    assert closed.returncode == OUTPUT
    closed = subprocess.run(["sh", "-c", f"'{PROGRAM}' predict '{model}' <&-"], capture_output=True, check=False)
    assert closed.returncode == NO_INPUT and b"standard input cannot be read" in closed.stderr
