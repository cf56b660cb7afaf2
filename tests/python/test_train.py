"""heed.train: pairs in, a model out."""
import io
import json
import os
import signal

import numpy as np
import pytest

import heed

PAIRS = [(f"{a}-{b}", f"{b}{a}") for a in range(10, 34) for b in range(40, 50)]
SMALL = {"model.width": 16, "stop.steps": 20, "validate.every": 10, "validate.longest": 20}


def quiet(*arguments, **more):
    more = {"settings": SMALL, "progress": False, **more}
    return heed.train(*arguments, **more)


def test_what_is_trained_is_what_is_loaded(tmp_path):
    model = quiet(PAIRS, tmp_path / "run")
    assert isinstance(model, heed.TrainedModel) and model.path == str(tmp_path / "run")
    assert model.predict("12-43").text == heed.load(tmp_path / "run").predict("12-43").text
    assert 'source_tokens = "characters"' in model.recipe
    recipe = (tmp_path / "run" / "recipe.toml").read_text()
    assert "width = 16" in recipe and "pairs.tsv" in recipe
    assert (tmp_path / "run" / "log.jsonl").exists()


def test_the_same_pairs_give_the_same_model_from_texts_files_and_recipes(tmp_path):
    weights = []
    sources, targets = tmp_path / "a.txt", tmp_path / "b.txt"
    sources.write_text("".join(f"{source}\n" for source, _ in PAIRS))
    targets.write_text("".join(f"{target}\n" for _, target in PAIRS))
    tsv = tmp_path / "both.tsv"
    tsv.write_text("".join(f"{source}\t{target}\n" for source, target in PAIRS))
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(f"[data]\ntsv = {json.dumps(str(tsv))}\n")
    for i, given in enumerate(({"pairs": iter(PAIRS)}, {"pairs": tsv}, {"pairs": (sources, targets)}, {"recipe": recipe})):
        quiet(folder=tmp_path / f"run{i}", **given)
        weights.append((tmp_path / f"run{i}" / "step-000020" / "weights.safetensors").read_bytes())
    assert weights[0] == weights[1] == weights[2] == weights[3]


def test_without_a_folder_it_lives_as_long_as_the_model():
    model = quiet(PAIRS)
    path = model.path
    assert os.path.isdir(path)
    del model
    assert not os.path.exists(path)


def test_validation_pairs(tmp_path):
    events = []
    quiet(PAIRS, tmp_path / "run", valid=PAIRS[:7], callback=events.append)
    started = next(e for e in events if e["event"] == "started")
    assert started["examples"] == len(PAIRS) and started["valid_examples"] == 7


def test_events_and_progress(tmp_path):
    events, said = [], io.StringIO()
    quiet(PAIRS, tmp_path / "run", callback=events.append, progress=said)
    kinds = [e["event"] for e in events]
    assert kinds[:2] == ["chosen", "started"] and kinds[-1] == "finished" and kinds.count("step") == 20
    assert events[0]["settings"]["model.kind"] == "rnn"
    assert all(np.isfinite(e["loss"]) for e in events if e["event"] == "step")
    assert "chosen to fit the data: data.source_tokens = characters" in said.getvalue()
    assert "finished after 20 updates" in said.getvalue() and "\r" not in said.getvalue()


def test_false_stops_and_resume_continues(tmp_path):
    quiet(PAIRS, tmp_path / "run", callback=lambda event: event.get("step") != 7)
    assert (tmp_path / "run" / "step-000007").is_dir()
    events = []
    quiet(PAIRS, tmp_path / "run", resume=True, callback=events.append)
    assert events[0]["event"] == "started" and events[0]["step"] == 7
    whole = []
    quiet(PAIRS, tmp_path / "whole", callback=whole.append)
    losses = {e["step"]: e["loss"] for e in whole if e["event"] == "step"}
    assert all(losses[e["step"]] == e["loss"] for e in events if e["event"] == "step")


def test_what_the_callback_raises_comes_out_after_saving(tmp_path):
    def fail(event):
        if event["event"] == "step" and event["step"] == 3:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        quiet(PAIRS, tmp_path / "run", callback=fail)
    assert (tmp_path / "run" / "step-000003").is_dir()


def test_ctrl_c_saves(tmp_path):
    def interrupt(event):
        if event["event"] == "step" and event["step"] == 3:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        quiet(PAIRS, tmp_path / "run", callback=interrupt)
    assert [name for name in os.listdir(tmp_path / "run") if name.startswith("step-")]


