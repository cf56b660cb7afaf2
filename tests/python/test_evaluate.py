"""model.evaluate(): the numbers of `heed evaluate`, from Python's data."""
import io
import json
import math

import numpy as np
import pytest
from heed_program import run

import heed

TEXTS = [f"the film number {i} was {word}" for i in range(30) for word in ("lovely", "awful", "long")]
LABELS = ["good", "bad", "bad"] * 30
DAYS = [(f"{d}.{m}.", f"{m:02}-{d:02}") for m in range(1, 13) for d in range(1, 29)]


@pytest.fixture(name="judge", scope="module")
def trained_on_labels():
    return heed.train(texts=TEXTS, labels=LABELS, progress=False,
                      settings={"model.width": 8, "stop.steps": 12, "train.learning_rate": 0.01})


@pytest.fixture(name="reader", scope="module")
def trained_on_pairs():
    return heed.train(DAYS, progress=False, settings={"model.width": 16, "stop.steps": 40})


@pytest.fixture(name="writer", scope="module")
def trained_on_text():
    small = {"model.width": 16, "model.layers": 1, "model.context": 32, "stop.steps": 10}
    return heed.train(texts=TEXTS, settings=small, progress=False)


def said_by_the_program(*arguments):
    return json.loads(run("evaluate", *arguments, "--json").stdout)


def expect_same(found, said):
    assert found.metrics == {one["metric"]: pytest.approx(one["score"], rel=1e-12) for one in said["metrics"]}
    assert found.examples == said["segments"]
    for one in said["metrics"]:
        assert found.parts[one["metric"]] == pytest.approx(one["parts"])
        assert found.higher_is_better[one["metric"]] == one["higher_is_better"]


def test_labels(judge, tmp_path):
    tsv = tmp_path / "test.tsv"
    tsv.write_text("".join(f"{text}\t{label}\n" for text, label in zip(TEXTS, LABELS)))
    said = said_by_the_program(judge.path, tsv)
    for found in (judge.evaluate(tsv), judge.evaluate(texts=np.array(TEXTS), labels=iter(LABELS)),
                  judge.evaluate(list(zip(TEXTS, LABELS)))):
        expect_same(found, said)
        assert found["accuracy"] == pytest.approx(100 * np.mean([a == b for a, b in zip(judge.predict(TEXTS).texts, LABELS)]))
        assert found.classes == said["confusion"]["labels"] and found.confusion.tolist() == said["confusion"]["counts"]
        assert math.isclose(found.calibration_error, said["calibration_error"])
        assert {name: vars(counts) for name, counts in found.labels.items()} == {
            one.pop("label"): one for one in map(dict, said["labels"])}
    assert len(found.wrong) == found.confusion.sum() - np.trace(found.confusion)
    assert found.outputs == judge.predict(TEXTS).texts and found.references[0] == ["good"]


def test_outputs(reader, tmp_path):
    sources, targets = tmp_path / "a.txt", tmp_path / "b.txt"
    sources.write_text("".join(f"{source}\n" for source, _ in DAYS[:50]))
    targets.write_text("".join(f"{target}\n" for _, target in DAYS[:50]))
    said = said_by_the_program(reader.path, sources, targets, "--beam", "3", "--metric", "bleu,cer,chrf")
    names = ["bleu", "cer", "chrf"]
    expect_same(reader.evaluate((sources, targets), metrics=names, beam=3), said)
    expect_same(reader.evaluate(sources=[s for s, _ in DAYS[:50]], targets=[t for _, t in DAYS[:50]], metrics=names,
                                num_beams=3), said)
    assert reader.evaluate(DAYS[:50], metrics="cer").metrics.keys() == {"cer"}
    expect_same(reader.evaluate(), said_by_the_program(reader.path, "--valid"))
    several = reader.evaluate([("1.1.", "01-01"), ("1.1.", "x"), ("1.2.", "02-01")])
    assert several.examples == 2 and several.references[0] == ["01-01", "x"]


