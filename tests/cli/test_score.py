"""heed score: log probabilities of given targets."""
import json
import math
import re

import pytest
from heed_program import DATA, NO_INPUT, USAGE, answers, run

SOURCES = ["abc", "hello", "a", "zyx wvu", "deed", "reverse"]
TARGETS = ["cba", "olleh", "", "uvw xyz", "something else", "esrever"]


@pytest.fixture(name="files")
def pairs_in_files(tmp_path):
    (tmp_path / "source").write_text("".join(s + "\n" for s in SOURCES))
    (tmp_path / "target").write_text("".join(t + "\n" for t in TARGETS))
    (tmp_path / "tsv").write_text("".join(f"{s}\t{t}\n" for s, t in zip(SOURCES, TARGETS)))
    return tmp_path


def test_three_ways_to_give_pairs(model, files):
    two = run("score", model, files / "source", files / "target")
    assert two.returncode == 0
    scores = [float(line) for line in two.stdout.decode().splitlines()]
    assert len(scores) == len(SOURCES) and all(score < 0 for score in scores)
    assert run("score", model, files / "tsv").stdout == two.stdout
    assert run("score", model, "-", given=(files / "tsv").read_bytes()).stdout == two.stdout
    assert run("score", model, files / "source", "-", given=(files / "target").read_bytes()).stdout == two.stdout
    tokens = sum(len(t) + 1 for t in TARGETS)
    total, unknown = two.stderr.decode().splitlines()
    said = re.fullmatch(r"heed: 6 pairs, (\d+) tokens, log probability (-[\d.]+), perplexity ([\d.]+)", total)
    assert unknown.startswith("heed: 2 of 6 lines contain a character the model never saw: U+0020; ")
    assert int(said[1]) == tokens
    assert float(said[2]) == pytest.approx(sum(scores), abs=1e-3)
    assert float(said[3]) == pytest.approx(math.exp(-sum(scores) / tokens), abs=1e-3)


def test_per_token(model, files):
    for line, target in zip(run("score", model, files / "tsv", "--per-token").stdout.decode().splitlines(), TARGETS):
        total, tokens = line.split("\t")
        assert len(tokens.split()) == len(target) + 1
        assert sum(map(float, tokens.split())) == pytest.approx(float(total), abs=1e-4)
    for line, target in zip(run("score", model, files / "tsv", "--per-token", "--json").stdout.splitlines(), TARGETS):
        said = json.loads(line)
        assert said["target"] == target
        assert said["tokens"] == ["<unk>" if c == " " else c for c in target] + ["</s>"]  # it never saw a blank
        assert sum(said["token_log_probabilities"]) == pytest.approx(said["log_probability"], abs=1e-4)


def test_what_a_search_says_of_its_outputs(model):
    lines = [json.loads(line) for line in answers("predict", model, "--json", "--nbest", "3", given="abc\nhello\nq\n")]
    pairs = [(line["source"], o) for line in lines for o in line["outputs"] if o["finished"]]
    assert len(pairs) >= 3
    given = "".join(f"{source}\t{o['output']}\n" for source, o in pairs).encode()
    for said, (_, output) in zip(run("score", model, "-", given=given).stdout.split(b"\n"), pairs):
        assert float(said) == pytest.approx(output["log_probability"], abs=2e-4)


def test_bad_pairs_are_named_and_shift_nothing(model):
    good = run("score", model, "-", given=b"abc\tcba\n").stdout.decode()
    done = run("score", model, "-", given=b"abc\tcba\nno tab\na\xff\tb\n\tempty\na\tb\xff\nabc\tcba\textra\n")
    assert done.returncode == 0
    assert done.stdout.decode() == good + "\n\n\n\n" + good
    said = done.stderr.decode()
    for text in ("line 2: there is no tab", "line 3: byte 2 is not valid UTF-8", "line 4: the source is empty",
                 "line 5: byte 2 is not valid UTF-8", "2 pairs", "4 could not be scored"):
        assert text in said


def test_pairs_that_the_model_has_no_places_for(placed):
    done = run("score", placed, "-", given=b"a\t" + b"b" * 40 + b"\na\t" + b"b" * 39 + b"\n")
    first, second = done.stdout.decode().splitlines()
    assert first == "" and float(second) < 0
    assert "line 1: 41 tokens are too many: the model has positions for 40" in done.stderr.decode()


@pytest.mark.parametrize("arguments, code, says", [
    ((), USAGE, "score: MODEL is required"),
    (("MODEL",), USAGE, "score: SOURCE is required"),
    (("MODEL", "-", "-"), USAGE, "only one of the two can be standard input"),
    (("MODEL", "gone.tsv"), NO_INPUT, "there is no file 'gone.tsv'"),
    (("gone", "-"), NO_INPUT, "there is no model 'gone'"),
    (("DAMAGED", "-"), DATA, "has changed"),
    (("MODEL", "FILES/source", "FILES/short"), DATA, "has more lines"),
    (("MODEL", "FILES/short", "FILES/source"), DATA, "has 1 lines"),
    (("MODEL", "-", "--per-tokn"), USAGE, "did you mean '--per-token'?"),
])
def test_wrong_usage(model, damaged, files, arguments, code, says):
    # pylint: disable=too-many-arguments
    (files / "short").write_text("abc\n")
    there = {"MODEL": str(model), "DAMAGED": str(damaged)}
    done = run("score", *[there.get(a, a.replace("FILES", str(files))) for a in arguments])
    assert done.returncode == code, done.stderr
    assert says in done.stderr.decode() and done.stderr.startswith(b"heed: ")


def test_what_the_model_never_saw_is_told(model):
    done = run("score", model, "-", given="abc\tcba\nwäre\terew\nab\tbÖa\n".encode())
    assert done.returncode == 0 and len(done.stdout.splitlines()) == 3
    assert done.stderr.decode().splitlines()[-1] == ("heed: 2 of 3 lines contain characters the model never saw: ä, Ö; "
                                                     "their scores are a guess")
    assert b"never saw" not in run("score", model, "-", given=b"abc\tcba\n").stderr
