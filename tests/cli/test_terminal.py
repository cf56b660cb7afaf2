# slow: 6 s
"""What others wrote (data, names, arguments) cannot control a terminal: it is made visible; and files get every byte."""
import json
import os
import pty
import re
import subprocess
import termios

import pytest
from heed_program import PROGRAM, SOURCE, small_recipe, train_small

ODD = "\x1b]0;owned\x07\x1b[2J\r\x9b31m\u202edlrow\u202c\u2066x\u2069\u2068y\u2069\x7f"
FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufffd]")
# What heed itself tells a terminal: colours, and erasing what it drew. (A newline becomes \r\n in a terminal.)
OWN = re.compile("\x1b\\[(?:[0-9;]*m|K|J|[0-9]+A)|\r")
ISOLATED = re.compile("\u2068([^\u2066-\u2069\n]*)\u2069")  # right-to-left text in its place


def both_streams(*arguments, given=b"", cwd=None, colours=False):
    """Everything that a run shows on a terminal, which is its standard output and error."""
    master, slave = pty.openpty()
    mode = termios.tcgetattr(slave)
    mode[1] &= ~termios.OPOST  # \n as it is written
    termios.tcsetattr(slave, termios.TCSANOW, mode)
    clean = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLUMNS", "COLORTERM")}
    if not colours:
        clean["NO_COLOR"] = "1"
    with subprocess.Popen([PROGRAM, *map(os.fsencode, arguments)], stdin=subprocess.PIPE, stdout=slave, stderr=slave,
                          cwd=cwd, env={**clean, "TERM": "xterm"}) as process:
        os.close(slave)
        process.stdin.write(given)
        process.stdin.close()
        said = b""
        while True:
            try:
                part = os.read(master, 65536)
            except OSError:
                break
            if not part:
                break
            said += part
    os.close(master)
    assert process.returncode >= 0
    return said


def expect_harmless(said, shown="\\x1b"):
    """Only heed's own orders are left, and the odd text can be read."""
    text = said.decode("utf-8", errors="replace")
    ours = ISOLATED.sub("\\1", OWN.sub("", text))
    left = FORBIDDEN.findall(ours)
    assert not left, (left, text)
    for dangerous in ("\x1b[2J", "\x1b[31m", "\x1b]"):
        assert dangerous not in text
    assert "\r\\x" not in text
    if shown:
        assert shown in text, text


@pytest.fixture(name="labels", scope="session")
def label_model(tmp_path_factory):
    """Texts and labels with escapes."""
    folder = tmp_path_factory.mktemp("labels")
    rows = "".join(f"good {i} {ODD}\tyes\u202e{i % 2}\nbad {i} {ODD}\tno\x1b[2J\n" for i in range(40))
    (folder / "data.tsv").write_text(rows)
    said = both_streams("train", "data.tsv", "--output", "model", "--set", "stop.steps=2", "--set", "model.task=classification",
                        "--threads", "1", cwd=folder)
    assert (folder / "model").is_dir(), said
    return folder, said


@pytest.fixture(name="odd_folder", scope="session")
def model_in_an_odd_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / f"m{ODD}".replace("/", "")
    return train_small(folder, "stop.steps=2")


def test_arguments(model, tmp_path):
    dates = SOURCE / "recipes" / "dates" / "parallel.toml"
    for arguments in ((ODD,), ("predict", ODD), ("predict", model, ODD), ("predict", model, f"--{ODD}"),
                      ("predict", model, "--beam", ODD), ("predict", model, "--checkpoint", ODD),
                      ("train", ODD), ("train", ODD, ODD), ("train", dates, "--set", ODD),
                      ("evaluate", model, ODD), ("score", model, ODD), ("mechanisms", ODD), ("info", ODD),
                      ("compare", ODD), ("distill", ODD, ODD, "--output", tmp_path / "d"), ("serve", ODD),
                      ("export", ODD, "--output", tmp_path / "e"), ("average", ODD, "--output", tmp_path / "a"),
                      ("look", model, "ab", "--html", f"{tmp_path}/none/{ODD}"),
                      ("train", dates, "--set", f"model.width={ODD}"), ("train", dates, "--set", f"{ODD}=1"), ("demo", "--folder", f"{tmp_path}/file{ODD}/x"),
                      ("scenes", f"{tmp_path}/none/{ODD}", "--count", ODD)):
        (tmp_path / f"file{ODD}").touch()
        said = both_streams(*arguments)
        expect_harmless(said, "" if arguments[0] in ("demo", "scenes", "distill") else "\\x1b")


def test_arguments_that_are_no_text(model):
    said = both_streams("predict", model, b"\xff\xfe\x9b")
    expect_harmless(said, "\\xff\\xfe\\x9b")


def test_folder_names(odd_folder):
    for arguments in (("info", odd_folder), ("train", "--resume", "--output", odd_folder),
                      ("predict", odd_folder, "--checkpoint", "none"),
                      ("average", odd_folder, "--output", odd_folder / "mean"), ("look", odd_folder, "ab"),
                      ("export", odd_folder, "--output", odd_folder / "one.heed")):
        expect_harmless(both_streams(*arguments, given=b"ab\n"), "")


