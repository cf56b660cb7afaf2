"""What a trained model attended to."""

import json

import numpy as np
import pytest
from common import drawing_in
from heed_program import run, train_small

import heed


@pytest.fixture(name="path", scope="module")
def transformer_folder(tmp_path_factory):
    return train_small(tmp_path_factory.mktemp("models") / "looked", "model.kind=transformer", "attention.heads=2",
                       "attention.score=dot")


@pytest.fixture(name="model", scope="module")
def loaded_model(path):
    return heed.load(path)


def test_it_is_what_the_program_says(model, path):
    found = model.look("abc", target="cb")
    said = json.loads(run("look", path, "abc", "--target", "cb", "--json", "-").stdout)
    assert found.document == said
    assert found.output == "cb" and found.main is found.maps[-1]
    assert found.main.queries == ["c", "b", "</s>"] and found.main.keys == ["a", "b", "c"]


def test_weights_are_those_of_prediction(model):
    found, predicted = model.look("hello"), model.predict("hello")
    assert found.output == predicted.text
    rows = len(predicted.alignment)
    np.testing.assert_allclose(found.main.of_head()[:rows], predicted.alignment, atol=1e-6)
    np.testing.assert_allclose(found.main.weights.sum(axis=2), 1, atol=1e-5)


def test_one_by_name(model):
    found = model.look("abc")
    own = found["encoder.0.self"]
    assert own.weights.shape == (2, 3, 3) and own.of_head(2).shape == (3, 3)
    with pytest.raises(KeyError, match="there are: encoder.0.self"):
        found["nowhere"]
    with pytest.raises(ValueError, match="head 3: encoder.0.self has 2"):
        own.of_head(3)


def test_the_drawing_is_that_of_the_program(model, path, tmp_path):
    found = model.look("abc", target="cb")
    run("look", path, "abc", "--target", "cb", "--svg", tmp_path / "program.svg")
    assert found.svg() == (tmp_path / "program.svg").read_text()
    found.save(tmp_path / "own.svg")
    assert (tmp_path / "own.svg").read_text() == found.svg()
    run("look", path, "abc", "--target", "cb", "--attention", "encoder.0.self", "--head", "2", "--svg", tmp_path / "h.svg")
    assert found.svg("encoder.0.self", 2) == (tmp_path / "h.svg").read_text()
    with pytest.raises(KeyError, match="nowhere"):
        found.svg("nowhere")
    with pytest.raises(ValueError, match="head 3"):
        found.svg(head=3)
    assert drawing_in(found._repr_html_()) == found.svg()


def test_plots(model):
    pytest.importorskip("matplotlib").use("agg")
    found = model.look("abc", target="cb")
    axes = found.plot("encoder.0.self", head=2)
    np.testing.assert_array_equal(axes.images[0].get_array(), found["encoder.0.self"].of_head(2))
    assert [t.get_text() for t in axes.get_xticklabels()] == ["a", "b", "c"]
    assert found.plot(axes=axes) is axes and len(axes.images) == 2


def test_the_page(model, tmp_path):
    found = model.look("abc")
    try:
        found.save(tmp_path / "looked.html")
    except heed.Error as error:
        assert "without npm" in str(error)
        return
    assert "heed.attention" in (tmp_path / "looked.html").read_text()


def test_mistakes_are_named(model, path):
    with pytest.raises(heed.Error, match="nothing to look at"):
        model.look("")
    with pytest.raises(TypeError, match="unexpected keyword argument 'beem'"):
        model.look("abc", beem=3)
    with pytest.raises(heed.Error, match="not an ensemble of 2"):
        heed.load([path, path]).look("abc")
