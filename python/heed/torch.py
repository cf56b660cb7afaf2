"""heed in PyTorch: the same names on CPU tensors, inside autograd.

out = heed.torch.attend(q, k, v, causal=True)
attention = heed.torch.Attention("additive", query_width=16, key_width=8)     # an nn.Module
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import torch
from torch.autograd.function import once_differentiable

from . import _attend, _attention
from ._arrays import text
from ._heed import Error
from ._layout import Layout
from ._question import checked_stages, question

__all__ = ["Attended", "Attention", "Result", "attend"]


def _numpy(tensor: Any, name: str) -> Any:
    """The tensor's memory; everything else as it is."""
    if not isinstance(tensor, torch.Tensor):
        return tensor
    if tensor.device.type != "cpu":
        raise Error(f"{name}: expected a tensor of the CPU, got one on {tensor.device}")
    if tensor.dtype in (torch.bfloat16, torch.float16, torch.float64):
        kind = str(tensor.dtype).rsplit(".", 1)[-1]
        raise Error(f"{name}: expected float32, got {kind}; convert with .to(torch.float32)")
    return tensor.detach().numpy()


def _tensor(array: Any) -> Any:
    return None if array is None else torch.from_numpy(array)


# --------------------------------------------------------------------------------------------------------------- attend


@dataclass
class Attended:
    """What attend gives where more than the output was asked for; as heed.Attended, in tensors."""

    out: torch.Tensor
    weights: Optional[torch.Tensor] = None
    present_key: Optional[torch.Tensor] = None
    present_value: Optional[torch.Tensor] = None
    stages: Dict[str, torch.Tensor] = field(default_factory=dict)


class _Attend(torch.autograd.Function):
    """Of the tensors of a call, by name; those without a gradient come back as None."""

    @staticmethod
    def forward(ctx: Any, *args: Any, **kwargs: Any) -> torch.Tensor:
        call, *tensors = args
        ctx.call = call
        out = torch.from_numpy(call.run())
        ctx.save_for_backward(*tensors, out)  # so that PyTorch notices who changes them
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *args: Any) -> Tuple[Any, ...]:
        ctx.saved_tensors  # noqa: B018  raises if one was changed in place
        gradients = ctx.call.call.backward(args[0].detach().numpy())
        return (None, *(_tensor(gradients.get(name)) for name in ctx.call.names))


class _TensorCall:
    """The arguments of attend, with what is a tensor taken apart from the rest."""

    def __init__(self, q: Any, k: Any, v: Any, options: Dict[str, Any], weights: bool) -> None:
        parameters: Mapping[str, Any] = options.get("parameters") or {}
        given = {"q": q, "k": k, "v": v, "bias": options.get("bias"), "mask": options.get("mask"), **parameters}
        self.names = [name for name, x in given.items() if isinstance(x, torch.Tensor) and x.is_floating_point()]
        self.tensors = [given[name] for name in self.names]
        arrays = {name: _numpy(x, name) for name, x in given.items()}
        if parameters:
            options = {**options, "parameters": {name: arrays[name] for name in parameters}}
        options = {name: _numpy(x, name) for name, x in options.items()}
        self.call = _attend._call(arrays["q"], arrays["k"], arrays["v"], question(options))
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
    **options: Any,
) -> Any:
    """heed.attend on tensors, with gradients for q, k, v, bias, a mask of floats, the past and all parameters.

    Returns:
        The output; an Attended with it where weights, stages or a past were asked for. Weights and stages carry no
        gradient.
    """
    present: Tuple[Optional[torch.Tensor], Optional[torch.Tensor]] = (None, None)
    if past_key is not None or past_value is not None:
        if past_key is None or past_value is None:
            raise Error("past_key, past_value: expected both or neither, got one")
        values = k if v is None else v
        heads: int = options.get("kv_heads") or (0 if k.dim() == 4 else options.get("q_heads") or 0)
        present = _with_past(past_key, k, "k", heads), _with_past(past_value, values, "v", heads)
        (k, v), options = present, dict(options)
        if options.get("align", "top_left") != "bottom_right":
            align = options.get("align", "top_left")
            options["align"] = past_key.shape[2] + (0 if align == "top_left" else int(align))
    wanted = checked_stages(stages)
    call = _TensorCall(q, k, v, options, return_weights or "weights" in wanted)
    out = _Attend.apply(call, *call.tensors)
    if not (return_weights or wanted or past_key is not None):
        return out
    shown = {name: _tensor(call.call.stage(name)) for name in wanted}
    return Attended(out, _tensor(call.call.weights()) if return_weights else None, *present, shown)


