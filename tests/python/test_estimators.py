# slow: 15 s
"""heed.Classifier, heed.Translator and heed.LanguageModel, with scikit-learn and without it."""
import copy
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import heed

TEXTS = [f"the film number {i} was {word}" for i in range(30) for word in ("lovely", "awful")]
LABELS = ["good", "bad"] * 30
QUICK = {"width": 16, "epochs": 20, "learning_rate": 0.02, "random_state": 1}


def library(name):
    return pytest.importorskip(name, reason=f"{name} is not installed: make test-python-peers installs it and runs this")


@pytest.fixture(name="judge", scope="module")
def fitted_classifier():
    return heed.Classifier(**QUICK).fit(TEXTS, LABELS)


def test_a_classifier(judge):
    assert judge.classes_.tolist() == ["bad", "good"] and judge.class_prior_.tolist() == [0.5, 0.5]
    assert judge.predict(["the film number 3 was lovely", "the film number 4 was awful"]).tolist() == ["good", "bad"]
    assert judge.score(TEXTS, LABELS) == 1.0
    probabilities = judge.predict_proba(TEXTS)
    assert probabilities.shape == (60, 2) and np.allclose(probabilities.sum(axis=1), 1.0)
    assert judge.predict_proba([""]).tolist() == [[0.5, 0.5]] and judge.predict([""]).shape == (1,)
    found = judge.model_.predict(TEXTS[0])
    assert found.text == "good" and np.isclose(np.exp(found.score), probabilities[0, 1])


@pytest.mark.parametrize("labels", [[3, 1], [True, False], [2.0, -1.0], ["a\tb", "c"], ["1", " 1"], ["", "x"]])
def test_labels_of_any_kind_come_back(labels):
    y = labels * 30
    judge = heed.Classifier(**QUICK).fit(np.array(TEXTS)[:, None], np.array(y)[:, None])
    assert judge.classes_.tolist() == sorted(labels) and judge.classes_.dtype == np.array(labels).dtype
    assert judge.predict(TEXTS).tolist() == y
    assert sorted(judge.model_.labels) == (["0", "1"] if isinstance(labels[0], str) else sorted(map(str, labels)))


def test_a_rare_label_that_no_training_line_has():
    judge = heed.Classifier(width=8, settings={"stop.steps": 3}, random_state=1)
    judge.fit(TEXTS[:58] + ["alone"], LABELS[:58] + ["rare"], valid=(TEXTS[58:], LABELS[58:]))
    assert judge.predict_proba(TEXTS[:2]).shape == (2, 3)


def test_the_same_seed_gives_the_same_model_and_another_another():
    first, second, third = (
        heed.Classifier(width=8, settings={"stop.steps": 5}, random_state=seed).fit(TEXTS, LABELS).predict_proba(TEXTS)
        for seed in (1, 1, np.random.RandomState(7))
    )
    assert (first == second).all() and (first != third).any()


def test_a_translator():
    days = [(f"{d}.{m}.", f"{m:02}-{d:02}") for m in range(1, 13) for d in range(1, 29)]
    sources, targets = zip(*days)
    reader = heed.Translator(width=16, settings={"stop.steps": 30}, random_state=1)
    assert reader.fit(sources, targets, valid=(sources[:9], targets[:9])) is reader
    said = reader.predict(sources[:4], beam=2)
    assert said.dtype == object and said.tolist() == reader.model_.predict(sources[:4], beam=2).texts
    assert reader.score(sources, targets) == reader.model_.evaluate(days, metrics="chrf")["chrf"] / 100


def test_a_language_model():
    writer = heed.LanguageModel(width=16, layers=1, settings={"stop.steps": 40, "model.context": 32}, random_state=1)
    writer.fit(TEXTS)
    assert writer.predict(["the film"], max_length=5).shape == (1,)
    assert writer.score(TEXTS) > writer.score(["zz qq"]) and writer.perplexity(TEXTS) < 20
    assert -writer.score(TEXTS) == writer.model_.evaluate(TEXTS)["bits_per_character"]


def test_parameters():
    judge = heed.Classifier(width=64, layers=2, settings={"train.batch_tokens": 300})
    assert judge.get_params()["width"] == 64 and judge.set_params(epochs=2) is judge
    assert repr(judge) == "Classifier(epochs=2, layers=2, settings={'train.batch_tokens': 300}, width=64)"
    assert 'encoder_layers = 2' in judge.fit(TEXTS, LABELS).model_.recipe
    with pytest.raises(ValueError, match="there is no parameter 'widht'"):
        judge.set_params(widht=3)


def test_what_was_fitted_can_be_sent_elsewhere(judge, tmp_path):
    for made in (pickle.loads(pickle.dumps(judge)), copy.deepcopy(judge)):
        assert (made.predict_proba(TEXTS) == judge.predict_proba(TEXTS)).all()
    (tmp_path / "judge.pickle").write_bytes(pickle.dumps(judge))
    code = f"import pickle; print(*pickle.load(open({str(tmp_path / 'judge.pickle')!r}, 'rb')).predict({TEXTS[:3]!r}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == judge.predict(TEXTS[:3]).tolist()


