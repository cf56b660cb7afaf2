"""Labels of other kinds: several for a text, for two texts, with weights; and data that is unusual."""
import json
import random
import struct

import pytest
from heed_program import CONFIG, DATA, answers, from_json, heed, run, text

FAST = ["--threads", "1", "--set", "model.task=classification", "--set", "model.width=16", "--set", "train.learning_rate=0.01"]
PLAIN = "".join(f"Some text. Number {i}!\t{'ab'[i % 2]}\n" for i in range(40))
TINY = [*FAST, "--set", "stop.steps=2", "--set", "validate.every=1"]


def train(folder, content, *settings, how=FAST):
    (folder / "x.tsv").write_text(content)
    return heed("train", str(folder / "x.tsv"), "--output", str(folder / "out"), *how,
                *[word for key in settings for word in ("--set", key)])


# ------------------------------------------------------------------------------------------------------ several labels

TOPICS = {"sport": "the match was won", "music": "the band played on", "food": "the soup was hot"}


def topics(count, seed):
    rng = random.Random(seed)
    lines = []
    for i in range(count):
        chosen = rng.sample(sorted(TOPICS), rng.choice([1, 1, 2]))
        lines.append(f"{i}: " + ", ".join(TOPICS[c] for c in chosen) + "\t" + " , ".join(chosen))
    return "\n".join(lines) + "\n"


