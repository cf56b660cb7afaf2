"""Ways to decode, as `heed predict` has them."""

import json

import pytest
from heed_program import answers, train_small

import heed

LINES = ["abc", "hello", "a", "zyx0wvu", "deed", "reverse"]
TEXT = "".join(line + "\n" for line in LINES)


@pytest.fixture(name="model", scope="module")
def loaded_model(folder):
    return heed.load(folder)


@pytest.fixture(name="other", scope="module")
def another_folder(tmp_path_factory):
    return train_small(tmp_path_factory.mktemp("models") / "other", "model.kind=transformer", "attention.score=dot")


@pytest.mark.parametrize(
    "options, flags",
    [
        ({"must": "zq"}, ["--must", "zq"]),
        ({"must": ["zq", "j"], "must_not": ["e"], "prefix": "w"}, "--must zq --must j --must-not e --prefix w".split()),
        ({"beam": 4, "groups": 2, "diversity": 1.5}, "--beam 4 --groups 2 --diversity 1.5".split()),
        ({"no_repeat_ngram": 2}, ["--no-repeat-ngram", "2"]),
        (
            {"sample": True, "temperature": 5.0, "nbest": 20, "allow_unknown": True},
            "--sample --temperature 5 --nbest 20 --allow-unknown".split(),
        ),
        ({"sample": True, "distinct": True, "nbest": 4}, "--sample --distinct --nbest 4".split()),
        ({"mbr": "chrf", "sample": True, "candidates": 9}, "--mbr chrf --sample --candidates 9".split()),
    ],
)
def test_it_is_what_the_program_says(model, folder, options, flags):
    said = [json.loads(line) for line in answers("predict", folder, "--json", *flags, given=TEXT)]
    found = model.predict(LINES, **options)
    assert [p.text for p in found] == [line["output"] for line in said]
    assert [p.score for p in found] == [line["score"] for line in said]
    assert [json.loads(line)["output"] for line in model.predict_json(LINES, **options)] == [p.text for p in found]


def test_lines_have_rules_of_their_own(model):
    found = model.predict(LINES[:3], must=[["zz", "j"], [], "q"], prefix=["", "wow", ""], must_not="e")
    assert "zz" in found[0].text and "j" in found[0].text and "q" in found[2].text
    assert found[1].text.startswith("wow")
    assert not any("e" in p.text for p in found)
    assert found[0].nbest[0].missing == []
    short = model.predict("abc", must=["zq", "jx"], max_length=3)
    assert short.nbest[0].missing
    with pytest.raises(heed.Error, match="must: 2 for 3 lines"):
        model.predict(LINES[:3], must=[["a"], ["b"]])
    with pytest.raises(heed.Error, match="cannot write 'ö'"):
        model.predict(LINES, must="ö")
    with pytest.raises(TypeError, match="must"):
        model.predict(LINES, must=3)
    with pytest.raises(TypeError, match="must_not"):
        model.predict(LINES[:1], must_not=[[7]])


def test_ensembles(model, folder, other):
    twice = heed.load([folder, str(folder)])
    assert [p.text for p in twice.predict(LINES, beam=3)] == [p.text for p in model.predict(LINES, beam=3)]
    both = heed.load([folder, other], mean="probabilities")
    said = answers("predict", folder, "--ensemble", other, "--ensemble-mean", "probabilities", given=TEXT)
    assert [p.text for p in both.predict(LINES)] == said
    assert both.score([("abc", "cba")])[0].log_probability < 0
    with pytest.raises(heed.Error, match="ensemble"):
        both.export("nowhere.heed")
    with pytest.raises(heed.Error, match="mean"):
        heed.load([folder, other], mean="median")
    with pytest.raises(heed.Error, match="at least one"):
        heed.load([])
    with pytest.raises(FileNotFoundError):
        heed.load([folder, "nowhere"])


def test_a_reverse_model(model, other):
    reverse = heed.load(other)
    found = model.predict("hello", beam=5, nbest=3, rerank_reverse=reverse, rerank_weight=0.5)
    for output in found.nbest:
        right = reverse.score([(output.text, "hello")])[0].log_probability
        assert abs(output.reverse_log_probability - right) < 1e-4
        assert abs(output.score - output.log_probability - 0.5 * right) < 1e-3
    with pytest.raises(TypeError, match="rerank_reverse"):
        model.predict("hello", rerank_reverse="de-en")
