"""Models with scikit-learn's manners: fit, predict, score, parameters by name. scikit-learn itself is not imported."""

from __future__ import annotations

import inspect
import math
from typing import Any, Dict, Iterable, List, Optional, Tuple, TypeVar

import numpy as np

from ._heed import Error
from ._tables import column_names, text_column, texts_of, values_of
from ._train import train
from ._trained import TrainedModel

Self = TypeVar("Self", bound="Estimator")

# What a parameter is called in a recipe; layers: see each class.
_KEYS = {
    "width": "model.width",
    "dropout": "model.dropout",
    "epochs": "stop.epochs",
    "minutes": "stop.minutes",
    "learning_rate": "train.learning_rate",
}


class Estimator:
    """What heed.Classifier, heed.Translator and heed.LanguageModel have in common: parameters, and a trained model.

    Attributes:
        width, layers, dropout, epochs, minutes, learning_rate, settings, from_model, progress, random_state: as given.
        model_: after fit, the heed.TrainedModel.
    """

    model_: TrainedModel
    _estimator_type = ""  # what scikit-learn before 1.6 asks
    _layers: Tuple[str, ...] = ("model.encoder_layers",)

    def __init__(
        self,
        *,
        width: Optional[int] = None,
        layers: Optional[int] = None,
        dropout: Optional[float] = None,
        epochs: Optional[float] = None,
        minutes: Optional[float] = None,
        learning_rate: Optional[float] = None,
        settings: Optional[Dict[str, Any]] = None,
        from_model: Any = None,
        progress: Any = False,
        random_state: Any = None,
    ) -> None:
        self.width = width
        self.layers = layers
        self.dropout = dropout
        self.epochs = epochs
        self.minutes = minutes
        self.learning_rate = learning_rate
        self.settings = settings
        self.from_model = from_model
        self.progress = progress
        self.random_state = random_state

    # ------------------------------------------------------------------------------------------------------ parameters
    @classmethod
    def _names(cls) -> List[str]:
        return sorted(name for name in inspect.signature(cls.__init__).parameters if name != "self")

    def get_params(self, deep: bool = True) -> Dict[str, Any]:  # pylint: disable=unused-argument
        """The parameters by name.

        >>> heed.Classifier(width=64).get_params()["width"]
        64
        """
        return {name: getattr(self, name) for name in self._names()}

    def set_params(self: Self, **params: Any) -> Self:
        """Other values for parameters; returns itself.

        >>> heed.Classifier().set_params(epochs=3).epochs
        3
        """
        for name, value in params.items():
            if name not in self._names():
                raise ValueError(f"there is no parameter {name!r}; there are: {', '.join(self._names())}")
            setattr(self, name, value)
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags  # pylint: disable=import-outside-toplevel

        return Tags(
            estimator_type=self._estimator_type or None,
            target_tags=TargetTags(required=self._estimator_type != "language_model", one_d_labels=True),
            classifier_tags=ClassifierTags() if self._estimator_type == "classifier" else None,
            input_tags=InputTags(one_d_array=True, two_d_array=False, string=True),
        )

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        changed = [f"{n}={v!r}" for n, v in self.get_params().items() if v is not defaults[n].default]
        return f"{type(self).__name__}({', '.join(changed)})"

    # -------------------------------------------------------------------------------------------------------- training
    def _all_settings(self) -> Dict[str, Any]:
        settings = {key: getattr(self, name) for name, key in _KEYS.items() if getattr(self, name) is not None}
        if self.layers is not None:
            settings.update({key: self.layers for key in self._layers})
        if self.random_state is not None:
            settings["train.seed"] = _seed(self.random_state)
        return {**settings, **(self.settings or {})}

    def _train(self, **data: Any) -> None:
        self.model_ = train(
            settings=self._all_settings(), from_model=self.from_model, progress=self.progress, **data
        )

    def _fitted(self) -> TrainedModel:
        if hasattr(self, "model_"):
            return self.model_
        message = f"this {type(self).__name__} is not fitted: call fit first"
        try:
            from sklearn.exceptions import NotFittedError  # pylint: disable=import-outside-toplevel
        except ImportError:
            raise Error(message) from None
        raise NotFittedError(message)


def _seed(random_state: Any) -> int:
    if hasattr(random_state, "randint"):  # numpy.random.RandomState
        return int(random_state.randint(2**31))
    if hasattr(random_state, "integers"):  # numpy.random.Generator
        return int(random_state.integers(2**31))
    return int(random_state)


