"""heed in PyTorch: the same names on CPU tensors, inside autograd.

out = heed.torch.attend(q, k, v, causal=True)
attention = heed.torch.Attention("additive", query_width=16, key_width=8)     # an nn.Module
out = heed.torch.scaled_dot_product_attention(q, k, v, is_causal=True)        # PyTorch's own names
heed.torch.swap_attention(model)                                              # heed's attention in a model of torch.nn
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import torch

from . import _attend, _attention, _torch_ops
from ._arrays import KEYS, flag, text, whole_number
from ._heed import Error
from ._layout import Layout
from ._question import checked_stages, question
from ._torch_modules import MultiheadAttention, heads_on_heads, scaled_dot_product_attention, swap_attention

__all__ = [
    "Attended",
    "Attention",
    "MultiheadAttention",
    "Result",
    "attend",
    "scaled_dot_product_attention",
    "swap_attention",
]


def _numpy(tensor: Any, name: str, floats: bool = False) -> Any:
    """The tensor's memory; anything else unchanged. `floats`: it must be float32."""
    if not isinstance(tensor, torch.Tensor):
        return tensor
    if tensor.device.type != "cpu":
        raise Error(f"{name}: expected a CPU tensor, got one on {tensor.device}; move it with .cpu()")
    if tensor.dtype != torch.float32 and (floats or tensor.is_floating_point()):
        kind = str(tensor.dtype).rsplit(".", 1)[-1]
        also = ", or pass promote=True" if tensor.is_floating_point() else ""
        raise Error(f"{name}: expected float32, got {kind}; convert with .to(torch.float32){also}")
    return tensor.detach().numpy()


def _tensor(array: Any) -> Any:
    return None if array is None else torch.from_numpy(array)


def _promoted(x: Any) -> Any:
    """Other float types as float32; gradients come back in the original type."""
    if isinstance(x, torch.Tensor) and x.is_floating_point() and x.dtype != torch.float32:
        return x.to(torch.float32)
    return x


def _drawn_seed() -> int:
    """From PyTorch's generator, so that torch.manual_seed determines dropout and sampling."""
    return int(torch.randint(0, 2**63 - 1, (1,), dtype=torch.int64))


class _NoSecond(torch.autograd.Function):
    """Gradients passing through a graph made with create_graph=True. heed has no second derivatives: without this,
    differentiating them again would silently treat them as constants."""

    @staticmethod
    def forward(ctx: Any, *args: Any, **kwargs: Any) -> Tuple[torch.Tensor, ...]:
        count = args[0]
        return tuple(gradient.clone() for gradient in args[1 : 1 + count])

    @staticmethod
    def backward(ctx: Any, *args: Any) -> Tuple[Any, ...]:
        raise Error(_torch_ops.NO_SECOND)


def _once(gradients: List[Any], arrived: Sequence[Any], inputs: Sequence[torch.Tensor]) -> Tuple[Any, ...]:
    """The gradients; with create_graph=True, differentiating them again raises an error."""
    if not torch.is_grad_enabled():
        return tuple(gradients)
    there = [i for i, gradient in enumerate(gradients) if gradient is not None]
    depends = [x for x in (*arrived, *inputs) if isinstance(x, torch.Tensor) and x.requires_grad]
    guarded = _NoSecond.apply(len(there), *(gradients[i] for i in there), *depends)
    for i, gradient in zip(there, guarded):
        gradients[i] = gradient
    return tuple(gradients)


# --------------------------------------------------------------------------------------------------------------- attend


@dataclass
class Attended:
    """What attend returns if more than the output was requested: heed.Attended as tensors.

    Attributes:
        context: the output; weights, present_key, present_value, stages: see heed.Attended. Weights and stages carry no
            gradient.
    """

    context: torch.Tensor
    weights: Optional[torch.Tensor] = None
    present_key: Optional[torch.Tensor] = None
    present_value: Optional[torch.Tensor] = None
    stages: Dict[str, torch.Tensor] = field(default_factory=dict)


