# slow: 20 s
"""A model that copies, as a user has it: words that it has no token for, their score, where they came from, ensembles."""
import json
import random

import pytest
from heed_program import answers, heed, run, text


def lines(count, seed):
    """Names and what they do; the answer has the name, which is a new one nearly every time."""
    rng = random.Random(seed)
    verbs = ["reads", "writes", "draws", "plays"]
    made = []
    for _ in range(count):
        name = "".join(rng.choice("bdfgklmnprst") + rng.choice("aeiou") for _ in range(3))
        verb, thing = rng.choice(verbs), rng.choice(["files", "sounds", "maps"])
        made.append((f"the program {name} {verb} all your {thing} quickly", f"{name} {verb} {thing}"))
    return made


def trained_in(folder, *more):
    (folder / "data.tsv").write_text("".join(f"{s}\t{t}\n" for s, t in lines(600, 1)))
    settings = ["data.source_tokens=words", "data.joint=true", "data.source_size=40", "model.width=24", "model.copy=true",
                "model.dropout=0", "attention.score=additive", "train.batch_tokens=256", "train.learning_rate=0.01",
                "validate.metric=rouge-l", "validate.every=100", "stop.epochs=8", *more]
    done = heed("train", str(folder / "data.tsv"), "--output", str(folder / "model"), "--threads", "1",
                *[word for setting in settings for word in ("--set", setting)])
    assert done.returncode == 0, done.stderr
    return folder / "model"


@pytest.fixture(name="trained", scope="module")
def trained_model(tmp_path_factory):
    return trained_in(tmp_path_factory.mktemp("copying"))


def test_a_transformer_copies(tmp_path):
    model = trained_in(tmp_path, "model.kind=transformer", "attention.score=scaled_dot", "attention.heads=2", "model.norm=pre",
                       "train.learning_rate=0.005", "model.encoder_layers=1", "model.decoder_layers=1", "stop.epochs=15")
    pairs = lines(40, 2)
    said = answers("predict", model, given="".join(s + "\n" for s, _ in pairs))
    assert sum(a.split()[:1] == t.split()[:1] for a, (_, t) in zip(said, pairs)) >= 30, said


def test_it_writes_words_that_it_never_saw(trained):
    pairs = lines(40, 2)
    for options in [(), ("--beam", "3"), ("--must", "sounds"), ("--sample", "--top-k", "1")]:
        said = answers("predict", trained, *options, given="".join(s + "\n" for s, _ in pairs))
        right = sum(a.split()[:1] == t.split()[:1] for a, (_, t) in zip(said, pairs))
        assert right >= 34, (options, right, said[:5])


def test_scores_are_those_of_the_search(trained):
    source = lines(3, 3)[0][0]
    for options in [(), ("--ensemble", trained)]:
        for beam in ("1", "4"):
            score, output = answers("predict", trained, "--scores", "--beam", beam, *options, given=source + "\n")[0].split("\t")
            assert source.split()[2] in output
            scored = run("score", trained, "-", *options, given=f"{source}\t{output}\n".encode())
            assert b"never saw" not in scored.stderr
            assert abs(float(scored.stdout.split()[0]) - float(score)) < 1e-3, (options, beam, scored, score)


def test_the_picture_says_what_was_copied(trained, tmp_path):
    source, _ = lines(3, 4)[1]
    done = run("look", trained, source, "--attention", "copy", "--json", tmp_path / "seen.json")
    assert done.returncode == 0, done.stderr
    example = json.loads((tmp_path / "seen.json").read_text())["examples"][0]
    assert source.split()[2] in json.dumps(example)
    assert "copied from the source" in json.dumps(example)
    assert run("look", trained, source, "--beam", "3", "--tree").returncode == 0


def test_an_ensemble_copies(trained):
    pairs = lines(10, 5)
    alone = answers("predict", trained, given="".join(s + "\n" for s, _ in pairs))
    assert answers("predict", trained, "--ensemble", trained, given="".join(s + "\n" for s, _ in pairs)) == alone


def test_contradictions_are_told(tmp_path):
    (tmp_path / "data.tsv").write_text("".join(f"{s}\t{t}\n" for s, t in lines(20, 1)))
    for setting, part in [("attention.time=guided", "model.copy cannot be combined with attention.time"),
                          ("model.decoder=parallel", "model.copy needs a decoder that writes step by step")]:
        done = heed("train", str(tmp_path / "data.tsv"), "--set", "model.copy=true", "--set", setting, "--show")
        assert done.returncode != 0 and part in " ".join(done.stderr.split()), done.stderr
    done = heed("train", str(tmp_path / "data.tsv"), "--set", "model.coverage_loss=1", "--set", "model.copy=false", "--show")
    assert "model.coverage_loss needs model.copy = true" in " ".join(done.stderr.split())


def test_it_is_chosen_where_targets_copy_rare_words(tmp_path):
    (tmp_path / "data.tsv").write_text("".join(f"{s}\t{t}\n" for s, t in lines(600, 1)))
    shown = text("train", str(tmp_path / "data.tsv"), "--set", "data.source_tokens=words", "--set", "data.target_tokens=words",
                 "--show")
    assert "copy = true" in shown
