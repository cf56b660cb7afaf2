"""What a token of a running text sees is the same wherever it is asked for, and depends on no other line."""
import json
import math
import random

import pytest
from heed_program import SOURCE, USAGE, from_json, heed, run
from heed_server import Server

CONTEXT = 16
KINDS = {
    "transformer": ["model.kind=transformer", "model.positions=rotary", "attention.heads=2"],
    "learned": ["model.kind=transformer", "model.positions=learned", "model.max_length=16", "attention.heads=2"],
    "intra": ["model.kind=rnn", "model.cell=gru", "attention.score=intra"],
    "key_value": ["model.kind=rnn", "model.cell=lstm", "attention.structure=key_value", "attention.window=20"],
}


@pytest.fixture(name="trained", scope="module", params=KINDS)
def trained_models(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("windows")
    rng = random.Random(1)
    (folder / "text.txt").write_text("".join("".join(rng.choices("abcd ", k=rng.randint(10, 60))) + "\n"
                                             for _ in range(80)))
    keys = ["model.width=16", f"model.context={CONTEXT}", "model.layers=2", "train.batch_tokens=256",
            "data.documents=line", "stop.steps=12", "train.learning_rate=0.01", *KINDS[request.param]]
    done = heed("train", str(folder / "text.txt"), "--output", str(folder / "model"), "--threads", "1",
                *[word for key in keys for word in ("--set", key)])
    assert done.returncode == 0, done.stderr
    return request.param, str(folder / "model"), folder


def lines_of(seed, lengths=(3, 15, 16, 17, 40, 90, 200)):
    rng = random.Random(seed)
    return ["".join(rng.choices("abcd ", k=k)) for k in lengths]


def scores(model, folder, lines, *options):
    (folder / "lines.txt").write_text("".join(line + "\n" for line in lines))
    done = run("score", model, folder / "lines.txt", "--json", "--per-token", *options)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.decode().splitlines()]


def test_a_line_depends_on_no_other(trained):
    _, model, folder = trained
    lines = lines_of(2)
    together = [found["token_log_probabilities"] for found in scores(model, folder, lines)]
    backwards = [found["token_log_probabilities"] for found in scores(model, folder, lines[::-1])][::-1]
    alone = [scores(model, folder, [line])[0]["token_log_probabilities"] for line in lines]
    for one, other, third in zip(together, backwards, alone):
        assert one == pytest.approx(other, abs=2e-5) and one == pytest.approx(third, abs=2e-5)
    # A longer line begins as a shorter one does.
    part = scores(model, folder, [lines[-1][:70]])[0]["token_log_probabilities"][:70]
    assert part == pytest.approx(together[-1][:70], abs=2e-5)


def test_a_file_is_the_sum_of_its_lines(trained):
    _, model, folder = trained
    lines = lines_of(3)
    parts = scores(model, folder, lines)
    whole = from_json("evaluate", model, str(folder / "lines.txt"), "--json")
    assert whole["tokens"] == sum(len(line) + 1 for line in lines)
    assert math.isclose(whole["log_probability"], sum(each["log_probability"] for each in parts), rel_tol=1e-5)
    (folder / "lines.txt").write_text("".join(line + "\n" for line in lines[::-1]))
    other = from_json("evaluate", model, str(folder / "lines.txt"), "--json")
    assert math.isclose(whole["log_probability"], other["log_probability"], rel_tol=1e-6)


def test_what_is_written_is_what_is_scored(trained):
    kind, model, folder = trained
    for options in [(), *([("--stride", 5), ("--stride", CONTEXT)] if kind in ("transformer", "learned") else [])]:
        for seed in range(30):  # until one is long enough to need several windows
            done = run("predict", model, "--sample", "--top-k", 3, "--seed", seed, "--max-length", 70, "--json", "--scores", *options,
                       given=b"ab c\n")
            assert done.returncode == 0, done.stderr
            said = json.loads(done.stdout)
            if len(said["tokens"]) > 3 * CONTEXT and set(said["tokens"]) <= set("abcd "):
                break
        else:
            pytest.fail("no sample is long")
        (folder / "begin.txt").write_text("ab c\n")
        (folder / "rest.txt").write_text(said["output"] + "\n")
        done = run("score", model, folder / "begin.txt", folder / "rest.txt", "--json", "--per-token", *options)
        found = json.loads(done.stdout)["token_log_probabilities"]
        written = said["token_log_probabilities"]
        assert written == pytest.approx(found[:len(written)], abs=1e-4), (kind, options)


def test_the_stride_is_a_choice_between_context_and_speed(trained):
    kind, model, folder = trained
    line = lines_of(4, [100])
    if kind not in ("transformer", "learned"):
        for arguments in (["score", model, folder / "lines.txt"], ["evaluate", model, folder / "lines.txt"], ["predict", model]):
            scores(model, folder, line)
            done = run(*arguments, "--stride", 4)
            assert done.returncode == USAGE and b"--stride 4" in done.stderr and b"rnn" in done.stderr
        return
    usual = scores(model, folder, line)[0]
    half = scores(model, folder, line, "--stride", CONTEXT // 2)[0]
    assert usual == half
    full, one = (scores(model, folder, line, "--stride", n)[0]["token_log_probabilities"] for n in (CONTEXT, 1))
    assert full[:CONTEXT] == one[:CONTEXT] and full[CONTEXT:] != one[CONTEXT:]
    judged = from_json("evaluate", model, str(folder / "lines.txt"), "--stride", "1", "--json")
    assert math.isclose(judged["log_probability"], sum(one), rel_tol=1e-5)
    for wrong in ("0", str(CONTEXT + 1)):
        assert heed("score", model, str(folder / "lines.txt"), "--stride", wrong).returncode == USAGE
    assert "--valid" in heed("evaluate", model, "--valid", "--stride", "4").stderr


def test_the_stride_is_for_texts():
    model = SOURCE / "tests/compat/0.1/pairs_rnn/checkpoint"
    for arguments in (["predict", model], ["score", model, "-"]):
        done = run(*arguments, "--stride", 4, given=b"12\tone two\n")
        assert done.returncode == USAGE and b"--stride 4 is for models of running text" in done.stderr


def test_look_shows_all_of_a_long_text(trained):
    _, model, folder = trained
    for given in ("a b " * 12, "", "\n"):
        document = folder / "looked.json"
        done = heed("look", model, given, "--max-length", "100", "--json", str(document))
        assert done.returncode == 0, done.stderr
        example = json.loads(document.read_text())["examples"][0]
        tokens = example["sequences"]["text"]["tokens"]
        assert len(tokens) > len(given.strip("\n")) and example["maps"]
        for attention in example["maps"]:
            assert attention["rows"] == attention["cols"] == len(tokens)


def test_the_server_sees_the_same(trained):
    kind, model, folder = trained
    line = lines_of(6, [60])[0]
    with Server(model, "--threads", "1") as server:
        for stride in (None, 5, CONTEXT) if kind in ("transformer", "learned") else (None,):
            option, member = (["--stride", stride], {"stride": stride}) if stride else ([], {})
            said = server.post("/v1/score", {"target": line, **member}).json
            assert said["log_probability"] == scores(model, folder, [line], *option)[0]["log_probability"]
            looked = server.post("/v1/attention", {"input": line, "max_length": 30, **member})
            assert looked.status == 200, looked.text
            assert looked.json["examples"][0]["maps"][0]["rows"] > 60
        wrong = server.post("/v1/score", {"target": line, "stride": CONTEXT + 1})
        assert wrong.status == 400 and "stride" in wrong.text
