"""Attention of every kind: every mechanism by name, on NumPy arrays and anything that supports DLPack.

out = heed.attend(q, k, v, causal=True)                      # a function of arrays
out, gradient = heed.attend_with_gradient(q, k, v)           # and its gradients
attention = heed.Attention("additive", query_width=16, key_width=8)      # parameters by name, forward, backward
heed.mechanisms()                                            # list them
heed.load("en-de").predict(["A dog runs."])[0].text          # a model from `heed train`
heed.train(pairs).predict("12 Sept 84").text                 # or trained here
heed.Classifier().fit(texts, labels).predict(others)         # with scikit-learn's manners
heed.compare("dates", attention=["additive", "dot"])         # the same model with each, side by side

heed.STAGES: the names of heed.attend's stages. heed.torch: the same on tensors, inside autograd.
"""

from ._attend import Attended, attend, attend_with_gradient
from ._attention import Attention, parameter_shapes
from ._catalogue import Mechanism, default_options, mechanism, mechanisms
from ._compare import Compared, Variant, compare
from ._estimators import Classifier, LanguageModel, Translator
from ._evaluation import Evaluation, LabelCounts
from ._heed import Error, State, available_isas, isa, set_threads, threads, use_isa
from ._onnx import OnnxAttention, onnx_attention
from ._look import AttentionMap, Looked
from ._parameters import Parameters
from ._prediction import Output, PairScore, Prediction, Predictions
from ._question import STAGES
from ._recording import recording
from ._result import Memory, Result
from ._train import train
from ._trained import TrainedModel, load
from ._weights import ModelParameters

__version__ = "0.1.0"
__all__ = [
    "Attended",
    "Attention",
    "AttentionMap",
    "Classifier",
    "Compared",
    "Error",
    "Evaluation",
    "LabelCounts",
    "LanguageModel",
    "Looked",
    "Mechanism",
    "Memory",
    "ModelParameters",
    "OnnxAttention",
    "Output",
    "PairScore",
    "Parameters",
    "Prediction",
    "Predictions",
    "Result",
    "STAGES",
    "State",
    "TrainedModel",
    "Translator",
    "Variant",
    "attend",
    "attend_with_gradient",
    "available_isas",
    "compare",
    "default_options",
    "isa",
    "load",
    "mechanism",
    "mechanisms",
    "onnx_attention",
    "parameter_shapes",
    "recording",
    "set_threads",
    "threads",
    "train",
    "use_isa",
]
