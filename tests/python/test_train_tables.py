"""heed.train: what data is taken for, and tables as data."""
import io

import pytest

import heed

SMALL = {"model.width": 8, "stop.steps": 2, "validate.every": 2, "validate.longest": 8}
WORDS = ["the film was long and", "i saw the play and it was", "my friend said that this is", "all in all it was"]
TEXTS = [f"{WORDS[i % 4]} number {i} {'lovely' if i % 2 else 'awful'}" for i in range(60)]
LABELS = ["good" if i % 2 else "bad" for i in range(60)]
PAIRS = [(f"{a}-{b}", f"{b}{a}") for a in range(10, 16) for b in range(40, 46)]


class Column:
    """As pandas and pyarrow have it: values behind a method."""

    def __init__(self, values, way):
        setattr(self, way, lambda: list(values))

    def __iter__(self):
        raise AssertionError("a column is read by its method")


class Frame:
    """What tables of pandas, polars and pyarrow have in common: names, and a column for a name. Iterating over one of
    pandas gives the names."""

    def __init__(self, columns, names="columns", way="tolist"):
        self._columns = columns
        self._way = way
        setattr(self, names, list(columns))

    def __getitem__(self, name):
        return Column(self._columns[name], self._way)

    def __iter__(self):
        return iter(self._columns)


class NotAvailable:
    """As pandas.NA: a comparison with it is neither true nor false."""

    def __ne__(self, other):
        return self

    def __bool__(self):
        raise TypeError("boolean value of NA is ambiguous")


def trained(data, **more):
    """The model, what was printed, and the events."""
    said, events = io.StringIO(), []
    more = {"settings": SMALL, **more}
    model = heed.train(data, progress=said, callback=events.append, **more)
    return model, said.getvalue(), events


def test_texts_with_labels_are_seen_and_told():
    for labels in (LABELS, [int(label == "good") for label in LABELS]):
        model, said, events = trained(list(zip(TEXTS, labels)))
        assert model.task == "classification"
        seen = [e["text"] for e in events if e["event"] == "seen"]
        assert len(seen) == 1 and "column 2 has 2 different values" in seen[0] and "learning labels" in seen[0]
        assert seen[0] in said
    assert trained(zip(TEXTS, LABELS), settings={**SMALL, "model.task": "seq2seq"})[0].task == "seq2seq"


def test_files_are_seen_as_the_program_sees_them(tmp_path):
    labels, story, pairs = tmp_path / "labels.tsv", tmp_path / "story.txt", tmp_path / "pairs.tsv"
    labels.write_text("".join(f"{text}\t{label}\n" for text, label in zip(TEXTS, LABELS)))
    story.write_text("".join(f"{text}.\n" for text in TEXTS))
    pairs.write_text("".join(f"{source}\t{target}\n" for source, target in PAIRS))
    recipe = tmp_path / "recipe.toml"
    recipe.write_text('[data]\ntask = "reverse"\nexamples = 50\nvalid_examples = 5\n')
    for path, task, told in ((labels, "classification", True), (story, "language_model", True), (pairs, "seq2seq", False),
                             (recipe, "seq2seq", False)):
        model, _, events = trained(path, valid=None if path == recipe else path)
        assert model.task == task
        assert any(e["event"] == "seen" for e in events) == told
    assert "no tabs" in trained(story)[1]


def test_a_recipe_that_leaves_the_task_open_is_doubted(tmp_path):
    recipe = tmp_path / "recipe.toml"
    recipe.write_text("[model]\nwidth = 8\n")
    model, said, _ = trained(zip(TEXTS, LABELS), recipe=recipe)
    assert model.task == "seq2seq"
    assert 'warning: ' in said and 'as for model.task = "classification"' in said


@pytest.mark.parametrize("names, way", [("columns", "tolist"), ("columns", "to_list"), ("column_names", "to_pylist")])
def test_tables_are_data(names, way):
    model, _, events = trained(Frame({"a": [s for s, _ in PAIRS], "b": [t for _, t in PAIRS]}, names, way))
    assert model.task == "seq2seq"
    assert next(e for e in events if e["event"] == "started")["examples"] + 4 >= len(PAIRS) - 1
    # By name, whatever else there is; twelve lines are too few to see labels in, but the names say it.
    table = Frame({"id": range(12), "Label": [1, 0] * 6, "text": TEXTS[:12]}, names, way)
    model, said, _ = trained(table, valid=table)
    assert model.task == "classification" and "columns 'text' and 'Label': learning labels" in said
    scores = model.score(Frame({"text": TEXTS[:2], "label": ["1", "0"]}, names, way))
    assert len(scores) == 2 and not scores[0].error


def test_a_dict_of_columns_is_a_table():
    model, _, _ = trained({"target": [t for _, t in PAIRS], "source": [s for s, _ in PAIRS]})
    assert model.predict("10-40").error is None or not model.predict("10-40").error
    assert model.task == "seq2seq"
    first = open(f"{model.path}/pairs.tsv", encoding="utf-8").readline()
    assert first == "\t".join(PAIRS[0]) + "\n"


@pytest.mark.parametrize("table, says", [
    (Frame({"a": ["x"], "b": ["y"], "c": ["z"]}), r"columns 'a', 'b', 'c': expected two.*text and label"),
    (Frame({"a": ["x"]}), r"columns 'a': expected two"),
    (Frame({"a": ["x", "y"], "b": ["y", None]}), r"row 1 has nothing in column 'b'"),
    (Frame({"a": ["x", float("nan")], "b": ["y", "z"]}), r"row 1 has nothing in column 'a'"),
    (Frame({"a": ["x", "y"], "b": ["y", NotAvailable()]}), r"row 1 has nothing in column 'b'"),
    (Frame({"a": ["x", "y"], "b": ["y"]}), r"column 'a' has 2 values, but column 'b' has 1"),
    ({"hello": "hola", "bye": "adios"}, r"items\(\)"),
])
def test_tables_that_are_not_clear_are_refused(table, says):
    with pytest.raises(heed.Error, match=says):
        heed.train(table, progress=False)


def test_a_table_is_no_list_of_lines(tmp_path):
    model, _, _ = trained(PAIRS)
    with pytest.raises(TypeError, match=r"a table with the columns \['a', 'b'\]: pass one of them"):
        model.predict(Frame({"a": ["x"], "b": ["y"]}))


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_tables_of(library):
    module = pytest.importorskip(library)
    columns = {"text": TEXTS[:12], "label": LABELS[:12]}
    table = module.table(columns) if library == "pyarrow" else module.DataFrame(columns)
    assert trained(table, valid=table)[0].task == "classification"
