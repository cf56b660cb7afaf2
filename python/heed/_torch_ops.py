"""heed's attention as operators of PyTorch (torch.library): what torch.compile and torch.export can keep in a graph.

    heed::attend             context = attention of heads on heads, and what its backward needs
    heed::attend_backward    the gradients of that
    heed::mechanism          heed.torch.Attention: a mechanism with its parameters
    heed::mechanism_backward the gradients of that

Each has a fake kernel, which gives the shapes, and a formula for autograd. They need PyTorch 2.4; AVAILABLE says if it is
there. Options that are no tensors come as a text, as Python writes a dict, so that a graph can be stored.
"""

import ast
import functools
import threading
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import numpy as np
import torch

from . import _attention
from ._fused import FusedCall
from ._heed import Error
from ._question import Question

AVAILABLE = hasattr(torch.library, "custom_op")

NO_SECOND = (
    "backward: heed has no second derivatives, so a gradient that went through heed.torch cannot be differentiated "
    "again (create_graph=True, as for gradient penalties); PyTorch's own operations can"
)


def compiling() -> bool:
    """Whether torch.compile or torch.export reads this code."""
    return AVAILABLE and torch.compiler.is_compiling()


def untraced(function: Callable[..., Any]) -> Callable[..., Any]:
    """torch.compile calls it as it is, and goes on behind it."""
    disable = getattr(getattr(torch, "compiler", None), "disable", None)
    return disable(function) if disable else function


def refuse_autocast() -> None:
    """heed computes in float32, and autocast would ask for something else without a word."""
    on = torch.is_autocast_enabled("cpu") if AVAILABLE else torch.is_autocast_cpu_enabled()  # type: ignore
    if on:
        raise Error(
            "autocast: heed computes in float32, and is not cast by torch.autocast; put 'with "
            "torch.autocast(\"cpu\", enabled=False):' around it, and .float() behind what comes from outside"
        )


def as_text(options: Dict[str, Any]) -> str:
    """Options as a text; written so that torch.compile can follow."""
    return "{" + ", ".join([f"{name!r}: {value!r}" for name, value in options.items()]) + "}"


def _array(tensor: Optional[torch.Tensor], name: str) -> Any:
    if tensor is None:
        return None
    if tensor.is_floating_point() and tensor.dtype != torch.float32:
        raise Error(f"{name}: expected float32, got {str(tensor.dtype)[6:]}; convert with .to(torch.float32)")
    return tensor.detach().numpy()


# ----------------------------------------------------------------------------------------------------------------- heads


def _question(mask: Any, bias: Any, seed: Optional[torch.Tensor], options: str) -> Question:
    given = ast.literal_eval(options)
    if seed is not None:
        given["seed"] = int(seed)
    return Question(mask=_array(mask, "mask"), bias=_array(bias, "bias"), **given)


def _called(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    more: Tuple[Optional[torch.Tensor], Optional[torch.Tensor], Optional[torch.Tensor]],
    options: str,
) -> FusedCall:
    return FusedCall(_array(q, "q"), _array(k, "k"), _array(v, "v"), _question(*more, options))


def _attend(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    mask: Optional[torch.Tensor],
    bias: Optional[torch.Tensor],
    seed: Optional[torch.Tensor],
    options: str,
) -> Tuple[torch.Tensor, torch.Tensor]:
    call = _called(q, k, v, (mask, bias, seed), options)
    out = call.forward(None, gradient=True)
    call.refuse_overflow()
    assert call.call is not None
    return torch.from_numpy(out), torch.from_numpy(call.call.saved())


def _attend_fake(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    mask: Optional[torch.Tensor],
    bias: Optional[torch.Tensor],
    seed: Optional[torch.Tensor],
    options: str,
) -> Tuple[torch.Tensor, torch.Tensor]:
    batch, heads, queries, _ = q.shape
    return q.new_empty((batch, heads, queries, v.shape[3])), q.new_empty((2 * batch * heads * queries,))


def _attend_backward(
    d_out: torch.Tensor,
    saved: List[torch.Tensor],
    mask: Optional[torch.Tensor],
    bias: Optional[torch.Tensor],
    seed: Optional[torch.Tensor],
    options: str,
    of_bias: bool,
) -> Tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    q, k, v, out, kept = saved
    call = _called(q, k, v, (mask, bias, seed), options)
    found = call.resumed(_array(out, "out"), _array(kept, "saved")).backward(d_out.detach().numpy(), of_bias)
    d_bias = torch.from_numpy(found["bias"]) if of_bias else q.new_empty((0,))
    gradients = [torch.from_numpy(np.ascontiguousarray(found[name])) for name in ("q", "k", "v")]
    return gradients[0], gradients[1], gradients[2], d_bias


