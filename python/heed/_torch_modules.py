"""PyTorch's own names for attention, computed by heed: scaled_dot_product_attention and MultiheadAttention."""

from __future__ import annotations

import math
from typing import Any, Optional, Tuple

import torch
from torch.nn import functional as F

from . import _torch_ops
from ._arrays import text
from ._heed import Error

_SEEDS = 2**62


def scaled_dot_product_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_mask: Optional[torch.Tensor] = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: Optional[float] = None,
    enable_gqa: bool = False,
) -> torch.Tensor:
    """torch.nn.functional.scaled_dot_product_attention, with its arguments in its order, on CPU tensors of float32.

    >>> q, k, v = (torch.randn(2, 4, 6, 8) for _ in range(3))
    >>> heed.torch.scaled_dot_product_attention(q, k, v, None, 0.0, True).shape
    torch.Size([2, 4, 6, 8])

    It can be compiled and exported (PyTorch 2.4 or later). float16 and bfloat16 are computed in float32, and the output has
    their type. Dropout follows torch.manual_seed, but is not the same draw as PyTorch's.

    Args:
        query: [..., H, Tq, D]; key: [..., G, Tk, D]; value: [..., G, Tk, Dv].
        attn_mask: bool, True where visible, or numbers that are added to the scores; broadcasts to [..., H, Tq, Tk].
        dropout_p: on the weights, whether or not this is training, as in PyTorch.
        is_causal: query i sees keys up to i; not with attn_mask.
        scale: of the scores (default 1 / sqrt(D)).
        enable_gqa: query heads may share key heads: H is a multiple of G.

    Returns:
        [..., H, Tq, Dv]. A query that sees no key gives 0.

    Raises:
        heed.Error, a ValueError: other types or devices, autocast, shapes that do not fit; and when a gradient of
            create_graph=True is differentiated again.
    """
    _torch_ops.refuse_autocast()
    if is_causal and attn_mask is not None:
        raise Error("attn_mask: expected None with is_causal=True, as in PyTorch; the mask can hold both")
    if query.dim() < 2 or key.dim() < 2 or value.dim() < 2:
        raise Error("query, key, value: expected at least [T, width]")
    kind = query.dtype
    if kind in (torch.float16, torch.bfloat16) and key.dtype == kind and value.dtype == kind:
        query, key, value = query.float(), key.float(), value.float()
    leading, heads = _leading(query, key, value, enable_gqa)
    q, k, v = (_four(x, leading, heads if x is query else 0) for x in (query, key, value))
    factor = 1.0 / math.sqrt(query.shape[-1]) if scale is None else float(scale)
    mask, bias = _mask_and_bias(attn_mask, (*query.shape[:-1], key.shape[-2]))
    dropout = float(dropout_p)
    seed = torch.randint(_SEEDS, (1,), dtype=torch.int64) if dropout > 0.0 else None
    out = heads_on_heads((q, k, v), mask, bias, seed, {"scale": factor, "causal": bool(is_causal), "dropout": dropout})
    shape = (*query.shape[:-1], value.shape[-1]) if query.dim() < 4 else (*leading, heads, *out.shape[2:])
    return out.reshape(shape).to(kind)


def heads_on_heads(
    qkv: Tuple[torch.Tensor, torch.Tensor, torch.Tensor],
    mask: Optional[torch.Tensor],
    bias: Optional[torch.Tensor],
    seed: Optional[torch.Tensor],
    options: Any,
) -> torch.Tensor:
    """[B, H, Tq, D] on [B, G, Tk, D]: the operator, or before PyTorch 2.4 heed.torch.attend."""
    for name, x in zip("qkv", qkv):
        if x.dtype != torch.float32 or x.device.type not in ("cpu", "meta"):
            kind = str(x.dtype).rsplit(".", 1)[-1]
            raise Error(f"{name}: expected float32 on the CPU, got {kind} on {x.device}; convert with .to('cpu').float()")
    if _torch_ops.AVAILABLE:
        return torch.ops.heed.attend(*qkv, mask, bias, seed, _torch_ops.as_text(options))[0]
    from .torch import attend  # pylint: disable=import-outside-toplevel,cyclic-import

    drawn = None if seed is None else int(seed)
    out: torch.Tensor = attend(*qkv, mask=mask, bias=bias, seed=drawn, **options)
    return out


