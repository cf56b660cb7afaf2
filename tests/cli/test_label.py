"""Texts with labels: trained, asked, evaluated."""
import json
import random

import pytest
from heed_program import CONFIG, DATA, answers, from_json, heed, run, text

GOOD = ["lovely", "superb", "a joy", "warm and funny"]
BAD = ["dull", "a mess", "painfully slow", "awful"]
FILLER = ["The plot was long.", "I saw it on Monday.", "The hall was full.", "My friend came too."]


def review(rng):
    label = rng.choice(["good", "bad"])
    sentences = rng.sample(FILLER, 2) + [f"It was {rng.choice(GOOD if label == 'good' else BAD)}!"]
    rng.shuffle(sentences)
    return " ".join(sentences), label


def write(path, count, seed, form="{text}\t{label}\n"):
    rng = random.Random(seed)
    path.write_text("".join(form.format(text=t, label=l) for t, l in (review(rng) for _ in range(count))))
    return str(path)


@pytest.fixture(name="trained", scope="module", params=["hierarchical", "structured", "mean"])
def trained_models(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("labels")
    how = ["model.pool=mean"] if request.param == "mean" else [f"attention.structure={request.param}"]
    data = write(folder / "reviews.tsv", 300, 1)
    done = heed("train", data, "--output", str(folder / "model"), "--threads", "1",
                *[word for key in ["model.task=label", "model.width=16", "train.batch_tokens=256",
                                   "train.learning_rate=0.01", *how] for word in ("--set", key)])
    assert done.returncode == 0, done.stderr
    return request.param, str(folder / "model"), done.stdout


def test_it_learns_and_is_evaluated(trained, tmp_path):
    _, model, said = trained
    assert "data.text_column = 1" in said and "data.label_column = 2" in said
    unseen = write(tmp_path / "unseen.tsv", 100, 2)
    found = from_json("evaluate", model, unseen, "--json")
    assert found["metrics"][0]["name"] == "accuracy" or found["metrics"][0]["metric"] == "accuracy"
    assert found["metrics"][0]["score"] > 95
    assert answers("predict", model, given="It was superb!\nIt was awful!\n") == ["good", "bad"]


def test_probabilities_and_weights(trained):
    kind, model, _ = trained
    line = "The plot was long. It was lovely!"
    found = json.loads(run("predict", model, "--json", "--nbest", "2", "--alignments=matrix", given=line.encode()).stdout)
    assert found["output"] == "good" and {o["output"] for o in found["outputs"]} == {"good", "bad"}
    assert abs(sum(2.718281828459045 ** o["log_probability"] for o in found["outputs"]) - 1) < 1e-4
    if kind == "mean":
        assert found["alignment"] == []
        return
    rows = found["alignment"]
    assert len(rows) == (4 if kind == "structured" else 1)
    assert all(len(row) == len(found["source_tokens"]) and abs(sum(row) - 1) < 1e-4 for row in rows)
    if kind == "hierarchical":
        assert [s["tokens"] for s in found["sentences"]] == [5, 4]
        assert found["sentences"][1]["weight"] > 0.5
        assert max(zip(rows[0], found["source_tokens"]))[1] in ("lovely", "was", "it", "!")


def test_scores_of_labels(trained, tmp_path):
    _, model, _ = trained
    (tmp_path / "pairs.tsv").write_text("It was superb!\tgood\nIt was superb!\tbad\nIt was superb!\tgreat\n")
    done = heed("score", model, str(tmp_path / "pairs.tsv"))
    good, bad, none = done.stdout.split("\n")[:3]
    assert float(good) > float(bad) and none == "" and "no label 'great'" in done.stderr


def test_columns_in_any_order(tmp_path):
    data = write(tmp_path / "x.tsv", 60, 3, "{label}\t7\t{text}\n")
    done = heed("train", data, "--output", str(tmp_path / "out"), "--set", "model.task=label", "--set", "stop.steps=2",
                "--set", "model.width=8")
    assert done.returncode == 0, done.stderr
    assert "data.text_column = 3" in done.stdout and "data.label_column = 1" in done.stdout
    found = from_json("evaluate", str(tmp_path / "out"), data, "--json", "--metric", "accuracy")
    assert found["segments"] > 0


@pytest.mark.parametrize("content, code, says", [
    ("one column\n" * 5, DATA, "a text and a label with a tab"),
    ("a text\tsame\nanother text\tsame\nand one more\tsame\n", DATA, "same label"),
    ("", DATA, ""),
])
def test_data_that_cannot_be_used(tmp_path, content, code, says):
    (tmp_path / "x.tsv").write_text(content)
    done = heed("train", str(tmp_path / "x.tsv"), "--output", str(tmp_path / "out"), "--set", "model.task=label")
    assert done.returncode == code and says in done.stderr, done.stderr


def test_what_labels_do_not_have(trained):
    _, model, _ = trained
    assert "this one gives a label" in heed("predict", model, "--beam", "3").stderr
    done = heed("train", "x.toml", "--set", "model.task=labels")
    assert done.returncode != 0
    assert text("info", model)


def test_a_recipe_of_another_task(tmp_path):
    (tmp_path / "r.toml").write_text('[model]\ntask = "label"\n[data]\nsource = "x"\n')
    done = heed("train", str(tmp_path / "r.toml"), "--output", str(tmp_path / "out"))
    assert done.returncode == CONFIG and "data.source" in done.stderr