def _attend_backward_fake(
    d_out: torch.Tensor,
    saved: List[torch.Tensor],
    mask: Optional[torch.Tensor],
    bias: Optional[torch.Tensor],
    seed: Optional[torch.Tensor],
    options: str,
    of_bias: bool,
) -> Tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    q, k, v, _, _ = saved
    shapes = (q.shape, k.shape, v.shape, bias.shape if bias is not None and of_bias else (0,))
    gradients = [q.new_empty(shape) for shape in shapes]
    return gradients[0], gradients[1], gradients[2], gradients[3]


def _save_heads(ctx: Any, inputs: Tuple[Any, ...], output: Tuple[torch.Tensor, torch.Tensor]) -> None:
    q, k, v, mask, bias, seed, ctx.options = inputs
    ctx.mark_non_differentiable(output[1])
    ctx.save_for_backward(q, k, v, *output, mask, bias, seed)


def _heads_backward(ctx: Any, d_out: torch.Tensor, _: Any) -> Tuple[Any, ...]:
    *saved, mask, bias, seed = ctx.saved_tensors
    of_bias = bias is not None and ctx.needs_input_grad[4]
    found = torch.ops.heed.attend_backward(d_out, saved, mask, bias, seed, ctx.options, of_bias)
    return (*found[:3], None, found[3] if of_bias else None, None, None)


# ----------------------------------------------------------------------------------------------------------- mechanisms

_BUSY = threading.Lock()


@functools.lru_cache(maxsize=64)
def _made(name: str, options: str) -> _attention.Attention:
    return _attention.Attention(name, **ast.literal_eval(options))


def _mechanism_run(
    tensors: Sequence[torch.Tensor], seed: Optional[torch.Tensor], what: str, gradient: bool
) -> Tuple[Any, Any]:
    """The result of a call, and the names of its tensors. `what`: name, options, width, names and training, as a text."""
    description = ast.literal_eval(what)
    attention = _made(description["name"], repr(description["options"]))
    given = {name: _array(tensor, name) for name, tensor in zip(description["names"], tensors)}
    for name in list(attention.parameters):
        attention.parameters[name] = given.pop(name)
    if seed is not None:
        given["seed"] = int(seed)
    attention.train(description["training"])
    return attention.forward(**given, gradient=gradient), description["names"]


def _mechanism(tensors: Sequence[torch.Tensor], seed: Optional[torch.Tensor], what: str) -> torch.Tensor:
    with _BUSY:
        result, _ = _mechanism_run(tensors, seed, what, False)
        return torch.from_numpy(result.context.copy())


def _mechanism_fake(tensors: Sequence[torch.Tensor], seed: Optional[torch.Tensor], what: str) -> torch.Tensor:
    description = ast.literal_eval(what)
    first = tensors[description["names"].index("queries")]
    return first.new_empty((*first.shape[:-1], description["width"]))


def _mechanism_backward(
    d_out: torch.Tensor, tensors: Sequence[torch.Tensor], seed: Optional[torch.Tensor], what: str
) -> List[torch.Tensor]:
    with _BUSY:
        result, names = _mechanism_run(tensors, seed, what, True)
        found = result.backward(d_context=d_out.detach().contiguous().numpy())
        return [
            torch.from_numpy(np.array(found[name])) if name in found else torch.zeros_like(tensor)
            for name, tensor in zip(names, tensors)
        ]


def _mechanism_backward_fake(
    d_out: torch.Tensor, tensors: Sequence[torch.Tensor], seed: Optional[torch.Tensor], what: str
) -> List[torch.Tensor]:
    return [tensor.new_empty(tensor.shape) for tensor in tensors]


def _save_mechanism(ctx: Any, inputs: Tuple[Any, ...], output: torch.Tensor) -> None:
    tensors, seed, ctx.what = inputs
    ctx.has_seed = seed is not None
    ctx.save_for_backward(*tensors, *([] if seed is None else [seed]))


def _mechanism_gradients(ctx: Any, d_out: torch.Tensor) -> Tuple[Any, ...]:
    tensors, seed = list(ctx.saved_tensors), None
    if ctx.has_seed:
        seed = tensors.pop()
    found = torch.ops.heed.mechanism_backward(d_out, tensors, seed, ctx.what)
    return [one if t.is_floating_point() else None for one, t in zip(found, tensors)], None, None


# -------------------------------------------------------------------------------------------------------------- register


def _no_second(ctx: Any, *gradients: Any) -> Any:
    raise Error(NO_SECOND)


def _register() -> None:
    kernels: Tuple[Tuple[str, Any, Any, Any, Any], ...] = (
        ("attend", _attend, _attend_fake, _heads_backward, _save_heads),
        ("attend_backward", _attend_backward, _attend_backward_fake, _no_second, None),
        ("mechanism", _mechanism, _mechanism_fake, _mechanism_gradients, _save_mechanism),
        ("mechanism_backward", _mechanism_backward, _mechanism_backward_fake, _no_second, None),
    )
    for name, kernel, fake, backward, save in kernels:
        made = torch.library.custom_op(f"heed::{name}", kernel, mutates_args=(), device_types="cpu")
        made.register_fake(fake)
        made.register_autograd(backward, setup_context=save)


if AVAILABLE:
    _register()
