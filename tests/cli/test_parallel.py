"""Models that write all positions at once, as a user has them."""
import json

import pytest
from heed_program import CONFIG, DATA, USAGE, answers, from_json, heed, run, small_recipe, text, train_small, weights

PARALLEL = ("model.kind=transformer", "model.decoder=parallel", "model.max_length=32", "attention.score=scaled_dot")


@pytest.fixture(name="parallel", scope="module")
def parallel_model(tmp_path_factory):
    return train_small(tmp_path_factory.mktemp("models") / "parallel", *PARALLEL)


@pytest.fixture(name="slots", scope="module")
def model_with_slots(tmp_path_factory):
    return train_small(tmp_path_factory.mktemp("models") / "slots", *PARALLEL, "model.length=slots", "model.slots=24")


SOURCES = "abc\n12345\n\nzyxwv9\n"


@pytest.mark.parametrize("kind", ["parallel", "slots"])
def test_lines_are_answered_alone_as_together(kind, request):
    model = request.getfixturevalue(kind)
    together = answers("predict", model, "--scores", given=SOURCES)
    assert len(together) == 4 and together[2] == ""
    alone = [line for source in SOURCES.splitlines()
             for line in answers("predict", model, "--scores", "--threads", "1", given=source + "\n")]
    assert alone == together


def test_a_stream_prints_what_does_not_change_any_more(parallel):
    assert answers("predict", parallel, "--stream", given=SOURCES) == answers("predict", parallel, given=SOURCES)


def test_options(parallel):
    once = answers("predict", parallel, "--iterations", "1", "--lengths", "1", given=SOURCES)
    assert len(once) == 4
    several = answers("predict", parallel, "--nbest", "5", "--lengths", "6", "--json", given="abc\n")
    outputs = json.loads(several[0])["outputs"]
    assert len(outputs) == 5 and len({len(output["tokens"]) for output in outputs}) == 5
    scores = [output["score"] for output in outputs]
    assert scores == sorted(scores, reverse=True)


def test_alignments(parallel):
    found = json.loads(answers("predict", parallel, "--json", "--alignments=matrix", given="abcd\n")[0])
    assert len(found["alignment"]) == len(found["tokens"])
    for row in found["alignment"]:
        assert len(row) == 4 and sum(row) == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize("options, message", [
    (["--beam", "3"], "--beam 3 is for models that write step by step"),
    (["--sample"], "--sample is for models that write step by step"),
    (["--length-penalty", "1"], "--length-penalty 1 is for models that write step by step"),
    (["--coverage", "0.2"], "--coverage 0.2 is for models that write step by step"),
    (["--nbest", "4", "--lengths", "3"], "--nbest 4 needs lengths of at least 4, not 3"),
])
def test_options_of_other_models_are_refused(parallel, options, message):
    done = heed("predict", str(parallel), *options)
    assert done.returncode == USAGE and message in done.stderr


@pytest.mark.parametrize("options, message", [
    (["--iterations", "3"], "--iterations 3 is for models that write all positions at once"),
    (["--lengths", "2"], "--lengths 2 is for models that write all positions at once"),
])
def test_its_options_are_refused_by_others(model, options, message):
    done = heed("predict", str(model), *options)
    assert done.returncode == USAGE and message in done.stderr


def test_slots_have_one_length(slots):
    for options in (["--lengths", "2"], ["--nbest", "2"]):
        done = heed("predict", str(slots), *options)
        assert done.returncode == USAGE and 'model.length = "slots"' in done.stderr


def test_one_pass_has_the_probability_that_score_gives(parallel):
    """With all blank the passes of predict and score are the same."""
    for line in answers("predict", parallel, "--iterations", "1", "--json", "--scores", given="abc\nhello\n"):
        found = json.loads(line)
        pair = f"{found['source']}\t{found['output']}\n"
        scored = run("score", parallel, "-", given=pair.encode()) if found["output"] else None
        if scored is None:
            continue
        assert scored.returncode == 0, scored.stderr
        assert float(scored.stdout.split()[0]) == pytest.approx(found["log_probability"], abs=1e-3)


@pytest.mark.parametrize("kind, rows", [("parallel", 3), ("slots", 24)])
def test_look(kind, rows, request):
    found = from_json("look", str(request.getfixturevalue(kind)), "abcd", "--target", "xyz", "--json", "-")
    example = found["examples"][0]
    sequences = {name: sequence["tokens"] for name, sequence in example["sequences"].items()}
    assert len(sequences["source"]) == 4 and len(sequences["written"]) == rows
    assert sequences["written"][:3] == list("xyz")


