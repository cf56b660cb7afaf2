"""The compiled part of heed. It expects arrays as prepared by python/heed/, which is what users call."""

from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple

import numpy as np

class Error(ValueError):
    """Raised for anything heed refuses. The message says what was expected and what was given; `kind` is the
        category."""

    kind: str  # usage, recipe, data, file, missing, cannot_write or bug

def isa() -> str:
    """The instruction set in use."""

def available_isas() -> List[str]:
    """Instruction sets of this build and this CPU, best first."""

def use_isa(name: str) -> None:
    """Selects an instruction set for all further calls; an empty name selects the best."""

def set_threads(count: int) -> None:
    """Number of threads per call; 0: OpenMP's default. Results have the same bits for any number."""

def threads() -> int:
    """Number of threads per call."""

def mechanisms() -> List[Dict[str, Any]]:
    """Every entry of the catalogue."""

def find(name: str) -> Dict[str, Any]:
    """The entry with this name or alias."""

def default_options() -> Dict[str, Any]:
    """Every option with its default."""

def row_faults(rows: np.ndarray) -> Tuple[bool, bool]:
    """Whether a number is infinite or NaN, and whether a row is all 0."""

class Fused:
    """One call of the fused loop, with the arrays it reads: [B, heads, T, width], ragged [heads, tokens, width]."""

    def __init__(self, q: np.ndarray, k: np.ndarray, v: np.ndarray, options: Dict[str, Any]) -> None: ...
    def forward(self, out: np.ndarray, keep: bool) -> None:
        """Writes the context into `out`. `keep`: save what weights() and backward() need."""

    def saved(self) -> np.ndarray:
        """What forward saved for a backward of softmax: [2 * B * H * Tq]."""

    def resume(self, saved: np.ndarray) -> None:
        """As after the forward that saved this."""

    def weights(self) -> np.ndarray:
        """Dense weights, [B, H, Tq, Tk]."""

    def backward(self, out: np.ndarray, d_out: np.ndarray, into: Dict[str, np.ndarray]) -> None:
        """Writes the gradients named in `into` to its arrays: q, k, v, bias, sink, alibi_slopes."""

class Model:
    """A mechanism with its parameters."""

    def __init__(self, name: str, options: Dict[str, Any], seed: int) -> None: ...
    def options(self) -> Dict[str, Any]: ...
    def parameters(self) -> Dict[str, np.ndarray]: ...
    def trainable(self) -> List[str]: ...
    @property
    def context_width(self) -> int: ...
    @property
    def own_queries(self) -> bool: ...
    @property
    def needs_sentences(self) -> bool: ...
    @property
    def draws(self) -> bool: ...

class Value:
    """A tensor of a run."""

    def __bool__(self) -> bool: ...
    def array(self) -> Any:
        """A read-only view of the tape's memory; None for an empty tensor."""

    def gradient(self) -> Optional[np.ndarray]:
        """A copy; None if there is no gradient."""

class Memory:
    """The result of prepare."""

class State:
    """The state that one call passes to the next."""

    @property
    def step(self) -> int:
        """Position of the first query of the next call."""

class Result:
    """The result of one call."""

    @property
    def context(self) -> Value: ...
    @property
    def log_prob(self) -> Value: ...
    @property
    def entropy(self) -> Value: ...
    @property
    def guide_cost(self) -> Value: ...
    @property
    def penalty(self) -> Value: ...
    @property
    def state(self) -> State: ...
    @property
    def weights(self) -> Optional[np.ndarray]: ...
    @property
    def inner_weights(self) -> Optional[np.ndarray]: ...

class Run:
    """One tape: what a forward pass saves for its backward pass."""

    def __init__(self, model: Model, recording: bool, training: bool, seed: int) -> None: ...
    @property
    def done(self) -> bool: ...
    def input(self, rows: np.ndarray, needs_gradient: bool) -> Value: ...
    def prepare(self, arguments: Dict[str, Any]) -> Memory: ...
    def begin(self, batch: int, capacity: int) -> Memory: ...
    def extend(self, so_far: Memory, arguments: Dict[str, Any]) -> Memory: ...
    def attend(self, memory: Memory, state: Optional[State], arguments: Dict[str, Any]) -> Result: ...
    def backward(self, seeds: List[Tuple[Value, np.ndarray]]) -> Dict[str, np.ndarray]: ...

def alignment_svg(found: Mapping[str, Any]) -> str:
    """The best output of what Predictor.predict() said of a line, as SVG."""

