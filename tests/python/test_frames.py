"""Data as data scientists have it: series, arrays, columns, dicts, generators; and where a library is there, its own."""
import io
import pathlib

import numpy as np
import pytest

import heed

SMALL = {"model.width": 8, "stop.steps": 2, "validate.every": 2, "validate.longest": 8}
TEXTS = [f"the film number {i} was {'lovely' if i % 2 else 'awful'}" for i in range(40)]
LABELS = ["good" if i % 2 else "bad" for i in range(40)]
SOURCES = [f"{a}-{b}" for a in range(10, 16) for b in range(40, 46)]
TARGETS = [f"{b}{a}" for a in range(10, 16) for b in range(40, 46)]
LANGUAGE = {"model.width": 8, "model.layers": 1, "model.context": 16, "train.batch_tokens": 128, "stop.steps": 2}


def trained(*data, **more):
    """The model and what was printed."""
    said = io.StringIO()
    model = heed.train(*data, **{"settings": SMALL, "progress": said, **more})
    return model, said.getvalue()


def content(model, name="pairs.tsv"):
    return (pathlib.Path(model.path) / name).read_text(encoding="utf-8")


WANTED = "".join(f"{text}\t{label}\n" for text, label in zip(TEXTS, LABELS))


@pytest.mark.parametrize("make", [list, tuple, np.array, iter, lambda x: np.array(x, dtype=object),
                                  lambda x: np.array(x)[:, None], lambda x: (each for each in x)])
def test_columns_of_any_kind(make):
    model, said = trained(texts=make(TEXTS), labels=iter(LABELS))
    assert content(model) == WANTED and sorted(model.labels) == ["bad", "good"]
    assert "read as blanks" not in said
    assert model.predict(make(TEXTS)).texts == model.predict(TEXTS).texts


def test_labels_are_numbers_words_or_several():
    assert sorted(trained(texts=TEXTS, labels=np.arange(40) % 2)[0].labels) == ["0", "1"]
    assert sorted(trained(texts=TEXTS, labels=[i % 2 == 0 for i in range(40)])[0].labels) == ["False", "True"]
    model, _ = trained(texts=TEXTS, labels=[["a", "b,c"] if i % 2 else ["a"] for i in range(40)])
    assert 'label_separator = ";"' in model.recipe
    assert model.predict_proba(TEXTS[:3]).shape == (3, 2)


def test_sources_and_targets():
    model, _ = trained(sources=np.array(SOURCES), targets=TARGETS, valid=(SOURCES[:4], TARGETS[:4]))
    assert not model.labels and content(model).startswith("10-40\t4010\n")
    assert content(model, "valid_pairs.tsv").count("\n") == 4


def test_rows_of_arrays_dicts_and_structures():
    rows = np.array([TEXTS, LABELS]).T
    assert content(trained(rows)[0]) == WANTED
    dicts = [{"text": text, "label": label, "id": i} for i, (text, label) in enumerate(zip(TEXTS, LABELS))]
    for data in (dicts, iter(dicts), (one for one in dicts)):
        model, said = trained(data)
        assert content(model) == WANTED and "learning labels" in said
    table = np.array(list(zip(TEXTS, LABELS)), dtype=[("text", "U60"), ("label", "U9")])
    assert content(trained(table)[0]) == WANTED


def test_line_breaks_and_tabs_are_blanks_and_told():
    texts = [text.replace(" was ", " was\n") for text in TEXTS[:-1]] + [TEXTS[-1].replace(" ", "\t", 1)]
    model, said = trained(texts=texts, labels=LABELS)
    assert content(model) == WANTED and "40 texts have line breaks or tabs" in said
    assert content(trained({"text": texts, "label": LABELS})[0]) == WANTED
    assert model.predict(TEXTS[0].replace(" ", "\n")).text == model.predict(TEXTS[0]).text
    assert model.predict(TEXTS[0].replace(" ", "\n")).unknown == []


