"""Models of running text: trained, asked, judged."""
import json
import math
import random

import pytest
from heed_program import from_json, heed, run
from story_model import train_story

WORDS = ["the cat sat", "a dog ran", "the bird flew", "a fish swam"]
ENDS = {"the cat sat": " on the mat.", "a dog ran": " in the park.", "the bird flew": " to the tree.",
        "a fish swam": " in the sea."}


def story(count, seed):
    rng = random.Random(seed)
    return "".join(first + ENDS[first] + "\n" for first in rng.choices(WORDS, k=count))


def sets(*keys):
    return [word for key in keys for word in ("--set", key)]


KINDS = {
    "transformer": ["model.kind=transformer", "attention.heads=2"],
    "key_value": ["model.kind=rnn", "model.cell=lstm", "attention.structure=key_value"],
    "plain": ["model.kind=rnn", "model.cell=lstm", "model.look_back=none"],
}


@pytest.fixture(name="trained", scope="module", params=KINDS)
def trained_models(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("text")
    (folder / "story.txt").write_text(story(600, 1))
    done = heed("train", str(folder / "story.txt"), "--output", str(folder / "model"), "--threads", "1",
                *sets("model.width=32", "model.context=64", "model.layers=1", "train.batch_tokens=512",
                      "train.learning_rate=0.01", "model.dropout=0", "data.documents=line", "stop.epochs=8",
                      *KINDS[request.param]))
    assert done.returncode == 0, done.stderr
    return request.param, str(folder / "model"), folder


def test_it_goes_on_with_a_text(trained):
    _, model, _ = trained
    lines = [first + ENDS[first][:4] for first in WORDS]
    said = run("predict", model, given="\n".join(lines).encode() + b"\n").stdout.decode().splitlines()
    assert [line + more for line, more in zip(lines, said)] == [first + ENDS[first] for first in WORDS]
    beam = run("predict", model, "--beam", "3", given=lines[0].encode()).stdout.decode().strip("\n")
    assert lines[0] + beam == WORDS[0] + ENDS[WORDS[0]]


def test_ways_to_decode(trained):
    _, model, _ = trained
    asked = b"the cat sat\na dog ran\n"
    for line in run("predict", model, "--must", "sea", "--must-not", "m", given=asked).stdout.decode().splitlines():
        assert "sea" in line and "m" not in line
    done = run("predict", model, "--prefix", "the", given=asked)
    assert done.returncode == 64 and b"--prefix is for models that read a source" in done.stderr
    plain = run("predict", model, given=asked).stdout
    assert run("predict", model, "--ensemble", model, given=asked).stdout == plain
    drawn = run("predict", model, "--sample", "--distinct", "--nbest", 4, "--json", given=asked).stdout.splitlines()
    assert all(len({o["output"] for o in json.loads(line)["outputs"]}) == 4 for line in drawn)


def test_an_ensemble_scores_as_its_models(trained):
    _, model, folder = trained
    (folder / "few.txt").write_text("the cat sat on the mat.\na dog ran\n")
    alone = run("score", model, folder / "few.txt").stdout.decode().split()
    twice = run("score", model, folder / "few.txt", "--ensemble", model).stdout.decode().split()
    assert len(alone) == 4
    for a, b in zip(alone, twice):
        assert abs(float(a) - float(b)) < 2e-3
    done = run("evaluate", model, folder / "few.txt", "--ensemble", model)
    assert done.returncode == 64 and b"--ensemble" in done.stderr


def test_what_is_written_is_shown_as_it_comes(trained):
    _, model, _ = trained
    asked = b"the cat sat on\na dog\n"
    assert run("predict", model, "--stream", given=asked).stdout == run("predict", model, given=asked).stdout
    both = heed("predict", model, "--stream", "--json", given=asked)
    assert both.returncode == 64 and "--stream" in both.stderr


def test_a_beginning_may_be_empty_and_samples_repeat(trained):
    _, model, _ = trained
    first, again = (run("predict", model, "--sample", "--seed", "5", given=b"\n\n").stdout for _ in range(2))
    assert first == again and len(first.decode().splitlines()) == 2
    assert first.decode().startswith(("the ", "a "))


def test_a_text_is_judged(trained):
    _, model, folder = trained
    (folder / "other.txt").write_text(story(100, 2))
    found = from_json("evaluate", model, str(folder / "other.txt"), "--json")
    assert found["characters"] == found["tokens"] == len(story(100, 2)) and found["lines"] == 100
    # The only choice is the first word of a line: log2 4 bits a line.
    best = 2 * 100 / found["characters"]
    assert best * 0.9 < found["bits_per_character"] < best * 1.5 + 0.02
    assert math.isclose(found["perplexity"], 2 ** found["bits_per_character"], rel_tol=1e-6)
    valid = from_json("evaluate", model, "--valid", "--json")
    assert abs(valid["bits_per_character"] - found["bits_per_character"]) < 0.05
    log = [json.loads(line) for line in (folder / "model" / "log.jsonl").read_text().splitlines()]
    assert all("bits_per_character" in line for line in log if line["event"] == "validated")


def test_lines_are_scored_by_themselves(trained):
    _, model, folder = trained
    (folder / "two.txt").write_text("the cat sat on the mat.\nthe cat sat in the sea.\n")
    lines = [json.loads(line) for line in run("score", model, str(folder / "two.txt"), "--json", "--per-token")
             .stdout.decode().splitlines()]
    assert lines[0]["log_probability"] > lines[1]["log_probability"] + 3
    assert len(lines[0]["tokens"]) == 24 and lines[0]["tokens"][-1] == "</s>"
    assert math.isclose(lines[0]["perplexity"], math.exp(-lines[0]["log_probability"] / 24), rel_tol=1e-6)
    plain = run("score", model, str(folder / "two.txt")).stdout.decode().splitlines()
    assert [len(line.split("\t")) for line in plain] == [2, 2]
    # What follows a beginning: the rest of the sum.
    (folder / "begin.txt").write_text("the cat sat on\n")
    (folder / "rest.txt").write_text(" the mat.\n")
    rest = json.loads(run("score", model, str(folder / "begin.txt"), str(folder / "rest.txt"), "--json").stdout)
    assert math.isclose(rest["log_probability"], sum(lines[0]["token_log_probabilities"][14:]), abs_tol=2e-3)


def test_long_and_odd_texts(trained, tmp_path):
    _, model, _ = trained
    (tmp_path / "long.txt").write_bytes(("the cat " * 2000 + "\n\n\u00fc\n").encode() + b"\xff\xfe bad\n")
    done = heed("evaluate", model, str(tmp_path / "long.txt"), "--json")
    assert done.returncode == 0 and "1 of 3 lines left out" in done.stderr
    found = json.loads(done.stdout)
    assert found["tokens"] == 16001 + 2 and found["unknown"] == 1
    scored = run("score", model, str(tmp_path / "long.txt")).stdout.decode().splitlines()
    assert len(scored) == 4 and scored[3] == ""
    for content in (b"", b"\n\n"):
        (tmp_path / "empty.txt").write_bytes(content)
        done = heed("evaluate", model, str(tmp_path / "empty.txt"))
        assert done.returncode == 65 and "empty.txt" in done.stderr


def test_what_does_not_fit_is_refused(trained, tmp_path):
    _, model, _ = trained
    assert "--metric" in heed("evaluate", model, "x.txt", "--metric", "bleu").stderr
    assert "--copy-unknown" in heed("predict", model, "--copy-unknown", given=b"x\n").stderr
    (tmp_path / "none.txt").write_text("")
    done = heed("train", str(tmp_path / "none.txt"), "--output", str(tmp_path / "m"))
    assert done.returncode == 65 and "none.txt" in done.stderr


@pytest.mark.parametrize("accumulate", [1, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_a_resumed_training_is_the_same(kind, accumulate, tmp_path):
    (tmp_path / "story.txt").write_text(story(200, 1))
    keys = sets("model.width=16", "model.context=16", "model.layers=1", "train.batch_tokens=128", "validate.every=7",
                "train.schedule=constant", f"train.accumulate={accumulate}", *KINDS[kind])
    for steps, folder in [(20, "whole"), (11, "parts")]:
        done = heed("train", str(tmp_path / "story.txt"), "--threads", "1", "--output", str(tmp_path / folder), *keys,
                    "--set", f"stop.steps={steps}")
        assert done.returncode == 0, done.stderr
    done = heed("train", str(tmp_path / "story.txt"), "--threads", "1", "--resume", "--output", str(tmp_path / "parts"),
                *keys, "--set", "stop.steps=20")
    assert done.returncode == 0, done.stderr
    weights = [(tmp_path / folder / "step-000020" / "weights.safetensors").read_bytes() for folder in ("whole", "parts")]
    assert weights[0] == weights[1]


def test_the_end_of_a_single_line_is_held_out(tmp_path):
    keys = ["model.kind=rnn", "model.width=8", "model.context=16", "stop.steps=3", "data.text_tokens=characters"]
    for name, content, documents in (("one", "abcd " * 40, "file"), ("two", "ab\n" + "abcd " * 40 + "\n", "file"),
                                     ("line", "abcd " * 40 + "\n", "line")):
        (tmp_path / f"{name}.txt").write_text(content)
        done = heed("train", str(tmp_path / f"{name}.txt"), "--output", str(tmp_path / name), "--threads", "1", *sets(*keys),
                    "--set", f"data.documents={documents}")
        assert done.returncode == 0, done.stderr
        log = [json.loads(line) for line in (tmp_path / name / "log.jsonl").read_text().splitlines()]
        assert any(line["event"] == "validated" for line in log)
    (tmp_path / "short.txt").write_text("a")
    done = heed("train", str(tmp_path / "short.txt"), "--output", str(tmp_path / "short"), *sets(*keys))
    assert done.returncode == 65 and "short.txt" in done.stderr


def test_each_line_gives_one_line_though_outputs_have_several(tmp_path):
    model = train_story(tmp_path / "lines")
    asked = b"the cat\na dog\n"
    for options in ([], ["--nbest", 3], ["--scores"]):
        draw = ["predict", model, "--sample", "--seed", 3, "--max-length", 60, *options]
        plain = run(*draw, given=asked).stdout.decode()
        assert plain.count("\n") == 2 and plain.endswith("\n")
        kept = [json.loads(line) for line in run(*draw, "--json", given=asked).stdout.decode().splitlines()]
        outputs = [o["output"] for line in kept for o in line.get("outputs", [line])]
        assert any("\n" in output for output in outputs)
        fields = [field for line in plain.splitlines() for field in line.split("\t")]
        said = fields[1::2] if "--scores" in options else fields
        assert [field.replace("\\n", "\n") for field in said] == outputs
    shown = run("predict", model, "--sample", "--seed", 3, "--max-length", 60, "--stream", given=asked).stdout.decode()
    assert shown.count("\n") > 2  # as it was written, for readers


def test_a_backslash_is_told_from_a_newline(tmp_path):
    (tmp_path / "code.txt").write_text("a\\nb\n" * 300)
    done = heed("train", str(tmp_path / "code.txt"), "--output", str(tmp_path / "code"), "--threads", "1",
                *sets("model.kind=rnn", "model.look_back=none", "model.width=16", "model.context=32", "model.layers=1",
                      "train.learning_rate=0.02", "stop.steps=60"))
    assert done.returncode == 0, done.stderr
    draw = ["predict", tmp_path / "code", "--max-length", 10]
    plain = run(*draw, given=b"a").stdout.decode()
    kept = json.loads(run(*draw, "--json", given=b"a").stdout)["output"]
    assert "\\" in kept and "\n" in kept and plain.count("\n") == 1
    assert plain.rstrip("\n") == kept.replace("\\", "\\\\").replace("\n", "\\n")


def test_where_lines_are_documents_no_line_is_begun(tmp_path):
    model = train_story(tmp_path / "documents", "data.documents=line")
    drawn = run("predict", model, "--sample", "--temperature", 5, "--nbest", 100, "--max-length", 30, "--json",
                given=b"the cat\n").stdout
    for output in json.loads(drawn)["outputs"]:
        assert not {"<s>", "<unk>"} & set(output["tokens"]) and "\n" not in output["output"]
