"""Pictures of predictions: SVG, matplotlib, and what notebooks show."""

import pickle
import random
import re
import subprocess
import sys

import numpy as np
import pytest
from common import drawing_in
from heed_program import run, train_small

import heed


@pytest.fixture(name="path", scope="module")
def small_folder(tmp_path_factory):
    return train_small(tmp_path_factory.mktemp("models") / "drawn")


@pytest.fixture(name="model", scope="module")
def loaded_model(path):
    return heed.load(path)


@pytest.fixture(name="labels", scope="module")
def label_model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("labels")
    rng = random.Random(1)
    (folder / "r.tsv").write_text("".join(
        f"The plot was {rng.choice(['long', 'short'])}. It was {word}!\t{label}\n"
        for word, label in [("lovely", "good"), ("awful", "bad")] * 40))
    return heed.train(folder / "r.tsv", folder / "model", progress=False,
                      settings={"model.task": "classification", "model.width": 8, "attention.structure": "hierarchical",
                                "stop.steps": 3})


def test_the_drawing_is_that_of_the_program(model, path, tmp_path):
    found = model.predict("hello")
    run("predict", path, "--pictures", tmp_path, given=b"hello\n")
    assert found.svg() == (tmp_path / "1.svg").read_text()
    shown = found._repr_html_()
    assert drawing_in(shown) == found.svg() and f"<b>{found.text}</b> score {found.score:.3f}" in shown
    again = pickle.loads(pickle.dumps(found))
    assert again.svg() == found.svg() and again.text == found.text


def test_labels_are_shaded_texts(labels):
    found = labels.predict("The plot was long. It was lovely!")
    assert ">lovely</text>" in found.svg() and " %</text>" in found.svg()
    assert drawing_in(found._repr_html_()) == found.svg()


def test_pictures_have_their_cells(tmp_path):
    (tmp_path / "r.toml").write_text('[data]\ntask = "scenes"\nexamples = 40\nvalid_examples = 5\n'
                                     '[model]\ntask = "image"\nwidth = 8\npicture_size = 8\npicture_layers = 1\n'
                                     '[stop]\nsteps = 2\n')
    found = heed.train(recipe=tmp_path / "r.toml", folder=tmp_path / "model", progress=False).predict("scene:17\tcircle")
    assert found.alignment.shape == (len(found.tokens), 16)
    np.testing.assert_allclose(found.alignment.sum(axis=1), 1, atol=1e-4)
    assert found.svg().count("<use") == len(found.tokens) + 1


def test_plots(model):
    pytest.importorskip("matplotlib").use("agg")
    found = model.predict("hello")
    axes = found.plot()
    np.testing.assert_array_equal(axes.images[0].get_array(), found.alignment)
    assert [t.get_text() for t in axes.get_xticklabels()] == list("hello")
    assert [t.get_text() for t in axes.get_yticklabels()] == found.tokens
    assert axes.get_title() == found.text
    assert found.plot(axes) is axes and len(axes.images) == 2


def test_plots_without_matplotlib(path):
    said = subprocess.run([sys.executable, "-c", f"""
import sys
sys.modules["matplotlib"] = None
import heed
try:
    heed.load({str(path)!r}).predict("hello").plot()
except ImportError as error:
    print(error)
"""], capture_output=True, text=True, check=True).stdout
    assert "pip install matplotlib" in said and "svg() works without it" in said


def test_nothing_to_draw(model):
    for found in (model.predict("hello", alignments=False), model.predict("")):
        for draw in (found.svg, found.plot):
            with pytest.raises(heed.Error, match="nothing to draw: there is no alignment"):
                draw()
        assert "<img" not in found._repr_html_()
    broken = model.predict("x" * 100_000)
    if broken.error:
        assert "no output:" in broken._repr_html_()
    assert "&lt;b&gt;" in heed.Prediction([], [], [], "a <b> c")._repr_html_()


def test_lists_of_predictions_are_drawn(model):
    found = model.predict(["hello", "", "worm"] * 5)
    assert isinstance(found, list) and isinstance(found, heed.Predictions)
    assert found.texts == [one.text for one in found] and np.isnan(found.scores[1]) and found.scores[0] == found[0].score
    shown = found._repr_html_()
    assert shown.count("<img") == 7 and "... and 5 more" in shown  # the first ten, of which three have no output
    assert type(model.predict("hello")) is heed.Prediction


def test_whatever_has_weights_is_drawn(model):
    looked = model.look("hello").main
    assert drawing_in(looked._repr_html_()) == looked.svg() and looked.svg(head=1).count("<rect") > looked.weights[0].size
    x = np.ones((1, 3, 4), np.float32)
    result = heed.Attention("dot", query_width=4, key_width=4).forward(x, weights=True)
    attended = heed.attend(x, x, return_weights=True)
    for one in (result, attended):
        assert drawing_in(one._repr_html_()).startswith("<svg") and "weights [1, 1, 3, 3]" in one._repr_html_()
    assert "<img" not in heed.attend(x, x, stages="raw")._repr_html_()
    large = heed.attend(np.ones((1, 300, 4), np.float32), np.ones((1, 300, 4), np.float32), return_weights=True)
    assert "<img" not in large._repr_html_()  # a matrix that nobody could read


def test_one_matrix_has_the_colours_of_the_others(model):
    found = model.predict("hello")
    colours = lambda svg: set(re.findall("#[0-9a-f]{6}", svg))  # noqa: E731
    from heed._plot import matrix_svg

    assert colours(matrix_svg(found.alignment, "abcdefgh"[: len(found.alignment)], range(found.alignment.shape[1])))
    with pytest.raises(heed.Error, match="a name for each row"):
        matrix_svg(np.ones((2, 2)), "a", "bc")