def _leading(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, shared: bool) -> Tuple[Tuple[int, ...], int]:
    """The dimensions before the heads, and the number of heads of q."""
    if q.dim() < 4:
        lead: Tuple[int, ...] = tuple(q.shape[:-2])
        if any(tuple(x.shape[:-2]) != lead for x in (k, v)):
            raise Error(f"key, value: expected {text(lead)} in front like query, got {text(tuple(k.shape))}")
        return lead or (1,), 1
    lead, heads = tuple(q.shape[:-3]), q.shape[-3]
    for name, x in (("key", k), ("value", v)):
        if x.dim() != q.dim() or tuple(x.shape[:-3]) != lead:
            raise Error(f"{name}: expected {text(lead)} in front like query, got {text(tuple(x.shape))}")
        if x.shape[-3] != heads and not shared:
            raise Error(f"{name}: expected {heads} heads like query, got {x.shape[-3]}; enable_gqa=True shares them")
    return lead, heads


def _four(x: torch.Tensor, leading: Tuple[int, ...], heads: int) -> torch.Tensor:
    """[B, heads, T, width]"""
    if x.dim() == 4:
        return x
    if x.dim() < 4:
        return x.reshape(leading[0], 1, *x.shape[-2:])
    return x.reshape(math.prod(leading), heads or x.shape[-3], *x.shape[-2:])


def _mask_and_bias(
    given: Optional[torch.Tensor], full: Tuple[int, ...]
) -> Tuple[Optional[torch.Tensor], Optional[torch.Tensor]]:
    """[B, H, Tq, Tk] with axes that may be 1; `full`: [..., Tq, Tk], what it broadcasts to."""
    if given is None:
        return None, None
    if len(full) == 4 and given.dim() <= 4:
        four = given.reshape((1,) * (4 - given.dim()) + tuple(given.shape))
        four = four.expand(*four.shape[:-1], full[-1])
    else:
        four = given.expand(full).reshape(-1, full[-3] if len(full) > 4 else 1, *full[-2:])
    return (four, None) if four.dtype == torch.bool else (None, four.float())