def test_evaluate_export_and_info(parallel, tmp_path):
    exported = tmp_path / "parallel.heed"
    text("export", str(parallel), "--output", str(exported))
    assert (answers("predict", exported, "--scores", given=SOURCES)
            == answers("predict", parallel, "--scores", given=SOURCES))
    assert "parallel" in text("info", str(parallel))
    found = from_json("evaluate", str(parallel), "--valid", "--metric", "cer", "--json", "--iterations", "2")
    assert found["metrics"][0]["score"] > 0


def test_resumed_training_gives_the_same_bits(tmp_path):
    (tmp_path / "r.toml").write_text(small_recipe())
    settings = [word for setting in PARALLEL + ("stop.steps=40",) for word in ("--set", setting)]
    whole = heed("train", str(tmp_path / "r.toml"), *settings, "--output", str(tmp_path / "whole"))
    assert whole.returncode == 0, whole.stderr
    half = heed("train", str(tmp_path / "r.toml"), *settings, "--set", "stop.steps=20", "--output", str(tmp_path / "half"))
    assert half.returncode == 0, half.stderr
    rest = heed("train", str(tmp_path / "r.toml"), *settings, "--resume", "--output", str(tmp_path / "half"))
    assert rest.returncode == 0, rest.stderr
    name = "step-000040/weights.safetensors"
    assert (tmp_path / "half" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_it_starts_from_a_model_that_writes_step_by_step(tmp_path):
    settings = ("model.kind=transformer", "attention.score=scaled_dot", "stop.steps=10")
    steps = train_small(tmp_path / "steps", *settings)
    (tmp_path / "r.toml").write_text(small_recipe())
    more = [word for setting in PARALLEL + ("stop.steps=1", "train.learning_rate=1e-9") for word in ("--set", setting)]
    done = heed("train", str(tmp_path / "r.toml"), *more, "--from", str(steps), "--output", str(tmp_path / "parallel"))
    assert done.returncode == 0, done.stderr
    said = (done.stdout + done.stderr).replace("\n", " ")
    assert "has no weights target.blank, length.absolute.weight" in said and "they start anew" in said
    before, after = weights(steps / "step-000010"), weights(tmp_path / "parallel" / "step-000001")
    for name, numbers in before.items():
        assert after[name] == pytest.approx(numbers, abs=1e-6), name


def test_targets_longer_than_the_slots_are_named(tmp_path):
    (tmp_path / "r.toml").write_text(small_recipe())
    settings = [word for setting in PARALLEL + ("model.length=slots", "model.slots=3") for word in ("--set", setting)]
    done = heed("train", str(tmp_path / "r.toml"), *settings, "--output", str(tmp_path / "m"))
    assert done.returncode == DATA
    assert "the model writes at most 3" in done.stderr and "model.slots" in done.stderr


def test_attention_that_needs_steps_is_refused(tmp_path):
    (tmp_path / "r.toml").write_text(small_recipe())
    for more, reason in ((("attention.normalise=hard_sampled",), 'decoder = "parallel" has no steps'),
                         (("attention.time=guided", "model.length=slots"), 'use length = "classifier"')):
        settings = [word for setting in (*PARALLEL, *more) for word in ("--set", setting)]
        done = heed("train", str(tmp_path / "r.toml"), *settings, "--output", str(tmp_path / "m"))
        assert done.returncode == CONFIG and reason in done.stderr


@pytest.mark.parametrize("kind", ["parallel", "slots"])
def test_the_user_chooses_the_length(kind, request):
    model = request.getfixturevalue(kind)
    for length in (1, 7):
        for line in answers("predict", model, "--json", "--length", str(length), given="abc\nzyxwv9\n"):
            assert len(json.loads(line)["tokens"]) == length


def test_a_limit_gives_what_fits(parallel):
    for line in answers("predict", parallel, "--json", "--max-length", "3", given="abcdefgh\nzyxwv9abc\n"):
        assert 1 <= len(json.loads(line)["tokens"]) <= 2


@pytest.mark.parametrize("options, message", [
    (["--length", "3", "--max-length", "5"], "cannot be combined"),
    (["--length", "3", "--length-factor", "2"], "cannot be combined"),
    (["--length", "3", "--nbest", "2"], "cannot be combined with --nbest 2"),
])
def test_one_says_how_long_an_output_is(parallel, options, message):
    done = heed("predict", str(parallel), *options)
    assert done.returncode == USAGE and message in done.stderr


def test_a_length_is_for_parallel_decoders(model, slots):
    done = heed("predict", str(model), "--length", "3")
    assert done.returncode == USAGE and "--length 3 is for models that write all positions at once" in done.stderr
    done = heed("predict", str(slots), "--length-factor", "1.2")
    assert done.returncode == USAGE and "use length" in done.stderr
    done = heed("predict", str(slots), "--length", "25")
    assert done.returncode == USAGE and "has slots for 24" in done.stderr
