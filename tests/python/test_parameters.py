# slow: 5 s
"""model.parameters: the weights of a trained model, read and written by name."""

import copy
import pickle
import threading

import numpy as np
import pytest
from heed_program import run, train_small

import heed

LINES = ["abc", "hello", "zyx", "deed", "reverse"]


@pytest.fixture(name="path", scope="module")
def small_folder(tmp_path_factory):
    return train_small(tmp_path_factory.mktemp("models") / "small", "stop.steps=100", "train.learning_rate=0.02")


@pytest.fixture(name="model", params=["float32", "bfloat16", "int8"])
def loaded_model(path, request):
    return heed.load(path, precision=request.param)


def texts(model, lines=LINES):
    return [found.text for found in model.predict(lines, beam=3)]


def scores(model):
    return [found.score for found in model.predict(LINES, beam=3)]


def a_matrix(model):
    return next(name for name, array in model.parameters.items() if array.ndim == 2 and min(array.shape) > 1)


def test_they_are_what_info_and_a_file_say(path, model):
    parameters = model.parameters
    assert sum(array.size for array in parameters.values()) == model.parameter_count
    assert all(array.dtype == np.float32 and np.isfinite(array).all() for array in parameters.values())
    assert len(parameters) == len(list(parameters)) and list(parameters)[0] in parameters
    assert "nothing" not in parameters and list(parameters)[0] in repr(parameters)


def test_reading_changes_nothing(model):
    before = scores(model)
    first = dict(model.parameters)
    assert scores(model) == before
    for name, array in model.parameters.items():
        np.testing.assert_array_equal(array, first[name])


def test_a_copy_is_read_only(model):
    array = model.parameters[a_matrix(model)]
    with pytest.raises(ValueError, match="read-only"):
        array[0, 0] = 1.0


def test_what_is_written_predicts_and_is_read_back(model):
    before, name = scores(model), a_matrix(model)
    old = model.parameters[name]
    model.parameters[name] = np.zeros_like(old)
    assert (model.parameters[name] == 0).all()
    assert scores(model) != before
    model.parameters[name] = old
    np.testing.assert_array_equal(model.parameters[name], old)
    assert scores(model) == before  # to the bit: it is packed as it was


def test_every_weight_can_be_written_back(model):
    before = scores(model)
    for name, array in model.parameters.items():
        model.parameters[name] = array
    assert scores(model) == before


def test_a_model_becomes_another(path, tmp_path):
    other = train_small(tmp_path / "other", "stop.steps=30", "train.learning_rate=0.05")
    model, wanted = heed.load(path), heed.load(other)
    assert scores(model) != scores(wanted)
    assert model.parameters.update(dict(wanted.parameters)) == []
    assert scores(model) == scores(wanted)


def test_exported_as_they_are_now(path, tmp_path):
    model = heed.load(path)
    model.export(tmp_path / "same.heed")
    name = a_matrix(model)
    model.parameters[name] = 0.5 * model.parameters[name]
    model.export(tmp_path / "changed.heed")
    again = heed.load(tmp_path / "changed.heed")
    np.testing.assert_array_equal(again.parameters[name], model.parameters[name])
    assert scores(again) == scores(model) != scores(heed.load(path))
    assert scores(heed.load(tmp_path / "same.heed")) == scores(heed.load(path))
    said = [run("info", tmp_path / name).stdout for name in ("same.heed", "changed.heed")]
    assert b"best" in said[0] and b"best" not in said[1], said
    with pytest.raises(heed.Error, match="from_model: its parameters were changed"):
        heed.train([("a", "b")] * 20, from_model=model, progress=False)


@pytest.mark.parametrize("again", [lambda model: pickle.loads(pickle.dumps(model)), copy.copy, copy.deepcopy])
def test_copies_have_weights_of_their_own(model, again):
    """Pickled and copied as they are now; what is written to one of them changes no other."""
    untouched = again(model)
    name, first = a_matrix(model), scores(model)
    model.parameters[name] = 0.5 * model.parameters[name]
    changed, now = again(model), scores(model)
    assert scores(untouched) == first != now == scores(changed) == scores(again(changed))
    for key, array in model.parameters.items():
        np.testing.assert_array_equal(changed.parameters[key], array)
    changed.parameters[name] = 0 * changed.parameters[name]
    assert scores(model) == now != scores(changed)


def test_a_copy_that_was_changed_is_a_start(model):
    model.parameters.update({a_matrix(model): model.parameters[a_matrix(model)]}, strict=False)
    pairs = [(word, word[::-1]) for word in LINES * 5]
    heed.train(pairs, from_model=copy.deepcopy(model), settings={"stop.steps": 1}, progress=False)


def test_strides_and_other_arrays_are_taken(model):
    name = a_matrix(model)
    old = model.parameters[name]
    model.parameters[name] = np.asfortranarray(old)
    np.testing.assert_array_equal(model.parameters[name], old)


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda old: old[:-1], "expected .*, got"),
        (lambda old: old.astype(np.float64), "expected float32, got float64"),
        (lambda old: old.reshape(-1), "expected .*, got"),
        (lambda old: np.where(np.arange(old.size).reshape(old.shape) == 1, np.float32("nan"), old), "got nan at index 1"),
        (lambda old: old + np.float32("inf"), "got inf at index 0"),
        (lambda old: "text", "expected a NumPy array"),
    ],
)
def test_what_does_not_fit_is_refused(model, change, message):
    before, name = scores(model), a_matrix(model)
    old = model.parameters[name]
    with pytest.raises(heed.Error, match=f"{name}.*{message}"):
        model.parameters[name] = change(old)
    all_of_them = dict(model.parameters)
    all_of_them[name] = change(old)
    first = list(all_of_them)[0] if list(all_of_them)[0] != name else list(all_of_them)[1]
    all_of_them[first] = all_of_them[first] + 1
    with pytest.raises(heed.Error, match=message):
        model.parameters.update(all_of_them)
    assert scores(model) == before  # none of them was written


def test_names_that_do_not_fit(model):
    name = a_matrix(model)
    with pytest.raises(KeyError, match="there is no parameter nothing"):
        model.parameters["nothing"]
    with pytest.raises(KeyError, match="there is no parameter nothing"):
        model.parameters["nothing"] = np.zeros(3, np.float32)
    old = model.parameters[name]
    with pytest.raises(heed.Error, match="missing: .*unknown: nothing"):
        model.parameters.update({name: old, "nothing": old})
    assert model.parameters.update({name: old, "nothing": old}, strict=False) == ["nothing"]


def test_an_ensemble_has_none(path):
    with pytest.raises(heed.Error, match="this is an ensemble of 2 models"):
        heed.load([path, path]).parameters  # pylint: disable=expression-not-assigned


def test_a_precision_that_does_not_exist(path):
    with pytest.raises(heed.Error, match="float64"):
        heed.load(path, precision="float64")


def test_threads_predict_while_another_writes(path):
    model = heed.load(path)
    name = a_matrix(model)
    old = model.parameters[name]
    states = [old, 0.5 * old]
    expected = []
    for state in states:
        model.parameters[name] = state
        expected.append(scores(model)[0])
    wrong, done = [], threading.Event()

    def predict():
        while not done.is_set():
            found = model.predict(LINES[0], beam=3).score
            if found not in expected:
                wrong.append(found)

    threads = [threading.Thread(target=predict) for _ in range(3)]
    for thread in threads:
        thread.start()
    for i in range(60):
        model.parameters[name] = states[i % 2]
    done.set()
    for thread in threads:
        thread.join()
    assert not wrong