class _Attend(torch.autograd.Function):
    """Over the tensors of a call, by name; those without a gradient give None."""

    @staticmethod
    def forward(ctx: Any, *args: Any, **kwargs: Any) -> torch.Tensor:
        call, *tensors = args
        ctx.call = call
        out = torch.from_numpy(call.run())
        ctx.save_for_backward(*tensors, out)  # so that PyTorch notices changes to them
        return out

    @staticmethod
    def backward(ctx: Any, *args: Any) -> Tuple[Any, ...]:
        saved = ctx.saved_tensors  # raises if one was changed in place
        with torch.no_grad():
            found = ctx.call.call.backward(args[0].detach().numpy())
        gradients = [_tensor(found.get(name)) for name in ctx.call.names]
        return (None, *_once(gradients, args, saved[:-1]))


class _TensorCall:
    """The arguments of attend, with tensors separated from the rest."""

    def __init__(self, q: Any, k: Any, v: Any, options: Dict[str, Any], weights: bool) -> None:
        parameters: Mapping[str, Any] = options.get("parameters") or {}
        given = {"q": q, "k": k, "v": v, **{name: options.get(name) for name in ("bias", "mask", "attn_mask")}}
        given.update(parameters)
        self.names = [name for name, x in given.items() if isinstance(x, torch.Tensor) and x.is_floating_point()]
        self.tensors = [given[name] for name in self.names]
        arrays = {name: _numpy(x, name, floats=name not in ("mask", "attn_mask")) for name, x in given.items()}
        if parameters:
            options = {**options, "parameters": {name: arrays[name] for name in parameters}}
        options = {name: _numpy(x, name) for name, x in options.items()}
        ask = question(options)
        if options.get("seed") is None:
            draws = ask.training and (ask.dropout > 0.0 or ask.normalise == "hard_sampled")
            ask.seed = _drawn_seed() if draws else 0
        self.call = _attend._call(arrays["q"], arrays["k"], arrays["v"], ask)
        self.gradient = torch.is_grad_enabled() and any(tensor.requires_grad for tensor in self.tensors)
        self.weights = weights

    def run(self) -> Any:
        return self.call.forward(None, self.gradient, self.weights)


def attend(
    q: torch.Tensor,
    k: torch.Tensor,
    v: Optional[torch.Tensor] = None,
    *,
    return_weights: bool = False,
    stages: Union[str, Sequence[str]] = (),
    past_key: Optional[torch.Tensor] = None,
    past_value: Optional[torch.Tensor] = None,
    seed: Optional[int] = None,
    promote: bool = False,
    **options: Any,
) -> Any:
    """heed.attend on tensors, with gradients for q, k, v, bias, a float mask, the past and all parameters.

    >>> q, k, v = (torch.randn(2, 4, 6, 8, requires_grad=True) for _ in range(3))
    >>> heed.torch.attend(q, k, v, causal=True).sum().backward()
    >>> q.grad.shape
    torch.Size([2, 4, 6, 8])

    The names of PyTorch's scaled_dot_product_attention work as well: attn_mask, dropout_p, is_causal, scale,
    enable_gqa. Dropout uses PyTorch's generator (torch.manual_seed), or `seed` if given. With promote=True, float16,
    bfloat16 and float64 are computed in float32, and the output has q's type. There are no second derivatives:
    differentiating a result of create_graph=True again raises an error.

    Returns:
        The output, or an Attended if weights, stages or a past were requested. Weights and stages carry no gradient.
    """
    _torch_ops.refuse_autocast()
    plain = not (return_weights or stages or past_key is not None or past_value is not None or promote)
    if plain and _torch_ops.compiling() and _is_operator(q, k, options):
        return _in_a_graph(q, k, k if v is None else v, seed, options)
    asked = {"return_weights": return_weights, "stages": stages, "past_key": past_key, "past_value": past_value}
    return _attended(q, k, v, seed=seed, promote=promote, options=options, **asked)


# What the operator heed::attend takes; everything else is a break in a graph.
_PLAIN = {"causal", "is_causal", "strict", "window", "sinks", "softcap", "scale", "align", "divide_by_visible", "training",
          "enable_gqa", "dropout", "dropout_p", "score", "normalise", "mask", "attn_mask", "bias"}
_SCORES = ("dot", "scaled_dot")
_NORMALISERS = ("softmax", "relu", "sigmoid", "identity", "sparsemax", "entmax15")


def _is_operator(q: torch.Tensor, k: torch.Tensor, options: Dict[str, Any]) -> bool:
    known = q.dim() == 4 and k.dim() == 4 and all(name in _PLAIN for name in options)
    return (
        known
        and options.get("score", "scaled_dot") in _SCORES
        and options.get("normalise", "softmax") in _NORMALISERS
        and (options.get("mask") is None or options.get("attn_mask") is None)
    )