def matrix_svg(weights: np.ndarray, rows: List[str], columns: List[str], title: str) -> str:
    """A matrix of weights, as SVG."""

def decoding_options() -> List[Dict[str, Any]]:
    """Every option of decoding: name, meaning, default, range, other names."""

class Predictor:
    """A trained model."""

    def __init__(
        self, folders: List[bytes], checkpoint: str, mean: str, precision: str, checkpoints: List[str]
    ) -> None:
        """`checkpoints` gets the name of each that was loaded."""

    def predict(self, lines: List[bytes], options: Dict[str, Any]) -> List[Dict[str, Any]]:
        """For each line: error, source_tokens, unknown, and nbest, which holds the fields of heed.Output; with alignments
        also what alignment_svg() needs: line, rows, columns, map, sentence_tokens, sentence_weights."""

    def predict_json(self, lines: List[bytes], options: Dict[str, Any]) -> List[str]:
        """For each line: an object as JSON, as `heed predict --json` prints it."""

    def score(self, pairs: List[Tuple[bytes, bytes]], stride: int) -> List[Dict[str, Any]]:
        """For each pair of source and target: the fields of heed.PairScore."""

    def look(self, line: bytes, target: Optional[bytes], options: Dict[str, Any], folder: bytes, page: bool) -> str:
        """What the model attended to: a document as JSON, or the page with it."""

    def draw(
        self, line: bytes, target: Optional[bytes], options: Dict[str, Any], attention: str, head: int
    ) -> str:
        """One attention of that as SVG."""

    def names(self) -> List[str]:
        """Of the weights; refused for an ensemble, as are the next four."""

    def shape(self, name: str) -> Tuple[int, ...]: ...
    def weight(self, name: str) -> np.ndarray:
        """A copy."""

    def write(self, weights: List[Tuple[str, np.ndarray]]) -> None:
        """All of them, or none. Waits for predictions that run."""

    def export_to(self, model: bytes, checkpoint: str, path: bytes, precision: str) -> None:
        """The model, with the weights as they are now, to one file."""

    @property
    def written(self) -> bool:
        """Whether weights were."""

    @property
    def models(self) -> int: ...
    @property
    def task(self) -> str: ...
    @property
    def encoder(self) -> str: ...
    @property
    def decoder(self) -> str: ...
    @property
    def parameter_count(self) -> int: ...
    @property
    def recipe(self) -> str:
        """As TOML."""

    @property
    def vocabulary_sizes(self) -> Tuple[int, int]:
        """Source and target."""

def write_pairs(pairs: List[Tuple[bytes, bytes]], folder: bytes, name: str) -> bytes:
    """To a file in the folder, if they are not there already. Its path."""

def write_text(text: bytes, folder: bytes, name: str) -> bytes:
    """The same of running text."""

def purpose_of(predictor: Predictor) -> Dict[str, Any]:
    """continues_texts; labels, if it gives any; metrics to judge it by."""

def label_probabilities(predictor: Predictor, lines: List[bytes]) -> Tuple[np.ndarray, List[str]]:
    """[lines, labels], NaN for a line without an answer; and what is wrong with each line."""

def references(predictor: Predictor, files: List[bytes]) -> Tuple[List[str], List[List[str]], str]:
    """Of a TSV, of two files, or (none) of the validation data of the training: sources, right answers of each, a
    warning."""

def judge(
    predictor: Predictor,
    outputs: List[bytes],
    references: List[List[bytes]],
    metrics: List[str],
    probabilities: List[float],
) -> Dict[str, Any]:
    """metrics; with probabilities, which are those of labels, also labels, calibration_error, confusion."""

def judge_text(predictor: Predictor, file: bytes, stride: int) -> Dict[str, Any]:
    """How likely the text of a file is: lines, characters, tokens, correct, unknown, log_probability, warning."""

def train(
    files: Dict[str, Any],
    settings: List[bytes],
    folder: bytes,
    from_model: bytes,
    resume: bool,
    callback: Callable[[str], Optional[bool]],
    reward: Optional[Callable[[str, str, List[str]], float]],
) -> None:
    """Calls back with every event as JSON."""

def built_in_tasks() -> List[str]: ...
def compare(
    task: bytes,
    files: Dict[str, Any],
    settings: List[bytes],
    attention: List[bytes],
    over: List[bytes],
    seeds: int,
    folder: bytes,
    resume: bool,
    same_time: bool,
    callback: Callable[[str], Optional[bool]],
) -> bool:
    """Calls back with every event as JSON. Whether it was stopped; the results are in files in the folder."""