def test_recipes(tmp_path):
    escaped = "\\u001b[2J\\u202e\\u0000after"
    for number, toml in enumerate((f'"{escaped}" = 1\n', f'[model]\nkind = "{escaped}"\n', f'["{escaped}"]\nx = 1\n',
                                   f'[model]\nwidth = "{escaped}"\n', "[model]\nwidth = \x1b[2J\n")):
        recipe = tmp_path / f"{number}.toml"
        recipe.write_text(toml)
        said = both_streams("train", recipe, "--output", tmp_path / "out")
        expect_harmless(said, "\\x1b[2J" if number < 4 else "")
        if number < 4:
            assert b"\\x00after" in said, said  # what follows a NUL is not lost


def test_data_in_training(labels, tmp_path):
    _, said = labels
    expect_harmless(said, "")
    rows = "".join(f"a{ODD}{i}\tb{ODD}\n" for i in range(60))
    (tmp_path / "pairs.tsv").write_text(rows + f"only one {ODD}\n")
    (tmp_path / "recipe.toml").write_text(small_recipe(data={"task": "none", "tsv": "pairs.tsv", "held_out": 0.2},
                                                       stop={"steps": 2}, validate={"every": 1, "decode": 5}))
    expect_harmless(both_streams("train", "recipe.toml", "--output", "out", "--threads", "1", cwd=tmp_path), "\\x1b")


def test_data_in_reports(model, labels, tmp_path):
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text(f"ab{ODD}\tba{ODD}\nshalom \u05e9\u05dc\u05d5\u05dd{ODD}\t\u05e9\u05dc\u05d5\u05dd\n")
    expect_harmless(both_streams("evaluate", model, pairs, "--errors"))
    expect_harmless(both_streams("evaluate", model, pairs, "--errors", "--json"), "\\u202e")
    expect_harmless(both_streams("score", model, pairs, "--json"), "\\u202e")
    hypotheses = tmp_path / "out.txt"
    hypotheses.write_text(f"x{ODD}\ny\n")
    references = tmp_path / "right.txt"
    references.write_text(f"z{ODD}\ny\n")
    expect_harmless(both_streams("evaluate", hypotheses, references, "--errors"))
    folder, _ = labels
    expect_harmless(both_streams("evaluate", folder / "model", folder / "data.tsv", "--errors"))
    expect_harmless(both_streams("predict", folder / "model", given=f"good {ODD}\n".encode()), "")


def test_lines(model):
    line = f"ab{ODD}\n".encode()
    for more in ((), ("--json",), ("--nbest", "2", "--beam", "2"), ("--alignments=picture",), ("--stream",)):
        expect_harmless(both_streams("predict", model, *more, given=line), "")
    expect_harmless(both_streams("predict", model, given=b"ab\xff\x1b\n"), "")


def test_look(model):
    for more in ((), ("--target", f"ba{ODD}"), ("--json",), ("--beam", "2")):
        expect_harmless(both_streams("look", model, f"ab{ODD}", *more), "")


def test_picture_names(tmp_path):
    names = [f"none{ODD}.png", f"x\x1b[2J{tmp_path.name}.png"]
    (tmp_path / "pairs.tsv").write_text("".join(f"{name}\ta circle\n" for name in names) * 20)
    (tmp_path / "recipe.toml").write_text("[data]\ntsv = 'pairs.tsv'\nheld_out = 0.1\n[model]\ntask = 'image'\n")
    said = both_streams("train", "recipe.toml", "--output", "out", cwd=tmp_path)
    expect_harmless(said)


def test_files_get_every_byte(labels, tmp_path):
    """Not a terminal: what a label is called is written as it is."""
    folder, _ = labels
    done = subprocess.run([PROGRAM, "predict", folder / "model"], input="bad 1\ngood 3\n".encode(), capture_output=True,
                          check=False, timeout=60)
    assert done.returncode == 0
    names = {line.decode() for line in done.stdout.split(b"\n") if line}
    assert names <= {"no\x1b[2J", "yes\u202e0", "yes\u202e1"} and b"\\x" not in done.stdout
    said = both_streams("predict", folder / "model", given=b"bad 1\ngood 3\n")
    expect_harmless(said, "")
    assert {"no\\x1b[2J" if "no" in n else n.replace("\u202e", "\\u202e") for n in names} == set(
        said.decode().split("\n")) - {""}
    report = tmp_path / "errors.tsv"
    subprocess.run([PROGRAM, "evaluate", folder / "model", folder / "data.tsv", f"--errors={report}"],
                   capture_output=True, check=True, timeout=60)
    assert "\x1b[2J" in report.read_text() and "\\x1b" not in report.read_text()


def test_messages_in_files_are_visible():
    done = subprocess.run([PROGRAM, "predict", ODD], capture_output=True, check=False, timeout=60)
    assert b"\\x1b]0;owned\\x07\\x1b[2J\\x0d\\u009b31m\\u202edlrow" in done.stderr


def test_json_on_a_terminal_is_json(model):
    said = both_streams("predict", model, "--json", given=f"ab{ODD}\n".encode())
    line = next(line for line in said.decode().split("\n") if line.startswith("{"))
    assert json.loads(line)["source"] == f"ab{ODD}"


def test_colours_stay(model):
    """Our own orders still come through."""
    said = both_streams("look", model, "ab", colours=True)
    assert b"\x1b[48;" in said and b"\x1b[0m" in said and b"\\x" not in said