def _texts(some: Any, name: str = "X") -> List[str]:
    """Lists, series, arrays [n] and [n, 1], the only column of a table; line breaks and tabs are read as blanks."""
    if isinstance(some, (str, bytes)) or not (hasattr(some, "__iter__") or column_names(some)):
        raise ValueError(f"{name}: expected several texts, got {type(some).__name__}")
    values = texts_of(some, name)
    for i, value in enumerate(values):
        if not isinstance(value, str):
            raise ValueError(f"{name}[{i}]: expected a text, got {type(value).__name__} {value!r:.40}")
    return values


def _one_line(texts: Iterable[str]) -> List[str]:
    return [" ".join(text.split("\t")) for text in texts]  # predict() itself reads line breaks as blanks


def _as_many(first: List[Any], second: List[Any]) -> None:
    if len(first) != len(second):
        raise ValueError(f"X has {len(first)} texts, but y has {len(second)} values")


class Classifier(Estimator):
    """Texts -> labels, as scikit-learn's classifiers: also in a Pipeline, cross_val_score and GridSearchCV.

    >>> films = [f"film {i} is {word}" for i in range(30) for word in ("good", "bad")]
    >>> judge = heed.Classifier(width=16, epochs=20, learning_rate=0.02).fit(films, ["yes", "no"] * 30)
    >>> judge.classes_.tolist(), judge.predict(["film 3 is good"]).tolist(), judge.score(films, ["yes", "no"] * 30)
    (['no', 'yes'], ['yes'], 1.0)
    >>> judge.predict_proba(["film 3 is good", "film 7 is bad"]).shape
    (2, 2)

    Args:
        width, layers, dropout, epochs, minutes, learning_rate: of the recipe; None: chosen to fit the data.
        settings: other keys of the recipe, as for heed.train.
        from_model: start from the weights of a trained model.
        progress: as for heed.train; False prints nothing.
        random_state: the seed; None: 1.

    Attributes:
        classes_: after fit, the labels in order; class_prior_: how frequent each was.
        model_: the heed.TrainedModel: predict(), look(), evaluate(), export().
    """

    _estimator_type = "classifier"
    classes_: np.ndarray
    class_prior_: np.ndarray

    def fit(self, X: Any, y: Any, *, valid: Any = None) -> Classifier:
        """Trains on texts with a label each; returns itself.

        Args:
            X: texts: a list, a series, an array, a table of one column.
            y: labels of any kind: words, numbers, True and False.
            valid: (texts, labels) to validate on; None: a tenth of X.
        """
        texts = _texts(X)
        labels = _labels(y)
        _as_many(texts, labels.tolist())
        self.classes_, numbers = np.unique(labels, return_inverse=True)
        self.class_prior_ = np.bincount(numbers) / max(1, len(numbers))
        self._words = _words(self.classes_)
        if len(self.classes_) < 2:
            raise ValueError(f"y: a classifier needs at least two classes, got one class: {self.classes_.tolist()}")
        held_out = None
        if valid is not None:
            place = {label: word for label, word in zip(self.classes_.tolist(), self._words)}
            held_out = (_texts(valid[0], "valid"), [place[label] for label in _labels(valid[1]).tolist()])
        self._train(texts=texts, labels=[self._words[i] for i in numbers], valid=held_out)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """[texts, classes_]: the probability of each label. An empty text has those of the training."""
        model = self._fitted()
        found = model.predict_proba(_one_line(_texts(X)))
        places = {word: i for i, word in enumerate(self._words)}
        all_classes = np.zeros((len(found), len(self.classes_)))
        all_classes[:, [places[word] for word in model.labels]] = found
        all_classes[np.isnan(all_classes).any(axis=1)] = self.class_prior_
        return all_classes

    def predict(self, X: Any) -> np.ndarray:
        """[texts]: the likeliest label of each."""
        best: np.ndarray = self.classes_[self.predict_proba(X).argmax(axis=1)] if self._fitted() else np.empty(0)
        return best

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of labels that are right, from 0 to 1."""
        return float(np.average(self.predict(X) == _labels(y), weights=sample_weight))


def _labels(y: Any) -> np.ndarray:
    if y is None:
        raise ValueError("y: expected labels, got None; a Classifier requires y to be passed")
    column = text_column(y, "y")
    labels = np.asarray(y if column is None and isinstance(y, np.ndarray) else (column or values_of(y)))
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels.ravel()
    if labels.ndim != 1:
        raise ValueError(f"y: expected a label for each text, got an array of shape {labels.shape}")
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError("y: a label is missing: it contains NaN or infinity")
    if labels.dtype.kind == "f" and (labels != labels.round()).any():
        raise ValueError("y: expected labels, got continuous numbers: Unknown label type: continuous")
    return labels


def _words(classes: np.ndarray) -> List[str]:
    """What the classes are called in the model: as themselves if that is possible, otherwise by their numbers."""
    words = [str(label) for label in classes.tolist()]
    plain = all(word and word == " ".join(word.split()) and word.isprintable() for word in words)
    return words if plain and len(set(words)) == len(words) else [str(i) for i in range(len(words))]


class Translator(Estimator):
    """Texts -> texts, with scikit-learn's manners: translation, spelling to sound, dates to ISO 8601.

    >>> reader = heed.Translator(width=16, epochs=1, random_state=1)
    >>> days = range(1, 29)
    >>> sources, targets = [f"{d} May" for d in days], [f"05-{d:02}" for d in days]
    >>> reader.fit(sources, targets).predict(["1 May", "2 May"]).shape
    (2,)
    >>> 0 <= reader.score(sources, targets) <= 1
    True

    Args:
        width, layers, dropout, epochs, minutes, learning_rate, settings, from_model, progress, random_state: as for
            heed.Classifier.

    Attributes:
        model_: after fit, the heed.TrainedModel.
    """

    _estimator_type = "translator"
    _layers = ("model.encoder_layers", "model.decoder_layers")

    def fit(self, X: Any, y: Any, *, valid: Any = None) -> Translator:
        """Trains on sources X and their targets y; returns itself. `valid`: (sources, targets) to validate on."""
        sources, targets = _texts(X), _texts(y, "y")
        _as_many(sources, targets)
        self._train(sources=sources, targets=targets, valid=valid)
        return self

    def predict(self, X: Any, **options: Any) -> np.ndarray:
        """[texts]: the output for each. `options`: those of heed.TrainedModel.predict, such as beam=5."""
        found = self._fitted().predict(_one_line(_texts(X)), **{"alignments": False, **options})
        return np.array(found.texts, dtype=object)

    def score(self, X: Any, y: Any) -> float:
        """chrF of the outputs, from 0 to 1. model_.evaluate(sources=X, targets=y) has other metrics."""
        found = self._fitted().evaluate(sources=_texts(X), targets=_texts(y, "y"), metrics="chrf")
        return found["chrf"] / 100


class LanguageModel(Estimator):
    """Texts -> how they go on, with scikit-learn's manners.

    >>> writer = heed.LanguageModel(width=16, layers=1, settings={"stop.steps": 5, "model.context": 32})
    >>> writer.fit(["the cat sat on the mat", "the dog sat on the cat"] * 20).predict(["the cat"]).shape
    (1,)
    >>> writer.score(["the cat sat"]) < 0 < writer.perplexity(["the cat sat"])
    True

    Args:
        width, layers, dropout, epochs, minutes, learning_rate, settings, from_model, progress, random_state: as for
            heed.Classifier.

    Attributes:
        model_: after fit, the heed.TrainedModel.
    """

    _estimator_type = "language_model"
    _layers = ("model.layers",)

    def fit(self, X: Any, y: Any = None, *, valid: Any = None) -> LanguageModel:  # pylint: disable=unused-argument
        """Trains on texts, each a document of its own; returns itself. `valid`: texts to validate on."""
        self._train(texts=_texts(X), valid=None if valid is None else _texts(valid, "valid"))
        return self

    def predict(self, X: Any, **options: Any) -> np.ndarray:
        """[texts]: what follows each. `options`: those of heed.TrainedModel.predict, such as sample=True."""
        found = self._fitted().predict(_texts(X), **{"alignments": False, **options})
        return np.array(found.texts, dtype=object)

    def score(self, X: Any, y: Any = None) -> float:  # pylint: disable=unused-argument
        """The mean log-probability of a character, in bits: the nearer to 0, the better."""
        return -self._fitted().evaluate(texts=_texts(X))["bits_per_character"]

    def perplexity(self, X: Any) -> float:
        """Of a token: the lower, the better."""
        found = self._fitted().evaluate(texts=_texts(X))["perplexity"]
        return found if math.isfinite(found) else math.inf