class MultiheadAttention(torch.nn.MultiheadAttention):
    """torch.nn.MultiheadAttention, computed by heed: the same arguments, the same parameters and state_dict, in both ways.

    >>> layer = heed.torch.MultiheadAttention(16, 4, batch_first=True)
    >>> x = torch.randn(2, 5, 16)
    >>> out, weights = layer(x, x, x, average_attn_weights=False)
    >>> out.shape, weights.shape
    (torch.Size([2, 5, 16]), torch.Size([2, 4, 5, 5]))
    >>> weights_of = torch.nn.MultiheadAttention(16, 4).load_state_dict(layer.state_dict())
    >>> layer.forward(x, x, x, need_weights=False)[1] is None
    True

    heed.torch.swap_attention(model) puts it into a whole model. The weights are those before dropout.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._keep_off_fast_path()

    def _keep_off_fast_path(self) -> None:
        """nn.TransformerEncoderLayer goes past its self_attn in evaluation, with PyTorch's own kernel, unless this says
        that the widths differ."""
        self._qkv_same_embed_dim = False

    def __setstate__(self, state: Any) -> None:
        super().__setstate__(state)
        self._keep_off_fast_path()

    def forward(
        self,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        key_padding_mask: Optional[torch.Tensor] = None,
        need_weights: bool = True,
        attn_mask: Optional[torch.Tensor] = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> Tuple[torch.Tensor, Optional[torch.Tensor]]:
        """As that of torch.nn.MultiheadAttention: masks are True where a key is hidden, or numbers that are added.

        Returns:
            (output, weights): weights is None without need_weights, and carries gradients.
        """
        _torch_ops.refuse_autocast()
        if is_causal and attn_mask is None:
            raise Error("attn_mask: expected the causal mask with is_causal=True, which is a hint, as in PyTorch")
        batched = query.dim() == 3
        if not batched:
            query, key, value = (x.unsqueeze(0) for x in (query, key, value))
            key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
        elif not self.batch_first:
            query, key, value = (x.transpose(0, 1) for x in (query, key, value))
        q, k, v = self._projected(query, key, value)
        hidden = _added(attn_mask, key_padding_mask, self.num_heads, q.dtype)
        k, v, hidden = self._with_more_keys(k, v, hidden)
        dropout = self.dropout if self.training else 0.0
        mask = None if hidden is None else hidden == 0.0 if _is_hard(attn_mask, key_padding_mask) else hidden
        context = scaled_dot_product_attention(q, k, v, mask, dropout)
        out = self.out_proj(context.transpose(1, 2).flatten(2))
        weights = _weights(q, k, hidden, average_attn_weights) if need_weights else None
        if not batched:
            return out.squeeze(0), None if weights is None else weights.squeeze(0)
        return out if self.batch_first else out.transpose(0, 1), weights

    def _projected(
        self, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor
    ) -> Tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """[B, H, T, head_dim] each."""
        together: Optional[torch.Tensor] = self.in_proj_weight
        matrices: Any = (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)
        if together is not None:
            matrices = together.chunk(3)
        biases: Any = (None, None, None) if self.in_proj_bias is None else self.in_proj_bias.chunk(3)
        made = [
            F.linear(x, matrix, bias).unflatten(-1, (self.num_heads, self.head_dim)).transpose(1, 2)
            for x, matrix, bias in zip((query, key, value), matrices, biases)
        ]
        return made[0], made[1], made[2]

    def _with_more_keys(
        self, k: torch.Tensor, v: torch.Tensor, hidden: Optional[torch.Tensor]
    ) -> Tuple[torch.Tensor, torch.Tensor, Optional[torch.Tensor]]:
        """A learned key and one of zeros behind the others, which every query sees."""
        more = []
        if self.bias_k is not None and self.bias_v is not None:
            heads = [b.reshape(1, self.num_heads, 1, self.head_dim) for b in (self.bias_k, self.bias_v)]
            more.append([b.expand(k.shape[0], -1, -1, -1) for b in heads])
        if self.add_zero_attn:
            more.append([torch.zeros_like(x[:, :, :1]) for x in (k, v)])
        for key, value in more:
            k, v = torch.cat((k, key), 2), torch.cat((v, value), 2)
        if more and hidden is not None:
            hidden = F.pad(hidden, (0, len(more)))
        return k, v, hidden


def _is_hard(*masks: Optional[torch.Tensor]) -> bool:
    """Whether all of them only hide."""
    return all(mask is None or mask.dtype == torch.bool for mask in masks)


def _added(
    attn_mask: Optional[torch.Tensor], padding: Optional[torch.Tensor], heads: int, kind: torch.dtype
) -> Optional[torch.Tensor]:
    """What is added to the scores, [B, H, Tq, Tk] with axes that may be 1: -inf where a mask is True."""
    both = None
    for mask, name in ((attn_mask, "attn_mask"), (padding, "key_padding_mask")):
        if mask is None:
            continue
        if mask.dtype == torch.bool:
            mask = torch.zeros_like(mask, dtype=kind).masked_fill(mask, -math.inf)
        elif not mask.is_floating_point():
            raise Error(f"{name}: expected bool (True where hidden) or numbers that are added, got {mask.dtype}")
        if name == "key_padding_mask":
            mask = mask[:, None, None, :]
        elif mask.dim() == 3:
            mask = mask.unflatten(0, (-1, heads))
        both = mask if both is None else both + mask
    return both if both is None or both.dim() == 4 else both[None, None]


def _weights(q: torch.Tensor, k: torch.Tensor, hidden: Optional[torch.Tensor], average: bool) -> torch.Tensor:
    """[B, Tq, Tk], or [B, H, Tq, Tk]: by PyTorch's own operations, since they carry gradients."""
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if hidden is not None:
        scores = scores + hidden
    weights = torch.softmax(scores, -1).nan_to_num(0.0)
    return weights.mean(1) if average else weights


def swap_attention(model: torch.nn.Module) -> int:
    """Puts heed's attention into a model in place of every torch.nn.MultiheadAttention, with the same parameters.

    >>> model = torch.nn.TransformerEncoder(torch.nn.TransformerEncoderLayer(16, 4, 32, batch_first=True), 2)
    >>> heed.torch.swap_attention(model)
    2
    >>> model(torch.randn(2, 5, 16)).shape
    torch.Size([2, 5, 16])

    Returns:
        The number of modules that were replaced. An optimiser that knows the model's parameters still does.
    """
    count = 0
    for module in list(model.modules()):
        if type(module) is torch.nn.MultiheadAttention:  # pylint: disable=unidiomatic-typecheck
            module.__class__ = MultiheadAttention
            module._keep_off_fast_path()  # type: ignore[operator]  # pylint: disable=protected-access
            count += 1
    return count