def _in_a_graph(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, seed: Any, options: Dict[str, Any]) -> torch.Tensor:
    """By the operator."""
    mask, bias = options.get("mask"), options.get("bias")
    mask = options.get("attn_mask") if mask is None else mask
    if mask is not None and mask.is_floating_point():
        mask, bias = None, mask
    rest = {name: x for name, x in options.items() if name not in ("mask", "attn_mask", "bias")}
    drawn = None
    if rest.get("training", True) and (rest.get("dropout") or rest.get("dropout_p")):
        drawn = torch.randint(_SEEDS, (1,), dtype=torch.int64) if seed is None else torch.tensor([seed])
    return heads_on_heads((q, k, v), mask, bias, drawn, rest)


@_torch_ops.untraced
def _attended(
    q: torch.Tensor,
    k: torch.Tensor,
    v: Optional[torch.Tensor],
    *,
    return_weights: bool,
    stages: Union[str, Sequence[str]],
    past_key: Optional[torch.Tensor],
    past_value: Optional[torch.Tensor],
    seed: Optional[int],
    promote: bool,
    options: Dict[str, Any],
) -> Any:
    """attend, as a call that a graph breaks for."""
    kind = q.dtype if isinstance(q, torch.Tensor) else torch.float32
    if seed is not None:
        options["seed"] = seed
    if flag(promote, "promote"):
        q, k, v, past_key, past_value = (_promoted(x) for x in (q, k, v, past_key, past_value))
        options = {name: _promoted(x) for name, x in options.items()}
        if options.get("parameters"):
            options["parameters"] = {name: _promoted(x) for name, x in options["parameters"].items()}
    else:
        kind = torch.float32
    present: Tuple[Optional[torch.Tensor], Optional[torch.Tensor]] = (None, None)
    if past_key is not None or past_value is not None:
        if past_key is None or past_value is None:
            raise Error("past_key, past_value: expected both or neither, got one")
        values = k if v is None else v
        heads: int = options.get("kv_heads") or (0 if k.dim() == 4 else options.get("q_heads") or 0)
        present = _with_past(past_key, k, "k", heads), _with_past(past_value, values, "v", heads)
        (k, v), options = present, dict(options)
        align = options.get("align", "top_left")
        if align == "top_left" or not isinstance(align, str):
            first = 0 if align == "top_left" else whole_number(align, "align", -KEYS, KEYS)
            options["align"] = past_key.shape[2] + first
    wanted = checked_stages(stages)
    call = _TensorCall(q, k, v, options, return_weights or "weights" in wanted)
    out = _Attend.apply(call, *call.tensors).to(kind)
    if not (return_weights or wanted or past_key is not None):
        return out
    shown = {name: _tensor(call.call.stage(name)).to(kind) for name in wanted}
    weights = _tensor(call.call.weights()).to(kind) if return_weights else None
    past = tuple(None if x is None else x.to(kind) for x in present)
    return Attended(out, weights, past[0], past[1], shown)