@pytest.mark.parametrize("X, y, says", [
    ([[1.0, 2.0]], ["a"], r"X\[0\]: expected a text"),
    ("one text", ["a"], "expected several texts"),
    (TEXTS, LABELS[:-1], "X has 60 texts, but y has 59 values"),
    (TEXTS, ["good"] * 60, "at least two classes"),
    (TEXTS, None, "expected labels, got None"),
    (TEXTS, [1.0, float("nan")] * 30, "contains NaN"),
    (TEXTS, [1.0, 0.5] * 30, "continuous"),
])
def test_refusals(X, y, says):
    with pytest.raises(ValueError, match=says):
        heed.Classifier(**QUICK).fit(X, y)


def test_before_fit_and_without_scikit_learn():
    with pytest.raises(ValueError, match="is not fitted: call fit first"):
        heed.Classifier().predict(TEXTS)
    code = "import sys; sys.modules['sklearn'] = None; import heed\ntry:\n    heed.Classifier().predict(['a'])\nexcept "
    code += "heed.Error as error:\n    print(error, 'sklearn' in [n for n, m in sys.modules.items() if m])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "this Classifier is not fitted: call fit first False\n"


# -------------------------------------------------------------------------------------------------- with scikit-learn


def test_clone_and_validation():
    library("sklearn")
    from sklearn.base import clone, is_classifier
    from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score

    judge = heed.Classifier(**QUICK)
    assert is_classifier(judge) and clone(judge).get_params() == judge.get_params()
    assert cross_val_score(judge, TEXTS, LABELS, cv=3).min() > 0.9
    assert cross_val_predict(judge, np.array(TEXTS), LABELS, cv=2, method="predict_proba").shape == (60, 2)
    search = GridSearchCV(judge, {"width": [8, 16], "settings": [{"stop.steps": 3}]}, cv=2, scoring="neg_log_loss")
    search.fit(TEXTS, LABELS)
    assert search.best_params_["width"] in (8, 16) and search.best_estimator_.predict(TEXTS).shape == (60,)
    assert GridSearchCV(judge, {"width": [8]}, cv=2, n_jobs=2).fit(TEXTS, LABELS).best_score_ > 0.5


def test_in_a_pipeline():
    library("sklearn")
    from sklearn.metrics import confusion_matrix
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    lower = FunctionTransformer(lambda texts: [text.lower() for text in texts])
    pipe = make_pipeline(lower, heed.Classifier(**QUICK)).fit([text.upper() for text in TEXTS], LABELS)
    assert pipe.score([text.upper() for text in TEXTS], LABELS) == 1.0 and pipe.classes_.tolist() == ["bad", "good"]
    assert "Classifier" in pipe._repr_html_() and pipe.set_params(classifier__width=8)
    judge = pipe.named_steps["classifier"]
    found = judge.model_.evaluate(texts=TEXTS, labels=LABELS)
    assert found.confusion.tolist() == confusion_matrix(LABELS, judge.predict(TEXTS)).tolist()


# What scikit-learn's own checks say. For estimators of texts it has none: it makes numbers, and says that it cannot test
# the rest. So here is one that writes its rows of numbers as texts, which all of its checks are run on.
def _rebuilt(params, state):
    made = on_numbers().set_params(**params)
    made.__dict__.update(state)
    return made


def on_numbers():
    """heed.Classifier on rows of numbers."""
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.utils.validation import validate_data

    class OnNumbers(ClassifierMixin, heed.Classifier, BaseEstimator):
        def __init__(self, *, width=16, settings=None, random_state=1):
            super().__init__(width=width, settings=settings, random_state=random_state)

        def __reduce__(self):  # a class inside a function cannot be pickled by its name
            return _rebuilt, (self.get_params(), self.__dict__)

        def _all_settings(self):
            return {**super()._all_settings(), "stop.steps": 60, "train.learning_rate": 0.02, "validate.every": 60}

        def _texts(self, X, **more):
            X = validate_data(self, X, **more)
            return [" ".join(f"{column}:{2 * value:.0f}" for column, value in enumerate(row)) for row in X]

        def fit(self, X, y, valid=None):
            validate_data(self, X, y)
            texts = self._texts(X)
            if len(texts) < 2:
                raise ValueError("1 sample is too few")
            return super().fit(texts, y)

        def predict_proba(self, X):
            self._fitted()
            return super().predict_proba(self._texts(X, reset=False))

        def predict(self, X):
            self._fitted()
            return self.classes_[self.predict_proba(X).argmax(axis=1)]

        def __sklearn_tags__(self):
            tags = BaseEstimator.__sklearn_tags__(self)
            tags.estimator_type = "classifier"
            tags.classifier_tags = heed.Classifier.__sklearn_tags__(self).classifier_tags
            tags.target_tags.required = True
            return tags

    return OnNumbers()


def test_the_checks_of_scikit_learn():
    sklearn = library("sklearn")
    if tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 6):
        pytest.skip("scikit-learn 1.6 is the first that returns the results of its checks")
    import warnings

    from sklearn.utils.estimator_checks import check_estimator

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        done = check_estimator(on_numbers(), expected_failed_checks=None, on_fail=None, on_skip=None)
    counts = {status: sum(one["status"] == status for one in done) for status in ("passed", "skipped", "failed")}
    print(counts, [one["check_name"] for one in done if one["status"] == "skipped"])
    failed = {one["check_name"]: repr(one["exception"])[:600] for one in done if one["status"] == "failed"}
    assert not failed, failed
    assert counts["passed"] > 40