def test_running_text(writer, tmp_path):
    story = tmp_path / "story.txt"
    story.write_text("".join(f"{text}\n" for text in TEXTS[:20]))
    said = said_by_the_program(writer.path, story)
    for found in (writer.evaluate(story), writer.evaluate(TEXTS[:20]), writer.evaluate(texts=iter(TEXTS[:20]))):
        for name in ("perplexity", "bits_per_character", "token_accuracy"):
            assert found[name] == pytest.approx(said[name], rel=1e-12)
        assert found.parts["perplexity"]["tokens"] == said["tokens"] and found.examples == 20


def test_what_is_shown(judge, reader, monkeypatch):
    found = judge.evaluate(texts=TEXTS, labels=LABELS)
    assert "accuracy" in str(found) and "right \\ given" in str(found)
    assert found.svg().startswith("<svg") and "data:image/svg" in found._repr_html_()
    pytest.importorskip("matplotlib").use("Agg")
    assert len(found.plot().get_xticks()) == 2
    plain = reader.evaluate(DAYS[:5])
    assert "<table>" in plain._repr_html_() and "svg" not in plain._repr_html_()
    with pytest.raises(heed.Error, match="needs a model that gives one label"):
        plain.svg()


@pytest.mark.parametrize("arguments, says", [
    ({"data": [("a", "b")], "texts": ["a"], "labels": ["b"]}, "cannot be combined"),
    ({"texts": ["a"], "targets": ["b"]}, "expected texts and labels"),
    ({"data": [("a", "b")], "metrics": "accurancy"}, "accuracy"),
    ({"data": "nowhere.tsv"}, "nowhere.tsv"),
    ({"data": []}, "expected some, got none"),
])
def test_refusals(judge, writer, arguments, says):
    with pytest.raises(heed.Error, match=says):
        judge.evaluate(**arguments)
    with pytest.raises(TypeError, match="evaluate\\(\\) got an unexpected keyword argument 'baem'"):
        judge.evaluate([("a", "b")], baem=3)
    with pytest.raises(heed.Error, match="judged by how well it predicts one"):
        writer.evaluate(TEXTS, metrics="bleu")


def test_probabilities(judge, reader):
    found = judge.predict_proba(TEXTS)
    assert found.shape == (90, 2) and found.dtype == np.float64 and np.allclose(found.sum(axis=1), 1)
    assert (judge.predict_proba(TEXTS[0]) == found[0]).all()
    best = judge.predict(TEXTS)
    assert best.texts == [judge.labels[i] for i in found.argmax(axis=1)]
    assert np.allclose(np.exp(best.scores), found.max(axis=1))
    assert np.isnan(judge.predict_proba(["", "a"])[0]).all()
    with pytest.raises(heed.Error, match="does not give labels"):
        reader.predict_proba("a")
    assert reader.labels == []


def test_a_bar_in_a_notebook(monkeypatch):
    """One cell that is updated, and nothing on standard error. What IPython has is played here."""
    import sys
    import types

    shown = []

    class Handle:
        def update(self, html):
            shown.append(html)

    def display(html, display_id):
        assert display_id is True
        shown.append(html)
        return Handle()

    ipython = types.ModuleType("IPython")
    ipython.get_ipython = lambda: types.SimpleNamespace(kernel=object())
    ipython.display = types.ModuleType("IPython.display")
    ipython.display.display, ipython.display.HTML = display, str
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", ipython.display)
    said = io.StringIO()
    monkeypatch.setattr(sys, "stderr", said)
    heed.train(DAYS, settings={"model.width": 8, "stop.steps": 5})
    assert said.getvalue() == "" and len(shown) > 3
    assert "chosen to fit the data" in shown[0] and "<script" not in shown[0]
    assert "finished after 5 updates" in shown[-1] and "<progress" not in shown[-1]