def test_texts_alone_are_running_text():
    model, _ = trained(texts=iter(TEXTS), valid=TEXTS[:3], settings=LANGUAGE)
    assert content(model, "texts.txt") == "".join(f"{text}\n" for text in TEXTS) and 'documents = "line"' in model.recipe
    assert content(model, "valid_texts.txt").count("\n") == 3
    poems = [f"roses are {i}\n\nviolets are {i + 1}\n" for i in range(40)]
    model, _ = trained(texts=poems, settings=LANGUAGE)
    assert content(model, "texts.txt").startswith("roses are 0\nviolets are 1\n\nroses are 1\n")
    assert 'documents = "blank_line"' in model.recipe


@pytest.mark.parametrize("given, error, says", [
    ({"texts": TEXTS, "labels": LABELS[:-1]}, heed.Error, "texts has 40 values, but labels has 39"),
    ({"texts": TEXTS, "labels": [None, *LABELS[1:]]}, heed.Error, r"labels\[0\] is missing: leave such rows out"),
    ({"texts": [TEXTS[0], float("nan")], "labels": ["a", "b"]}, heed.Error, r"texts\[1\] is missing"),
    ({"texts": [TEXTS[0], 5], "labels": ["a", "b"]}, TypeError, r"texts\[1\]: expected a str, got int"),
    ({"texts": "story.txt"}, TypeError, "expected several texts"),
    ({"texts": []}, heed.Error, "expected some, got none"),
    ({"texts": TEXTS, "targets": TARGETS}, heed.Error, "expected texts and labels, or sources and targets"),
    ({"sources": SOURCES}, heed.Error, "expected texts and labels, or sources and targets"),
    ({"pairs": [("a", "b")], "texts": TEXTS}, heed.Error, "pairs and texts cannot be combined"),
    ({"pairs": [{"text": "a", "label": "b"}, {"text": "c"}]}, heed.Error, r"pairs\[1\]: expected a dict with"),
    ({"texts": TEXTS, "labels": ["a\nb", *LABELS[1:]]}, heed.Error, "the target holds a tab or a line break"),
])
def test_refusals(given, error, says):
    with pytest.raises(error, match=says):
        heed.train(settings=SMALL, progress=False, **given)


class Features:
    """As datasets has it: labels are numbers, and their names are elsewhere."""
    column_names = ["text", "label"]

    class Names:
        names = ["bad", "good"]

    features = {"text": object(), "label": Names}

    def __getitem__(self, name):
        return TEXTS if name == "text" else [i % 2 for i in range(40)]


def test_datasets_name_their_labels():
    assert content(trained(Features())[0]) == WANTED


def library(name):
    return pytest.importorskip(name, reason=f"{name} is not installed: make test-python-peers installs it and runs this")


@pytest.mark.parametrize("name", ["pandas", "polars", "pyarrow"])
def test_frames_and_series_of(name):
    module = library(name)
    columns = {"id": list(range(40)), "text": TEXTS, "label": LABELS}
    table = module.table(columns) if name == "pyarrow" else module.DataFrame(columns)
    wanted = content(trained(table)[0])
    assert wanted == WANTED
    assert content(trained(texts=table["text"], labels=table["label"])[0]) == WANTED
    model, _ = trained(table.to_batches()[0] if name == "pyarrow" else table[["text", "label"]])
    assert model.predict(table["text"]).texts == model.predict(TEXTS).texts
    assert model.predict(table).texts == model.predict(TEXTS).texts  # the column that is called text
    assert model.evaluate(table).metrics == model.evaluate(texts=table["text"], labels=table["label"]).metrics
    assert model.predict_proba(table["text"]).shape == (40, 2)


def test_categories_of_pandas():
    pandas = library("pandas")
    frame = pandas.DataFrame({"text": TEXTS, "label": pandas.Categorical(LABELS)}, index=range(100, 140))
    assert content(trained(texts=frame["text"], labels=frame["label"])[0]) == WANTED
    frame.loc[103, "text"] = None
    with pytest.raises(heed.Error, match=r"texts\[3\] is missing"):
        trained(texts=frame["text"], labels=frame["label"])