def _with_past(past: torch.Tensor, new: torch.Tensor, name: str, heads: int) -> torch.Tensor:
    """[B, heads, past + new, width]; gradients go to both."""
    apart = Layout.of(_numpy(new, name), name, heads, False)
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
    """What a module gives where more than the context was asked for; shapes as heed.Result. All but weights and
    inner_weights carry gradients."""

    context: torch.Tensor
    weights: Optional[torch.Tensor] = None
    inner_weights: Optional[torch.Tensor] = None
    log_prob: Optional[torch.Tensor] = None
    entropy: Optional[torch.Tensor] = None
    guide_cost: Optional[torch.Tensor] = None
    penalty: Optional[torch.Tensor] = None


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
    @once_differentiable
    def backward(ctx: Any, *args: Any) -> Tuple[Any, ...]:
        ctx.saved_tensors  # noqa: B018  raises if one was changed in place
        given = {
            f"d_{name}": (float(gradient) if name == "penalty" else gradient.contiguous().numpy())
            for name, gradient in zip(OUTPUTS, args)
            if gradient is not None and getattr(ctx.run.result, name) is not None
        }
        found = ctx.run.result.backward(**given)
        return (None, *(_tensor(found.get(name)) for name in ctx.run.names))


class _ModuleCall:
    def __init__(
        self, attention: _attention.Attention, inputs: Dict[str, torch.Tensor], options: Dict[str, Any]
    ) -> None:
        self.attention = attention
        self.names: List[str] = list(inputs)
        self.arguments = {**options, **{name: _numpy(tensor, name) for name, tensor in inputs.items()}}
        self.result: Any = None

    def forward(self) -> _attention.Result:
        self.result = self.attention.forward(**self.arguments)
        return self.result


class Attention(torch.nn.Module):
    """heed.Attention as a module: the same options, and parameters of the same names.

    forward takes what heed.Attention.forward takes, in tensors, and gives the context, or a Result where something else
    was asked for as well.
    """

    def __init__(self, name: str = "scaled_dot", *, seed: int = 0, **options: Any) -> None:
        super().__init__()
        self._attention = _attention.Attention(name, seed=seed, **options)
        for path, array in self._attention.parameters.items():
            *scopes, last = path.split(".")
            place: torch.nn.Module = self
            for scope in scopes:
                if scope not in place._modules:
                    place.add_module(scope, torch.nn.Module())
                place = place.get_submodule(scope)
            shared = torch.from_numpy(array)  # the parameter's own memory
            if path in self._attention.trainable:
                place.register_parameter(last, torch.nn.Parameter(shared))
            else:
                place.register_buffer(last, shared)

    def _named_tensors(self) -> Dict[str, torch.Tensor]:
        return {**dict(self.named_parameters()), **dict(self.named_buffers())}

    def _share(self) -> Dict[str, torch.Tensor]:
        """Tensors that left the memory of the parameters (a copied or converted module) come back to it."""
        tensors = self._named_tensors()
        for name, array in self._attention.parameters.items():
            tensor = tensors[name]
            if tensor.data_ptr() != array.ctypes.data:
                array[...] = _numpy(tensor, name)
                tensor.data = torch.from_numpy(array)
        return {name: tensors[name] for name in self._attention.trainable}

    def forward(
        self,
        queries: Optional[torch.Tensor] = None,
        keys: Optional[torch.Tensor] = None,
        values: Optional[torch.Tensor] = None,
        **options: Any,
    ) -> Any:
        self._attention.train(self.training)
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
        if all(outputs[name] is None for name in OUTPUTS[1:]) and not options.get("weights"):
            return outputs["context"]
        for name in ("weights", "inner_weights"):
            array = getattr(call.result, name)
            outputs[name] = None if array is None else torch.from_numpy(array.copy())
        return Result(**outputs)

    def extra_repr(self) -> str:
        return repr(self._attention)
