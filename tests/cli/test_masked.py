# slow: 6 s
"""Models of masked tokens: trained, asked what is missing, judged; and what other trainings take from them."""
import json
import math
import random

import pytest
from heed_program import CONFIG, USAGE, answers, from_json, heed, run, text

ANIMALS = {"cat": "mice", "dog": "bones", "bird": "seeds", "cow": "grass"}


def sentences(count, seed):
    rng = random.Random(seed)
    return [f"the {a} in the {rng.choice(['house', 'garden', 'street'])} eats {ANIMALS[a]}"
            for a in rng.choices(list(ANIMALS), k=count)]


def train(data, output, *settings, more=()):
    return heed("train", str(data), "--output", str(output), "--threads", "1", *more,
                *[word for key in settings for word in ("--set", key)])


SMALL = ["model.width=24", "model.layers=2", "attention.heads=2", "model.dropout=0", "train.batch_tokens=512",
         "train.learning_rate=0.01", "stop.steps=150", "validate.every=75"]


@pytest.fixture(name="folder", scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("masked")
    (folder / "text.txt").write_text("\n".join(sentences(400, 1)) + "\n")
    done = train(folder / "text.txt", folder / "model", "model.task=masked_language_model", "data.text_tokens=words",
                 *SMALL)
    assert done.returncode == 0, done.stderr
    assert "masked token" in done.stdout + done.stderr
    done = train(folder / "text.txt", folder / "next", "model.task=language_model", "data.text_tokens=words",
                 "data.documents=line", "model.context=32", *SMALL, "stop.steps=30")
    assert done.returncode == 0, done.stderr
    return folder


def test_it_fills_in_what_is_missing(folder):
    model = str(folder / "model")
    assert answers("predict", model, given="the [MASK] in the house eats bones\n\nthe cow in the garden eats [MASK]\n") \
        == ["the dog in the house eats bones", "", "the cow in the garden eats grass"]
    fields = answers("predict", model, "--nbest", "3", "--scores", given="the [MASK] in the house eats bones\n")[0].split("\t")
    assert fields[1] == "the dog in the house eats bones" and float(fields[0]) > 0.8
    assert sum(map(float, fields[::2])) <= 1 and float(fields[0]) > float(fields[2]) > float(fields[4])
    found = json.loads(answers("predict", model, "--json", "--nbest", "4",
                               given="the [MASK] in the [MASK] eats bones\n")[0])
    assert [place["place"] for place in found["filled"]] == [1, 4]
    assert found["filled"][0]["tokens"][0]["token"] == "dog"
    for place in found["filled"]:
        assert sum(t["probability"] for t in place["tokens"]) <= 1 + 1e-6
    best = found["outputs"][0]
    assert best["tokens"] == [place["tokens"][0]["token"] for place in found["filled"]]
    together = sum(math.log(place["tokens"][0]["probability"]) for place in found["filled"])
    assert math.isclose(together, best["log_probability"], abs_tol=1e-5)
    assert found["source_tokens"][1] == "[MASK]"


def test_what_lacks_nothing_stays(folder):
    done = run("predict", folder / "model", given=b"the cat eats mice\n")
    assert done.stdout == b"the cat eats mice\n" and b"no [MASK]" in done.stderr


def test_what_is_for_others_is_refused(folder):
    for options in (["--beam", "4"], ["--sample"], ["--stream"]):
        done = run("predict", folder / "model", *options, given=b"the [MASK]\n")
        assert done.returncode != 0 and b"fills in tokens" in done.stderr, done.stderr
    done = heed("evaluate", str(folder / "model"), str(folder / "text.txt"), "--metric", "bleu")
    assert done.returncode == USAGE and "fills in what a text lacks" in done.stderr


def test_likely_texts_score_higher(folder):
    model = str(folder / "model")
    (folder / "two.txt").write_text("the cat in the house eats mice\nthe cat in the house eats grass\n")
    likely, unlikely = (float(line.split("\t")[0])
                        for line in heed("score", model, str(folder / "two.txt")).stdout.splitlines())
    assert likely > unlikely + 1
    tokens = heed("score", model, str(folder / "two.txt"), "--per-token").stdout.splitlines()[0].split("\t")[2].split()
    assert len(tokens) == 7 and math.isclose(sum(map(float, tokens)), likely, abs_tol=1e-4)
    # Each token from all others: the same as filling it in.
    found = json.loads(answers("predict", model, "--json", "--nbest", "6",
                               given="the cat in the house eats [MASK]\n")[0])
    by_filling = {t["token"]: t["probability"] for t in found["filled"][0]["tokens"]}
    assert math.isclose(math.log(by_filling["mice"]), float(tokens[-1]), abs_tol=1e-4)


def test_it_is_judged_by_masked_tokens(folder):
    (folder / "unseen.txt").write_text("\n".join(sentences(60, 2)) + "\n")
    found = from_json("evaluate", str(folder / "model"), str(folder / "unseen.txt"), "--json")
    assert found["lines"] == 60 and found["token_accuracy"] > 0.5 and "bits_per_character" not in found
    assert math.isclose(found["perplexity"], math.exp(-found["log_probability"] / found["tokens"]), rel_tol=1e-9)
    assert "masked token" in text("evaluate", str(folder / "model"), "--valid")


def test_its_attention_is_drawn(folder):
    model = str(folder / "model")
    found = json.loads(text("look", model, "the [MASK] eats bones", "--json", "-"))
    example = found["examples"][0]
    assert len(example["attention"] if "attention" in example else example["maps"]) == 2
    assert "[MASK]" in json.dumps(example)
    assert text("look", model, "the cat eats mice")
    exported = str(folder / "masked.heed")
    assert heed("export", model, "--output", exported).returncode == 0
    assert answers("predict", exported, given="the [MASK] in the house eats bones\n") == ["the dog in the house eats bones"]


# ------------------------------------------------------------------------------------------------ what others take from it


def labelled(path, count=80):
    rng = random.Random(5)
    lines = [(f"the {a} in the {rng.choice(['house', 'garden'])} number {i} eats {ANIMALS[a]}",
              "small" if a in ("cat", "bird") else "big") for i, a in enumerate(rng.choices(list(ANIMALS), k=count))]
    path.write_text("".join(f"{t}\t{l}\n" for t, l in lines))
    return path


@pytest.mark.parametrize("start", ["model", "next"])
def test_labels_start_from_it(folder, tmp_path, start):
    done = train(labelled(tmp_path / "labels.tsv"), tmp_path / "labels", "stop.steps=20",
                 more=["--from", str(folder / start)])
    assert done.returncode == 0, done.stderr
    said = done.stdout + done.stderr
    assert "learning labels" in said and "2 layers of its encoder" in said and "starting from random numbers: text.pool" in said
    recipe = (tmp_path / "labels" / "recipe.toml").read_text()
    assert 'kind = "transformer"' in recipe and "width = 24" in recipe and 'source_tokens = "words"' in recipe
    assert answers("predict", str(tmp_path / "labels"), given="the cow in the house eats grass\n") == ["big"]
    done = train(tmp_path / "labels.tsv", tmp_path / "labels", "stop.steps=22", more=["--resume"])
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("start, kind", [("model", "transformer"), ("model", "rnn"), ("next", "transformer")])
def test_pairs_start_from_it(folder, tmp_path, start, kind):
    (tmp_path / "pairs.tsv").write_text("".join(f"{line}\t{line.split()[1]}\n" for line in sentences(80, 3)))
    done = train(tmp_path / "pairs.tsv", tmp_path / "pairs", "model.task=seq2seq", "stop.steps=2", f"model.kind={kind}",
                 more=["--from", str(folder / start)])
    assert done.returncode == 0, done.stderr
    anew = "decoder.0" if kind == "transformer" else "decoder.recurrent"
    assert anew in done.stderr and "2 layers of its encoder" in done.stderr


def test_two_texts_and_masked_tokens_start_from_it(folder, tmp_path):
    (tmp_path / "two.tsv").write_text("".join(f"{line}\t{line.split()[1]}\t{'yes' if i % 2 else 'no'}\n"
                                              for i, line in enumerate(sentences(60, 3))))
    done = train(tmp_path / "two.tsv", tmp_path / "two", "model.task=classification", "data.second_text_column=2",
                 "data.text_column=1", "data.label_column=3", "stop.steps=2", more=["--from", str(folder / "model")])
    assert done.returncode == 0, done.stderr
    done = train(folder / "text.txt", tmp_path / "masked", "model.task=masked_language_model", "stop.steps=2",
                 more=["--from", str(folder / "next")])
    assert done.returncode == 0, done.stderr
    # Without a word about the task, running text trains the model further.
    done = train(folder / "text.txt", tmp_path / "further", "stop.steps=2", more=["--from", str(folder / "model")])
    assert done.returncode == 0 and 'task = "masked_language_model"' in (tmp_path / "further" / "recipe.toml").read_text()


def test_what_does_not_fit_is_refused(folder, tmp_path):
    data = labelled(tmp_path / "labels.tsv")
    for given, says in (("model.width=32", "model.width is 32, but"), ("model.kind=rnn", 'the encoder is "rnn"'),
                        ("model.encoder_layers=1", "model.encoder_layers is 1, but"),
                        ("attention.heads=4", "attention.heads is 4, but"),
                        ("model.task=image", "no encoder of texts in common")):
        done = train(data, tmp_path / "labels", given, more=["--from", str(folder / "model")])
        assert done.returncode == CONFIG and says in done.stderr, done.stderr
        assert not (tmp_path / "labels").exists()
    done = train(folder / "text.txt", tmp_path / "additive", "model.task=masked_language_model", "stop.steps=1",
                 "data.text_tokens=words", "model.width=8", "attention.score=additive", "attention.heads=2")
    assert done.returncode == 0, done.stderr
    done = train(data, tmp_path / "labels", more=["--from", str(tmp_path / "additive")])
    assert done.returncode == CONFIG and "its weights do not fit" in done.stderr, done.stderr


def test_recipes_that_cannot_be(folder, tmp_path):
    for keys, says in ((["data.mask_replaced=0.9", "data.mask_random=0.2"], "are more than 1 together"),
                       (["model.kind=rnn", "attention.heads=2"], "has no attention"),
                       (["data.mask_share=0"], "data.mask_share")):
        done = train(folder / "text.txt", tmp_path / "x", "model.task=masked_language_model", *keys)
        assert done.returncode == CONFIG and says in done.stderr, done.stderr
