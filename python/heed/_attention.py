"""heed.Attention: a mechanism with parameters, forward and backward."""

from __future__ import annotations

from typing import Any, Dict, List, NamedTuple, Optional, Tuple

import numpy as np

from . import _heed
from ._arrays import KEYS, SEEDS, integers, matrix_rows, text, to_numpy, whole_number
from ._catalogue import check_names, mechanism
from ._heed import Error, State
from ._overflow import refuse_overflow
from ._parameters import Parameters
from ._result import Gradients, Input, Memory, Result
from ._rows import Pairs, Rows


class Source(NamedTuple):
    """Queries on the tape."""

    rows: Rows
    value: _heed.Value


class Attention:
    """A mechanism by name, alone or combined: Attention("additive", normalise="sparsemax", region="local_m").

    Args:
        name: any of heed.mechanisms(), or an alias.
        seed: for the initial values of the parameters and for random draws during training.
        options: heed.default_options() lists them all; query_width, key_width and value_width are the most common.
            value_width = 0: the keys are the values.

    Attributes:
        name, seed, options: as given; options includes the defaults.
        parameters: name -> array, the parameters' own memory (heed.Parameters); trainable: the names of those with
            gradients.
        training: whether dropout and sampling are on; set by train and eval.
        context_width: the width of the output.

    >>> attention = heed.Attention("additive", query_width=16, key_width=8, dropout=0.1).train()
    >>> queries, keys = np.ones((2, 3, 16), np.float32), np.ones((2, 5, 8), np.float32)
    >>> result = attention.forward(queries, keys, key_lengths=[5, 2])          # [B, Tq, 16] and [B, Tk, 8]
    >>> result.context.shape, attention.backward(np.ones_like(result.context))["score.v"].shape
    ((2, 3, 8), (8,))
    >>> memory = attention.eval().prepare(keys)                                # then step by step
    >>> attention.attend(queries[:, 0], memory).context.shape
    (2, 8)
    >>> attention.grow(batch=2, capacity=9).sequences
    2
    """

    def __init__(self, name: str = "scaled_dot", *, seed: int = 0, **options: Any) -> None:
        check_names(options)
        self.name = mechanism(name).name
        self.seed = whole_number(seed, "seed", *SEEDS)
        self.training = True
        self._given = options
        self._model = _heed.Model(name, options, self.seed)
        self.options: Dict[str, Any] = self._model.options()
        self.parameters = Parameters(self._model.parameters())
        self.trainable: Tuple[str, ...] = tuple(self._model.trainable())
        self.context_width: int = self._model.context_width
        self._calls = 0
        self._last: Optional[Result] = None

    def train(self, mode: bool = True) -> "Attention":
        """Dropout and sampling on."""
        self.training = mode
        return self

    def eval(self) -> "Attention":
        """Dropout and sampling off."""
        return self.train(False)

    # ------------------------------------------------------------------------------------------------ all at once
    def forward(
        self,
        queries: Any = None,
        keys: Any = None,
        values: Any = None,
        *,
        query_lengths: Any = None,
        key_lengths: Any = None,
        query_offsets: Any = None,
        key_offsets: Any = None,
        mask: Any = None,
        bias: Any = None,
        query_documents: Any = None,
        key_documents: Any = None,
        sentences: Any = None,
        weights: bool = False,
        entropy: bool = False,
        guide_cost: bool = False,
        penalty: bool = False,
        gradient: bool = True,
        seed: Optional[int] = None,
    ) -> Result:
        """One call for all queries.

        Args:
            queries: [B, Tq, query_width], or [rows, query_width] with query_offsets, or one sequence [Tq, query_width].
                A single array serves as both queries and memory, or as the memory of a mechanism with its own queries.
            keys, values: [B, Tk, key_width] and [B, Tk, value_width], in the same forms. float32; a non-contiguous
                array is copied.
            query_lengths, key_lengths: [B], the number of valid rows from the start. (Rows beyond query_lengths give 0;
                with query_lengths the queries are copied.)
            query_offsets, key_offsets: [B + 1] each: sequence b holds the rows offsets[b] to offsets[b + 1].
            mask: bool, True where visible: [Tq, Tk], [B, Tq, Tk], [B, H, Tq, Tk] (axes may be 1), or with offsets
                [rows, longest memory] or [H, rows, longest memory].
            bias: float32, added to the scores; same shapes as mask.
            query_documents, key_documents: ids for region documents, one per row.
            sentences: hierarchical: [documents + 1], document d holds the sequences sentences[d] to sentences[d + 1].
            weights, entropy, guide_cost, penalty: True to include them in the result.
            gradient: False saves nothing for the backward pass.
            seed: for random draws (default: a new one for every call).
        """
        if keys is None and self._has_own_queries:
            queries, keys = None, queries
            key_lengths = query_lengths if key_lengths is None else key_lengths
            key_offsets = query_offsets if key_offsets is None else key_offsets
        same = keys is None
        if same:
            keys, key_lengths, key_offsets = queries, query_lengths, query_offsets
            key_documents = query_documents if key_documents is None else key_documents
        if keys is None:
            raise Error("forward: expected queries or keys, got neither")
        rows = Rows(keys, "keys", at=key_offsets, lengths=key_lengths, pack=same or self._leaves_rows_out)
        memory = self._prepare(rows, values, key_documents, sentences, self._start(gradient, seed))
        if same:
            came = memory._inputs.pop(0)[1]
            source: Optional[Source] = Source(rows, came.value)
        else:
            source = self._source(queries, memory, query_offsets, query_lengths)
        wanted = {"weights": weights, "entropy": entropy, "guide_cost": guide_cost, "penalty": penalty}
        result = self._attend(
            memory, source, None, self._arguments(memory, source, mask, bias, query_documents), wanted
        )
        self._last = result if gradient else None
        return result

    __call__ = forward

    def backward(self, d_context: Any = None, **others: Any) -> Gradients:
        """Result.backward of the last forward."""
        if self._last is None:
            raise Error("backward: expected a forward before it, with gradient=True")
        last, self._last = self._last, None
        return last.backward(d_context, **others)

    # ------------------------------------------------------------------------------------------------ step by step
    def prepare(
        self,
        keys: Any,
        values: Any = None,
        *,
        lengths: Any = None,
        offsets: Any = None,
        documents: Any = None,
        sentences: Any = None,
        gradient: bool = True,
        seed: Optional[int] = None,
    ) -> Memory:
        """Does the work that is needed once per memory; arguments as in forward."""
        rows = Rows(keys, "keys", at=offsets, lengths=lengths, pack=self._leaves_rows_out)
        return self._prepare(rows, values, documents, sentences, self._start(gradient, seed))

    def grow(self, batch: int, capacity: int, *, gradient: bool = True, seed: Optional[int] = None) -> Memory:
        """An empty memory with room for `capacity` rows in each of `batch` sequences, for Memory.extend."""
        batch, capacity = whole_number(batch, "batch", 0, KEYS), whole_number(capacity, "capacity", 0, KEYS)
        run = self._start(gradient, seed)
        memory = Memory(run, run.begin(batch, capacity), batch, 0)
        memory._of = self

        def extend(keys: Any, values: Any) -> Tuple[_heed.Memory, List[Tuple[str, Input]]]:
            rows = Rows(keys, "keys", at=np.arange(batch + 1))
            arguments, inputs = self._memory_arguments(run, rows, values)
            return run.extend(memory._prepared, arguments), inputs

        memory._extend = extend
        return memory

    def attend(
        self,
        queries: Any,
        memory: Memory,
        state: Optional[State] = None,
        *,
        lengths: Any = None,
        offsets: Any = None,
        mask: Any = None,
        bias: Any = None,
        documents: Any = None,
        target_lengths: Any = None,
        step: Optional[int] = None,
        weights: bool = False,
        entropy: bool = False,
        guide_cost: bool = False,
        penalty: bool = False,
    ) -> Result:
        """Some steps on a prepared memory, starting from `state`: one per query.

        queries: [B, Tq, query_width] (or rows with offsets, as forward), [B, query_width] for one step, or None.
        step: position of the first query, instead of the one in `state`.
        target_lengths: [B], the final number of steps, for the cost of guided attention.
        """
        if not isinstance(memory, Memory) or memory._of is not self:
            got = repr(memory._of) if isinstance(memory, Memory) else type(memory).__name__
            raise Error(f"memory: expected one from prepare or grow of this attention, got one of {got}")
        if state is not None and not isinstance(state, State):
            raise Error(f"state: expected the state of a Result, or None, got {type(state).__name__}")
        source = self._source(queries, memory, offsets, lengths)
        arguments = self._arguments(memory, source, mask, bias, documents)
        if target_lengths is not None:
            arguments["target_lengths"] = integers(target_lengths, "target_lengths", np.int32, (memory.sequences,))
        if step is not None:
            arguments["step"] = whole_number(step, "step", -KEYS, KEYS)
        wanted = {"weights": weights, "entropy": entropy, "guide_cost": guide_cost, "penalty": penalty}
        return self._attend(memory, source, state, arguments, wanted)

    # ------------------------------------------------------------------------------------------------------- inside
    @property
    def _has_own_queries(self) -> bool:
        return self._model.own_queries

    @property
    def _leaves_rows_out(self) -> bool:
        """Whether rows beyond key_lengths must be left out: recurrent layers would run over them."""
        return self._model.needs_sentences

    def _start(self, gradient: bool, seed: Optional[int]) -> _heed.Run:
        if seed is None:
            self._calls += 1
            seed = (self.seed * 1_000_003 + self._calls) % 2**63
        seed = whole_number(seed, "seed", *SEEDS)
        return _heed.Run(self._model, gradient, self.training, seed)

    def _prepare(self, rows: Rows, values: Any, documents: Any, sentences: Any, run: _heed.Run) -> Memory:
        arguments, inputs = self._memory_arguments(run, rows, values)
        if documents is not None:
            arguments["documents"] = rows.documents(documents)
        sequences = rows.batch
        if sentences is not None:
            arguments["sentences"] = integers(sentences, "sentences", np.int64)
            sequences = len(arguments["sentences"]) - 1
        if sentences is not None and not self._model.needs_sentences:
            raise Error(f"sentences: expected with hierarchical attention only, and this is {self!r}")
        memory = Memory(run, run.prepare(arguments), sequences, rows.longest if sentences is None else 0)
        memory._inputs = inputs
        memory._of = self
        return memory

    def _memory_arguments(
        self, run: _heed.Run, rows: Rows, values: Any
    ) -> Tuple[Dict[str, Any], List[Tuple[str, Input]]]:
        keys = run.input(rows.rows, True)
        arguments: Dict[str, Any] = {"keys": keys, "offsets": rows.offsets}
        inputs = [("keys", Input(keys, rows.shape, rows.back))]
        if rows.lengths is not None:
            arguments["lengths"] = rows.lengths
        if values is not None:
            others = rows.beside(values, "values")
            arguments["values"] = run.input(others.rows, True)
            inputs.append(("values", Input(arguments["values"], others.shape, others.back)))
        return arguments, inputs

    def _source(self, queries: Any, memory: Memory, offsets: Any, lengths: Any) -> Optional[Source]:
        if queries is None:
            return None
        if offsets is None and np.ndim(queries) == 2 and memory.sequences != 1:
            if len(queries) != memory.sequences:
                wanted = f"[{memory.sequences}, Tq, width], [{memory.sequences}, width] for one step, or query_offsets"
                raise Error(f"queries: expected {wanted}, got {text(queries.shape)}")
            offsets = np.arange(memory.sequences + 1)
        rows = Rows(queries, "queries", at=offsets, lengths=lengths, pack=True)
        return Source(rows, memory._run.input(rows.rows, True))

    def _arguments(
        self, memory: Memory, source: Optional[Source], mask: Any, bias: Any, documents: Any
    ) -> Dict[str, Any]:
        """The arguments for the queries; a bias comes with the way its gradient goes back."""
        arguments: Dict[str, Any] = {}
        if source is None:
            for name, given in (("mask", mask), ("bias", bias), ("query_documents", documents)):
                if given is not None:
                    raise Error(f"{name}: needs queries, but this mechanism has its own")
            return arguments
        if mask is not None:
            array = to_numpy(mask, "mask")
            if array.dtype != np.bool_:
                raise Error(f"mask: expected bool, True where visible, got {array.dtype}; pass numbers to add as bias")
            seen = Pairs(array, "mask", source.rows, memory.longest, self.options["heads"])
            arguments["mask"] = seen.dense.view(np.uint8)
            if seen.heads > 1:
                arguments["mask_per_head"] = True
        if bias is not None:
            pairs = Pairs(matrix_rows(bias, "bias"), "bias", source.rows, memory.longest, self.options["heads"])
            value = memory._run.input(pairs.dense, True)
            arguments["bias"] = value
            if pairs.heads > 1:
                arguments["bias_per_head"] = True
            arguments["bias_input"] = Input(value, pairs.shape, pairs.back)
        if documents is not None:
            arguments["documents"] = source.rows.documents(documents)
        return arguments

    def _attend(
        self,
        memory: Memory,
        source: Optional[Source],
        state: Optional[State],
        arguments: Dict[str, Any],
        wanted: Dict[str, bool],
    ) -> Result:
        inputs: Dict[str, Input] = {}
        if source is not None:
            arguments.update(queries=source.value, offsets=source.rows.offsets)
            inputs["queries"] = Input(source.value, source.rows.shape, source.rows.back)
        if "bias_input" in arguments:
            inputs["bias"] = arguments.pop("bias_input")
        for name, option, needed in (("guide_cost", "time", "guided"), ("penalty", "structure", "structured")):
            if wanted[name] and self.options[option] != needed:
                raise Error(f"{name}: expected with {option}={needed!r} only, got {self.options[option]!r}")
        arguments.update({name: True for name, value in wanted.items() if value})
        raw = memory._run.attend(memory._prepared, state, arguments)
        result = Result(memory, raw, None if source is None else source.rows, self.options)
        result._inputs = inputs
        refuse_overflow(result.context, lambda: self._numbers(memory, inputs))
        return result

    def _numbers(self, memory: Memory, inputs: Dict[str, Input]) -> Dict[str, np.ndarray]:
        """Everything that a result follows from, by name."""
        given = {name: came.value.array() for name, came in [*memory._inputs, *inputs.items()]}
        return {**given, **dict(self.parameters.items())}

    def __repr__(self) -> str:
        given = "".join(f", {name}={value!r}" for name, value in self._given.items())
        formula, parameters = mechanism(self.name).formula, self.parameters.describe()
        return f"heed.Attention({self.name!r}{given})  # {formula}; parameters: {parameters}"

    def __reduce__(self) -> Tuple[Any, ...]:
        values = {name: np.array(array) for name, array in self.parameters.items()}
        return _restore, (self.name, self.seed, self._given, values, self.training)


def _restore(name: str, seed: int, options: Dict[str, Any], values: Dict[str, np.ndarray], training: bool) -> Attention:
    attention = Attention(name, seed=seed, **options).train(training)
    attention.parameters.load(values)
    return attention


def parameter_shapes(name: str, **options: Any) -> Dict[str, Tuple[int, ...]]:
    """Name -> shape of every parameter of heed.Attention(name, **options), and of heed.attend with that score.

    >>> heed.parameter_shapes("additive", query_width=6, key_width=5, hidden=4)["score.v"]
    (4,)
    """
    return {parameter: array.shape for parameter, array in Attention(name, **options).parameters.items()}