def test_from_a_trained_model_and_into_one_file(tmp_path):
    first = quiet(PAIRS, tmp_path / "first")
    more = quiet([("q" + source, target + "q") for source, target in PAIRS[:50]], from_model=first,
                 settings={"stop.steps": 2})
    assert "width = 16" in more.recipe
    again = quiet(PAIRS, from_model=tmp_path / "first", settings={"stop.steps": 2})
    assert again.parameter_count == first.parameter_count < more.parameter_count
    more.export(tmp_path / "more.heed")
    right = more.predict("q12-43").text
    del more
    assert heed.load(tmp_path / "more.heed").predict("q12-43").text == right
    first.export(tmp_path / "more.heed")  # a model is replaced
    (tmp_path / "text").write_text("mine")
    with pytest.raises(heed.Error, match="is not a model"):
        first.export(tmp_path / "text")


@pytest.mark.parametrize("arguments, says", [
    ({"pairs": [("a\tb", "c")]}, r"pairs\[0\]: the source holds a tab"),
    ({"pairs": [("a", "b"), ("a", "c\n")]}, r"pairs\[1\]: the target holds a tab or a line break"),
    ({"pairs": []}, "expected some, got none"),
    ({}, "there is no data"),
    ({"pairs": PAIRS, "settings": {"model.widht": 3}}, "did you mean 'model.width'"),
    ({"pairs": PAIRS, "settings": {"model.width": "wide"}}, "model.width must be a whole number"),
    ({"pairs": PAIRS, "resume": True}, "resume needs the folder"),
    ({"pairs": "nowhere.tsv"}, "nowhere.tsv"),
    ({"pairs": PAIRS, "from_model": "nowhere"}, "there is no model 'nowhere'"),
    ({"pairs": [("a", "\ud800")]}, "lone surrogate"),
])
def test_refusals(arguments, says):
    with pytest.raises(heed.Error, match=says):
        quiet(**arguments)


def test_wrong_types():
    for wrong in ([("a", "b", "c")], ["ab"], [("a", 3.5)], [(3, "a")], [("a", b"b")]):
        with pytest.raises(TypeError, match=r"pairs\[0\]"):
            quiet(wrong)
    with pytest.raises(TypeError, match="settings"):
        quiet(PAIRS, settings={"model.width": object()})


def test_a_folder_in_use_is_refused(tmp_path):
    quiet(PAIRS, tmp_path / "run")
    with pytest.raises(heed.Error, match="already holds the checkpoints") as raised:
        quiet(PAIRS, tmp_path / "run")
    assert raised.value.kind == "cannot_write"


def test_running_text(tmp_path):
    story = tmp_path / "story.txt"
    story.write_text("the cat sat on the mat.\n" * 200)
    small = {"model.width": 16, "model.layers": 1, "model.context": 32, "train.batch_tokens": 256, "stop.steps": 60,
             "train.learning_rate": 0.01, "data.documents": "line", "model.dropout": 0}
    model = quiet(text=story, settings=small)
    assert model.task == "language_model"
    assert model.predict("the cat sat").text == " on the mat."
    likely, not_likely = model.score([("the cat", " sat on the mat."), ("the cat", " mat the on sat.")])
    assert likely.log_probability > not_likely.log_probability
    assert likely.tokens[-1] == "</s>" and len(likely.token_log_probabilities) == len(likely.tokens)
    with pytest.raises(heed.Error, match="pairs and text"):
        quiet(PAIRS, text=story)


REWARDED = {**SMALL, "train.objective": "reinforce", "stop.steps": 4, "validate.every": 4}


def test_a_function_says_what_outputs_are_worth(tmp_path):
    model = quiet(PAIRS, tmp_path / "first")
    seen, events = [], []

    def reward(source, output, references):
        seen.append((source, output, references))
        return float(len(output) == 4)

    quiet(PAIRS, tmp_path / "run", from_model=model, reward=reward, settings=REWARDED, callback=events.append)
    right = dict(PAIRS)
    assert len(seen) > 100 and all(references == [right[source]] for source, _, references in seen)
    steps = [event for event in events if event["event"] == "step"]
    assert len(steps) == 4 and all(0 <= step["reward"] <= 1 for step in steps)
    assert 'reward = "own"' in (tmp_path / "run" / "recipe.toml").read_text()


def test_what_a_reward_raises_is_raised(tmp_path):
    def broken(source, output, references):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        quiet(PAIRS, tmp_path / "raises", reward=broken, settings=REWARDED)
    with pytest.raises(heed.Error, match="must return a number"):
        quiet(PAIRS, tmp_path / "text", reward=lambda *_: "good", settings=REWARDED)
    with pytest.raises(heed.Error, match="a function is needed"):
        quiet(PAIRS, tmp_path / "none", settings={**REWARDED, "train.reward": "own"})
    with pytest.raises(heed.Error, match="has no effect"):
        quiet(PAIRS, tmp_path / "likelihood", reward=broken)
