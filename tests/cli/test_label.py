# slow: 5 s
"""Texts with labels: trained, asked, evaluated."""
import json
import random
import re

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
                *[word for key in ["model.task=classification", "model.width=16", "train.batch_tokens=256",
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


def mislabelled(path):
    """Eight texts whose labels the model finds, and two whose labels it cannot find: right, and given instead."""
    path.write_text("It was superb!\tgood\n" * 4 + "It was awful!\tbad\n" * 4 +
                    "It was awful!\tgood\n" + "It was lovely!\t neutral \n")
    return str(path)


def test_what_is_taken_for_what(trained, tmp_path):
    _, model, _ = trained
    found = from_json("evaluate", model, mislabelled(tmp_path / "x.tsv"), "--json", "--errors")
    assert found["segments"] == 10  # each line counts, even where a text occurs again
    scores = {m["metric"]: m["score"] for m in found["metrics"]}
    # bad: given 5, right 4, both 4; good: given 5, right 5, both 4; neutral: given 0, right 1
    assert scores["accuracy"] == 80 and abs(scores["micro_f1"] - 80) < 1e-9
    assert abs(scores["macro_f1"] - 100 * (8 / 9 + 8 / 10 + 0) / 3) < 1e-9
    assert found["confusion"] == {"labels": ["bad", "good", "neutral"], "counts": [[4, 0, 0], [1, 4, 0], [0, 1, 0]]}
    assert [round(label["f1"], 4) for label in found["labels"]] == [0.8889, 0.8, 0]
    assert sum(b["answers"] for b in found["calibration"]) == 10
    by_hand = sum(b["answers"] * abs(b["right"] - b["probability"]) for b in found["calibration"]) / 10
    assert abs(found["calibration_error"] - 100 * by_hand) < 1e-9 and found["calibration_error"] > 0
    assert found["wrong"] == 2 and {e["reference"] for e in found["errors"]} == {"good", "neutral"}
    assert all(0.5 <= e["probability"] <= 1 for e in found["errors"])


def test_labels_as_text(trained, tmp_path):
    _, model, _ = trained
    data = mislabelled(tmp_path / "x.tsv")
    said = text("evaluate", model, data, "--errors", "--most", "1")
    assert "calibration error = " in said and "taken for" in said
    assert "right \\ given" in said and "2 of 10 are wrong; the 1 worst are shown" in said
    assert "  given  " in said and " %)" in said and "difference" not in said
    text("evaluate", model, data, f"--errors={tmp_path / 'wrong.tsv'}", "--metric", "macro_f1", "--confidence")
    rows = [line.split("\t") for line in (tmp_path / "wrong.tsv").read_text().splitlines()]
    assert rows[0] == ["line", "text", "given", "right", "probability"] and len(rows) == 3
    assert all(float(row[4]) > 0.5 for row in rows[1:])


def test_progress_speaks_of_texts(trained):
    _, _, said = trained
    assert re.search(r"\d+ texts for training, \d+ for validation; 2 labels, a vocabulary of \d+ tokens", said)
    assert "texts/s" in said and "perplexity" not in said and "character errors" not in said


def test_labels_are_recognised(tmp_path):
    data = write(tmp_path / "reviews.tsv", 200, 1, "{text}\t7\t{label}\n")
    few = ["--set", "stop.steps=1", "--set", "model.width=8"]
    done = heed("train", data, "--output", str(tmp_path / "labels"), *few)
    assert done.returncode == 0, done.stderr
    assert "column 3 has 2 different values on the first 200 lines, and column 1 is text" in done.stderr
    assert " texts for training" in done.stdout
    done = heed("train", data, "--output", str(tmp_path / "pairs"), "--set", "model.task=seq2seq", *few)
    assert done.returncode == 0 and "model.task" not in done.stderr, done.stderr
    (tmp_path / "words.tsv").write_text("".join(f"this is number {i}\tnumber {i} this is\n" for i in range(100)))
    done = heed("train", str(tmp_path / "words.tsv"), "--output", str(tmp_path / "words"), *few)
    assert done.returncode == 0 and "model.task" not in done.stderr and "pairs for training" in done.stdout


def test_f1_chooses_the_best_model(tmp_path):
    data = write(tmp_path / "reviews.tsv", 100, 1)
    done = heed("train", data, "--output", str(tmp_path / "out"), "--set", "model.width=8", "--set", "stop.steps=4",
                "--set", "validate.every=2", "--set", "validate.metric=macro_f1")
    assert done.returncode == 0 and "macro F1" in done.stdout and "with macro_f1" in done.stdout, done.stderr


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


def test_shaded_texts(trained, tmp_path):
    kind, model, _ = trained
    line = b"The plot was long. It was lovely!\n"
    shown = run("predict", model, "--alignments=picture", given=line).stdout.decode().splitlines()
    assert shown[0] == "good"
    if kind == "mean":  # no attention, nothing to draw
        assert shown[1:] == []
        return
    words = "the plot was long . it was lovely !"
    plain = [line.replace("[", "").replace("]", "").split() for line in shown[1:]]
    if kind == "hierarchical":
        assert [line[1] for line in plain[:2]] == ["%", "%"] and plain[1][2:] == words.split()[5:] and plain[2:] == [[]]
    else:
        assert plain == [words.split(), []]
    done = run("predict", model, "--pictures", tmp_path, given=line)
    assert done.returncode == 0, done.stderr
    looked = heed("look", model, line.decode().strip(), "--svg", str(tmp_path / "looked.svg"))
    assert looked.returncode == 0, looked.stderr
    for drawing in ((tmp_path / "1.svg").read_text(), (tmp_path / "looked.svg").read_text()):
        assert [t for t in re.findall(r">([^<]*)</text>", drawing) if t in words.split()][-9:] == words.split()
        assert drawing.count(">lovely</text>") == (5 if kind == "structured" else 1)  # the mean, and four rows
        assert drawing.count('class="off"') == (2 if kind == "hierarchical" else 0)
    matrix = tmp_path / "matrix.svg"
    name = "word.pool" if kind == "hierarchical" else "text.pool"
    assert heed("look", model, line.decode().strip(), "--attention", name, "--svg", str(matrix)).returncode == 0
    assert ">weight</text>" in matrix.read_text()


def test_wrong_labels_on_a_page(trained, tmp_path):
    kind, model, _ = trained
    page = tmp_path / "wrong.html"
    done = heed("evaluate", model, mislabelled(tmp_path / "x.tsv"), "--errors", "--html", str(page))
    if done.returncode == 64 and "built without the page" in done.stderr:
        pytest.skip("heed was built without npm, so it has no page")
    assert done.returncode == 0, done.stderr
    examples = json.loads(page.read_text().split('id="heed-data">')[1].split("</script>")[0])["examples"]
    assert sorted((e["input"], e["output"], e["reference"]) for e in examples) == \
        [("It was awful!", "bad", "good"), ("It was lovely!", "good", "neutral")]
    words = [[w["text"] for s in e["text"]["sentences"] for w in s["words"]] for e in examples if "text" in e]
    assert words == ([] if kind == "mean" else [e["input"].lower().replace("!", " !").split() for e in examples])


def test_scores_of_labels(trained, tmp_path):
    _, model, _ = trained
    (tmp_path / "pairs.tsv").write_text("It was superb!\tgood\nIt was superb!\tbad\nIt was superb!\tgreat\n")
    done = heed("score", model, str(tmp_path / "pairs.tsv"))
    good, bad, none = done.stdout.split("\n")[:3]
    assert float(good) > float(bad) and none == "" and "no label 'great'" in done.stderr
    done = heed("predict", model, "--stream")
    assert done.returncode == 64 and "--stream shows an output while it is written; this model gives labels" in done.stderr


def test_columns_in_any_order(tmp_path):
    data = write(tmp_path / "x.tsv", 60, 3, "{label}\t7\t{text}\n")
    done = heed("train", data, "--output", str(tmp_path / "out"), "--set", "model.task=classification", "--set", "stop.steps=2",
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
    done = heed("train", str(tmp_path / "x.tsv"), "--output", str(tmp_path / "out"), "--set", "model.task=classification")
    assert done.returncode == code and says in done.stderr, done.stderr


def test_what_labels_do_not_have(trained):
    _, model, _ = trained
    assert "this one gives a label" in heed("predict", model, "--beam", "3").stderr
    done = heed("train", "x.toml", "--set", "model.task=labels")
    assert done.returncode != 0
    assert text("info", model)


def test_a_recipe_of_another_task(tmp_path):
    (tmp_path / "r.toml").write_text('[model]\ntask = "classification"\n[data]\nsource = "x"\n')
    done = heed("train", str(tmp_path / "r.toml"), "--output", str(tmp_path / "out"))
    assert done.returncode == CONFIG and "data.source" in done.stderr