@pytest.fixture(name="sets", scope="module")
def trained_on_sets(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sets")
    done = train(folder, topics(400, 1), "data.label_separator=,", "train.batch_tokens=512", "stop.epochs=20")
    assert done.returncode == 0, done.stderr
    assert "3 labels" in done.stdout and "micro F1" in done.stdout
    return str(folder / "out")


def test_sets_of_labels(sets, tmp_path):
    line = "the soup was hot, the match was won"
    assert answers("predict", sets, given=f"{line}\nthe band played on\n") == ["food,sport", "music"]
    found = json.loads(run("predict", sets, "--json", "--nbest", "9", given=line.encode()).stdout)
    assert found["output"] == "food,sport" and sorted(found["tokens"]) == ["food", "sport"]
    singles = found["outputs"][1:]
    assert sorted(o["output"] for o in singles) == ["food", "music", "sport"]
    p = {o["output"]: 2.718281828459045 ** o["log_probability"] for o in singles}
    assert p["food"] > 0.5 > p["music"]
    exactly = p["food"] * p["sport"] * (1 - p["music"])
    assert abs(2.718281828459045 ** found["log_probability"] - exactly) < 1e-4
    (tmp_path / "pairs.tsv").write_text(f"{line}\tsport,food\n{line}\tfood\n{line}\tweather\n")
    done = heed("score", sets, str(tmp_path / "pairs.tsv"))
    both, one, none = done.stdout.split("\n")[:3]
    assert abs(2.718281828459045 ** float(both) - exactly) < 1e-3 and float(both) > float(one)
    assert none == "" and "no label 'weather'" in done.stderr


def test_sets_are_evaluated(sets, tmp_path):
    (tmp_path / "y.tsv").write_text("the soup was hot, the match was won\tsport, food\nthe band played on\tmusic,food\n")
    found = from_json("evaluate", sets, str(tmp_path / "y.tsv"), "--json", "--errors", "--metric", "accuracy,micro_f1")
    scores = {m["metric"]: m["score"] for m in found["metrics"]}
    assert scores["accuracy"] == 50 and abs(scores["micro_f1"] - 100 * 2 * 3 / (3 + 4)) < 1e-9
    assert "confusion" not in found and [x["label"] for x in found["labels"]] == ["food", "music", "sport"]
    assert [e["reference"] for e in found["errors"]] == ["food,music"]


# ----------------------------------------------------------------------------------------------------------- two texts

THINGS = {"animal": ("dog cat horse bird fox wolf bear hen", "animal beast creature being"),
          "plant": ("oak rose fern pine moss lily reed palm", "plant herb growth sprout"),
          "tool": ("saw axe drill hammer rake spade chisel file", "tool device gadget implement")}


def combinations():
    """All (thing, kind, answer) to train on, and a fifth that never come together there."""
    things = [(thing, name) for name, (words, _) in THINGS.items() for thing in words.split()]
    kinds = [(kind, name) for name, (_, words) in THINGS.items() for kind in words.split()]
    parts = [], []
    for i, (thing, of_thing) in enumerate(things):
        for j, (kind, of_kind) in enumerate(kinds):
            parts[(i + 3 * j) % 5 == 0].append((thing, kind, "yes" if of_thing == of_kind else "no"))
    return parts


def entailment(thing, kind, answer):
    return f"a {thing} is here\tthere is a {kind}\t{answer}\n"


def entailments(count, seed):
    """The second text follows from the first if it names the kind of thing. Both answers come equally often."""
    rng = random.Random(seed)
    seen, _ = combinations()
    return "".join(entailment(*rng.choice([one for one in seen if one[2] == ("yes" if i % 2 else "no")]))
                   for i in range(count))


def test_two_texts(tmp_path):
    """Things and kinds that training never saw together are judged too: by what each was seen with."""
    content = entailments(1000, 1)
    unseen = [entailment(*one) for one in combinations()[1]]
    assert not set(unseen) & set(content.splitlines(keepends=True))
    (tmp_path / "unseen.tsv").write_text("".join(unseen))
    done = train(tmp_path, content, "data.second_text_column=2", "attention.score=additive", "train.batch_tokens=256",
                 "stop.epochs=30", "model.dropout=0")
    assert done.returncode == 0, done.stderr
    assert "data.text_column = 1" in done.stdout and "data.label_column = 3" in done.stdout
    model = str(tmp_path / "out")
    assert from_json("evaluate", model, "--valid", "--json")["metrics"][0]["score"] > 90
    found = from_json("evaluate", model, str(tmp_path / "unseen.tsv"), "--json")
    assert found["segments"] == len(unseen) == 58 and found["metrics"][0]["score"] > 90, found["metrics"]
    # The more frequent answer alone is right for 64 %, and no single text tells the answer.
    assert all(each["recall"] > 0.8 for each in found["labels"] if each["label"]), found["labels"]
    line = "a cat is here\tthere is a beast\n"
    assert answers("predict", model, given=line) == ["yes"]
    found = json.loads(run("predict", model, "--json", "--alignments=matrix", given=line.encode()).stdout)
    assert len(found["alignment"]) == 4 and all(len(row) == 4 and abs(sum(row) - 1) < 1e-4 for row in found["alignment"])
    done = run("predict", model, given=b"only one text\n")
    assert b"two texts with a tab between them, but has 1 column" in done.stderr


def test_two_texts_are_recognised(tmp_path):
    """Without a recipe; and what of a line is not used is said."""
    (tmp_path / "x.tsv").write_text("premise\thypothesis\tlabel\n" + entailments(60, 1))
    done = heed("train", str(tmp_path / "x.tsv"), "--output", str(tmp_path / "out"), "--threads", "1", "--set",
                "model.width=8", "--set", "stop.steps=2", "--set", "validate.every=1")
    assert done.returncode == 0, done.stderr
    assert "columns 1 and 2 are two texts, and column 3" in done.stderr and "2 labels" in done.stdout
    assert "model.relation = compare" in done.stdout
    assert answers("predict", str(tmp_path / "out"), given="a cat is here\tthere is a beast\n")[0] in ("yes", "no")
    done = heed("train", str(tmp_path / "x.tsv"), "--output", str(tmp_path / "one"), "--threads", "1", "--set",
                "model.task=seq2seq", "--set", "model.width=8", "--set", "stop.steps=2")
    assert "column 3 ('label' in line 1) is not used" in done.stdout + done.stderr


@pytest.mark.parametrize("relation,settings", [
    ("compare", ["model.compared=both"]), ("word_by_word", ["attention.score=additive"]),
    ("joined", ["model.kind=transformer"]), ("pool", [])])
def test_each_relation_can_be_looked_at(tmp_path, relation, settings):
    done = train(tmp_path, entailments(60, 1), "data.second_text_column=2", f"model.relation={relation}", "stop.steps=2",
                 "model.width=8", *settings)
    assert done.returncode == 0, done.stderr
    line = "a cat is here\tthere is a small beast"
    document = json.loads(run("look", str(tmp_path / "out"), line, "--json", "-").stdout)
    rows = {(one["queries"], one["keys"]) for one in document["examples"][0]["maps"]}
    wanted = {"compare": {("second", "source"), ("source", "second")}, "joined": {("both", "both")},
              "pool": {("second", "source")}}.get(relation, {("second", "source"), ("source", "second")})
    assert wanted <= rows, rows
    done = heed("look", str(tmp_path / "out"), line, "--svg", str(tmp_path / "a.svg"))
    assert done.returncode == 0, done.stderr


def test_two_texts_need_an_attention_that_takes_queries(tmp_path):
    done = train(tmp_path, entailments(50, 1), "data.second_text_column=2", "attention.structure=hierarchical")
    assert done.returncode == CONFIG and "queries of its own" in done.stderr


# ------------------------------------------------------------------------------------------------------------- weights

def test_class_weights(tmp_path):
    """Nothing in the text says which: then the weights decide."""
    content = "".join(f"a text without a hint number {i}\t{'rare' if i % 5 == 0 else 'frequent'}\n" for i in range(200))

    def share_of_rare(name, weights):
        (tmp_path / name).mkdir()
        done = train(tmp_path / name, content, f"data.class_weights={weights}", "data.source_min_count=5",
                     "stop.epochs=10", "train.batch_tokens=256")
        assert done.returncode == 0, done.stderr
        found = json.loads(run("predict", str(tmp_path / name / "out"), "--json", "--nbest", "2",
                               given=b"a text without a hint number\n").stdout)
        return next(2.718281828459045 ** o["log_probability"] for o in found["outputs"] if o["output"] == "rare")

    assert share_of_rare("none", "none") < 0.35
    assert 0.35 < share_of_rare("balanced", "balanced") < 0.65
    assert share_of_rare("named", "rare=40") > 0.65


@pytest.mark.parametrize("weights, code, says", [
    ("often", CONFIG, "'often' is no weight of a label"),
    ("a=x", CONFIG, "LABEL=WEIGHT"),
    ("a=-1", CONFIG, "weights from 0"),
    ("", CONFIG, "is no weight of a label"),
    ("aa=2", CONFIG, "no label 'aa'; did you mean 'a'?"),
])
def test_wrong_class_weights(tmp_path, weights, code, says):
    content = "".join(f"some text {i}\t{'ab'[i % 2]}\n" for i in range(40))
    done = train(tmp_path, content, f"data.class_weights={weights}", how=TINY)
    assert done.returncode == code and says in done.stderr, done.stderr


# --------------------------------------------------------------------------------------------------------- word vectors

def test_word_vectors(tmp_path):
    (tmp_path / "vectors.txt").write_text("3 6\nsome 1 2 3 4 5 6\ntext 0 0 0 0 0 0.5\nwolf 1 1 1 1 1 1\n")
    how = ["--threads", "1", "--set", "model.task=classification", "--set", "stop.steps=3", "--set", "validate.every=1"]
    vectors = f"data.vectors={tmp_path / 'vectors.txt'}"
    done = train(tmp_path, PLAIN, vectors, "data.vectors_fixed=true", how=how)
    assert done.returncode == 0, done.stderr
    assert "has vectors for 2 of " in done.stderr and "model.width = 6" in done.stdout
    resumed = heed("train", "--resume", "--output", str(tmp_path / "out"), "--set", "stop.steps=3")
    assert resumed.returncode == 0, resumed.stderr
    weights = (tmp_path / "out").glob("step-*/weights.safetensors")
    assert all(struct.pack("<6f", 1, 2, 3, 4, 5, 6) in path.read_bytes() for path in weights)
    (tmp_path / "free").mkdir()
    assert train(tmp_path / "free", PLAIN, vectors, how=how).returncode == 0
    last = tmp_path / "free" / "out" / "step-000003" / "weights.safetensors"
    assert struct.pack("<6f", 1, 2, 3, 4, 5, 6) not in last.read_bytes()


@pytest.mark.parametrize("content, settings, says", [
    ("some 1 2\ntext 1\n", [], "line 2 has a word and 1 numbers"),
    ("some 1 2\n", ["model.width=3"], "the vectors have 2 numbers, but model.width is 3"),
    ("wolf 1 2\n", [], "has none of the"),
    ("some text\n", [], "'text' is no number"),
])
def test_wrong_word_vectors(tmp_path, content, settings, says):
    (tmp_path / "vectors.txt").write_text(content)
    done = train(tmp_path, PLAIN, f"data.vectors={tmp_path / 'vectors.txt'}", *settings,
                 how=["--set", "model.task=classification", "--set", "stop.steps=1"])
    assert done.returncode == DATA and says in done.stderr, done.stderr


# ------------------------------------------------------------------------------------------------------- unusual data

@pytest.fixture(name="plain", scope="module")
def plain_model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plain")
    done = train(folder, PLAIN, "attention.structure=hierarchical", how=TINY)
    assert done.returncode == 0, done.stderr
    return str(folder / "out")


def test_a_million_words(plain, tmp_path):
    long = "Some. " * 10 + "text " * 1_000_000
    assert answers("predict", plain, given=long + "\n")[0] in ("a", "b")
    sentences = "Some text. " * 300_000
    assert answers("predict", plain, given=sentences + "\n")[0] in ("a", "b")


def test_training_on_a_long_text(tmp_path):
    done = train(tmp_path, PLAIN + "word " * 1_000_000 + "\ta\n", "data.max_source=1000", how=TINY)
    assert done.returncode == 0, done.stderr


def test_empty_texts(plain, tmp_path):
    assert answers("predict", plain, given="\n  \nSome text.\n")[:2] == ["", ""]
    (tmp_path / "y.tsv").write_text("Some text\ta\n\tb\n   \tb\n<br />\tb\n")
    done = heed("evaluate", plain, str(tmp_path / "y.tsv"), "--json")
    assert done.returncode == 0 and "2 of 4 lines left out" in done.stderr, done.stderr
    found = json.loads(done.stdout)
    assert found["segments"] == 2 and "" in found["confusion"]["labels"]
    done = train(tmp_path, PLAIN + "\ta\n<br />\tb\n", how=TINY)
    assert done.returncode == 0 and "an empty side: 41 (" in done.stderr and "42 (text, no tokens)" in done.stderr


def test_a_label_that_training_never_saw(plain, tmp_path):
    (tmp_path / "y.tsv").write_text("Some text\tc\nSome text\ta\n")
    found = from_json("evaluate", plain, str(tmp_path / "y.tsv"), "--json")
    assert "c" in found["confusion"]["labels"] and found["metrics"][0]["score"] <= 50
    (tmp_path / "valid.tsv").write_text("Some text\tc\nSome text\ta\n")
    done = train(tmp_path, PLAIN, f"data.valid_tsv={tmp_path / 'valid.tsv'}", how=TINY)
    assert done.returncode == 0 and "1 text of the validation has a label that the training never saw" in done.stderr
    (tmp_path / "valid.tsv").write_text("Some text\tc\n")
    (tmp_path / "other").mkdir()
    done = train(tmp_path / "other", PLAIN, f"data.valid_tsv={tmp_path / 'valid.tsv'}", how=TINY)
    assert done.returncode in (0, DATA) and "never saw" in done.stderr


def test_odd_lines(tmp_path):
    done = train(tmp_path, PLAIN + "no label here\n" + "a\0text\tb\n", how=TINY)
    assert done.returncode == 0 and "41 (1 instead of at least 2)" in done.stderr, done.stderr


def test_one_label_in_a_file_to_evaluate(plain, tmp_path):
    (tmp_path / "y.tsv").write_text("Some text\ta\nAnother text\ta\n")
    assert from_json("evaluate", plain, str(tmp_path / "y.tsv"), "--json")["segments"] == 2


def test_pairs_start_from_the_encoder_of_labels(plain, tmp_path):
    (tmp_path / "x.tsv").write_text("".join(f"{i}\tnumber {i}\n" for i in range(30)))
    how = ["train", str(tmp_path / "x.tsv"), "--from", plain, "--output", str(tmp_path / "out"), "--set",
           "model.task=seq2seq", "--set", "stop.steps=1"]
    done = heed(*how)
    assert done.returncode == 0, done.stderr
    assert "encoder" in done.stdout + done.stderr
    how[how.index("--output") + 1] = str(tmp_path / "wider")
    done = heed(*how, "--set", "model.width=24")
    assert done.returncode == CONFIG and "model.width is 24" in done.stderr and "16" in done.stderr, done.stderr


def test_labels_start_from_labels(plain, tmp_path):
    new = "".join(f"Some new text {i}\tc\n" for i in range(20))
    done = train(tmp_path, PLAIN + new, how=["--from", plain, "--set", "stop.steps=2"])
    assert done.returncode == 0, done.stderr
    assert "3 labels" in done.stdout and text("info", str(tmp_path / "out"))