def _with_past(past: torch.Tensor, new: torch.Tensor, name: str, heads: int) -> torch.Tensor:
    """[B, heads, past + new, width]; gradients go to both."""
    apart = Layout.of(_numpy(new, name, floats=True), name, heads, False)
    if apart.dims != 4:
        new = new if new.dim() == 3 else new[None]
        new = new.reshape(*new.shape[:2], apart.heads, new.shape[2] // apart.heads).transpose(1, 2)
    if past.dim() != 4 or past.shape[:2] + past.shape[3:] != new.shape[:2] + new.shape[3:]:
        wanted = text((new.shape[0], new.shape[1], "past length", new.shape[3]))
        raise Error(f"past_{'key' if name == 'k' else 'value'}: expected {wanted}, got {text(tuple(past.shape))}")
    return torch.cat((past, new), dim=2)


# ------------------------------------------------------------------------------------------------------------ attention


@dataclass
class Result:
    """What a module returns if more than the context was requested. All but weights and inner_weights carry gradients.

    Attributes:
        context, weights, inner_weights, log_prob, entropy, guide_cost, penalty: see heed.Result.
    """

    context: torch.Tensor
    weights: Optional[torch.Tensor] = None
    inner_weights: Optional[torch.Tensor] = None
    log_prob: Optional[torch.Tensor] = None
    entropy: Optional[torch.Tensor] = None
    guide_cost: Optional[torch.Tensor] = None
    penalty: Optional[torch.Tensor] = None


_SEEDS = 2**62
OUTPUTS = ("context", "log_prob", "entropy", "guide_cost", "penalty")


class _Forward(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *args: Any, **kwargs: Any) -> Tuple[Optional[torch.Tensor], ...]:
        run, *tensors = args
        ctx.run = run
        result = run.forward()
        outputs: List[Optional[torch.Tensor]] = []
        for name in OUTPUTS:
            array = getattr(result, name)
            if name == "penalty" and array is not None:
                outputs.append(torch.tensor(array, dtype=torch.float32))
            else:
                outputs.append(None if array is None else torch.from_numpy(array.copy()))
        ctx.save_for_backward(*tensors)
        return tuple(outputs)

    @staticmethod
    def backward(ctx: Any, *args: Any) -> Tuple[Any, ...]:
        saved = ctx.saved_tensors  # raises if one was changed in place
        given = {
            f"d_{name}": (float(gradient) if name == "penalty" else gradient.detach().contiguous().numpy())
            for name, gradient in zip(OUTPUTS, args)
            if gradient is not None and getattr(ctx.run.result, name) is not None
        }
        found = ctx.run.backward(given)
        return (None, *_once([_tensor(found.get(name)) for name in ctx.run.names], args, saved))


class _ModuleCall:
    def __init__(
        self, attention: _attention.Attention, inputs: Dict[str, torch.Tensor], options: Dict[str, Any]
    ) -> None:
        self.attention = attention
        self.names: List[str] = list(inputs)
        self.arguments = {**options, **{name: _numpy(tensor, name, True) for name, tensor in inputs.items()}}
        self.result: Any = None
        self.training = attention.training

    def forward(self) -> _attention.Result:
        self.result = self.attention.forward(**self.arguments)
        return self.result

    def backward(self, given: Dict[str, Any]) -> Dict[str, Any]:
        if self.result.memory._run.done:  # a tape runs backward once; the same call with the same seed makes it again
            training, self.attention.training = self.attention.training, self.training
            try:
                self.forward()
            finally:
                self.attention.training = training
        return self.result.backward(**given)


class Attention(torch.nn.Module):
    """heed.Attention as a module, with the same options and parameter names.

    forward takes the arguments of heed.Attention.forward as tensors, and returns the context, or a Result if more was
    requested. `seed` is for the initial values of the parameters; dropout and sampling follow torch.manual_seed, or the
    `seed` of a call. promote=True accepts float16, bfloat16 and float64 for inputs and for the module itself: computed
    in float32, and the context has the type of the queries.
    """

    def __init__(self, name: str = "scaled_dot", *, seed: int = 0, promote: bool = False, **options: Any) -> None:
        super().__init__()
        self.promote = flag(promote, "promote")
        self._attention = _attention.Attention(name, seed=seed, **options)
        # What a graph needs to know of it: it cannot look inside.
        width, self._own_queries = self._attention.context_width, self._attention._has_own_queries
        self._described = f"'name': {name!r}, 'options': {options!r}, 'width': {width!r}"
        self._drawing = self._draws
        for path, array in self._attention.parameters.items():
            *scopes, last = path.split(".")
            place: torch.nn.Module = self
            for scope in scopes:
                # Not add_module: it refuses the name "forward", which recurrent layers use for a direction.
                inner = place._modules.get(scope)
                if inner is None:
                    inner = place._modules[scope] = torch.nn.Module()
                place = inner
            shared = torch.from_numpy(array)  # the parameter's own memory
            if path in self._attention.trainable:
                place.register_parameter(last, torch.nn.Parameter(shared))
            else:
                place.register_buffer(last, shared)

    def _named_tensors(self) -> Dict[str, torch.Tensor]:
        return {**dict(self.named_parameters()), **dict(self.named_buffers())}

    def _share(self) -> Dict[str, torch.Tensor]:
        """Moves tensors that left the parameters' memory (in a copied or converted module) back into it."""
        tensors = self._named_tensors()
        for name, array in self._attention.parameters.items():
            tensor = tensors[name]
            if self.promote and tensor.dtype != torch.float32 and tensor.is_floating_point():
                tensors[name] = _promoted(tensor)
                array[...] = _numpy(tensors[name], name, floats=True)
            elif tensor.data_ptr() != array.ctypes.data:
                array[...] = _numpy(tensor, name, floats=True)
                tensor.data = torch.from_numpy(array)
        return {name: tensors[name] for name in self._attention.trainable}

    def forward(
        self,
        queries: Optional[torch.Tensor] = None,
        keys: Optional[torch.Tensor] = None,
        values: Optional[torch.Tensor] = None,
        **options: Any,
    ) -> Any:
        """As heed.Attention.forward, with tensors: returns the context, or a Result if more was requested."""
        _torch_ops.refuse_autocast()
        given = {"queries": queries, "keys": keys, "values": values, "bias": options.get("bias")}
        if _torch_ops.compiling() and self._is_operator(given, options):
            inputs = {name: tensor for name, tensor in given.items() if tensor is not None}
            out: torch.Tensor = torch.ops.heed.mechanism(*self._operator_call(inputs, options))
            return out
        return self._forward(queries, keys, values, options)

    def _is_operator(self, given: Dict[str, Any], options: Dict[str, Any]) -> bool:
        """Whether the operator heed::mechanism can do it: the context, of one tensor for each input."""
        tensors = all(isinstance(options[name], torch.Tensor) for name in options if name != "seed")
        known = all(name in ("bias", "mask", "key_lengths", "query_lengths", "seed") for name in options)
        return tensors and known and given["queries"] is not None and not (self.promote or self._own_queries)

    def _operator_call(
        self, inputs: Dict[str, torch.Tensor], options: Dict[str, Any]
    ) -> Tuple[List[torch.Tensor], Optional[torch.Tensor], str]:
        """The arguments of the operator."""
        tensors = dict(inputs)
        tensors.update({name: x for name, x in options.items() if name not in ("seed", "bias")})
        tensors.update(self._named_tensors())
        seed = None
        if self.training and self._drawing:
            given = options.get("seed")
            seed = torch.randint(_SEEDS, (1,), dtype=torch.int64) if given is None else torch.tensor([given])
        names = ", ".join([f"{name!r}" for name in tensors])
        return list(tensors.values()), seed, f"{{{self._described}, 'names': [{names}], 'training': {self.training!r}}}"

    @_torch_ops.untraced
    def _forward(
        self,
        queries: Optional[torch.Tensor],
        keys: Optional[torch.Tensor],
        values: Optional[torch.Tensor],
        options: Dict[str, Any],
    ) -> Any:
        """forward, as a call that a graph breaks for."""
        self._attention.train(self.training)
        first = keys if queries is None else queries
        kind = first.dtype if self.promote and isinstance(first, torch.Tensor) else torch.float32
        if self.promote:
            queries, keys, values = (_promoted(x) for x in (queries, keys, values))
            options["bias"] = _promoted(options.get("bias"))
        if options.get("seed") is None and self.training and self._draws:
            options["seed"] = _drawn_seed()
        if keys is None and self._attention._has_own_queries:  # so that no input has the name of a parameter
            queries, keys = None, queries
            options.update(
                {
                    f"key_{name}": options.pop(f"query_{name}")
                    for name in ("lengths", "offsets")
                    if f"query_{name}" in options
                }
            )
        given = {"queries": queries, "keys": keys, "values": values, "bias": options.pop("bias", None)}
        inputs = {name: tensor for name, tensor in given.items() if tensor is not None}
        inputs.update(self._share())
        keep = torch.is_grad_enabled() and any(tensor.requires_grad for tensor in inputs.values())
        arguments = {name: _numpy(option, name) for name, option in options.items()}
        call = _ModuleCall(self._attention, inputs, {**arguments, "gradient": keep})
        call.arguments = {name: x for name, x in call.arguments.items() if name not in self._attention.trainable}
        outputs: Dict[str, Any] = dict(zip(OUTPUTS, _Forward.apply(call, *inputs.values())))
        outputs["context"] = outputs["context"].to(kind)
        if all(outputs[name] is None for name in OUTPUTS[1:]) and not options.get("weights"):
            return outputs["context"]
        for name in ("weights", "inner_weights"):
            array = getattr(call.result, name)
            outputs[name] = None if array is None else torch.from_numpy(array.copy())
        return Result(**outputs)

    @property
    def _draws(self) -> bool:
        attention = self._attention
        return bool(attention.options["dropout"] > 0.0 or attention._model.draws)

    def extra_repr(self) -> str:
        """The mechanism, its formula and its parameters."""
        return repr(self._attention)
