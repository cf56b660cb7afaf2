# slow: 20 s
"""heed.torch against plain compositions of PyTorch's own operations."""

import copy

import numpy as np
import pytest
import torch
from torch.nn import functional as F

import heed
import heed.torch

B, H, G, TQ, TK, D, DV = 2, 4, 2, 5, 7, 8, 3


def tensors(*shapes, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(*shape, generator=generator).requires_grad_() for shape in shapes]


def close(found, expected, tolerance=3e-5):
    found, expected = found.detach(), expected.detach()
    assert found.shape == expected.shape
    assert (found - expected).abs().max() <= tolerance * max(1e-2, float(expected.abs().max()))


def compare(found, expected, leaves, tolerance=3e-5):
    """Values, and the gradients of every leaf."""
    close(found, expected, tolerance)
    d_out = torch.randn(expected.shape, generator=torch.Generator().manual_seed(9))
    mine = torch.autograd.grad((found * d_out).sum(), leaves, retain_graph=True)
    plain = torch.autograd.grad((expected.double() * d_out).sum(), leaves, retain_graph=True)
    for a, b in zip(mine, plain):
        close(a, b, tolerance)


def plain_attention(q, k, v, *, scores=None, visible=None, bias=None, softcap=0.0):
    k, v = k.repeat_interleave(q.shape[1] // k.shape[1], 1), v.repeat_interleave(q.shape[1] // v.shape[1], 1)
    e = scores(q, k) if scores else q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
    if softcap:
        e = softcap * torch.tanh(e / softcap)
    if bias is not None:
        e = e + bias
    if visible is not None:
        e = e.masked_fill(~visible, float("-inf"))
    return F.softmax(e, -1) @ v


def test_attend():
    q, k, v, bias = leaves = tensors((B, H, TQ, D), (B, G, TK, D), (B, G, TK, DV), (H, TQ, TK))
    visible = torch.arange(TK)[None] <= torch.arange(TQ)[:, None] + 2
    expected = plain_attention(q, k, v, bias=bias, visible=visible, softcap=1.5)
    compare(heed.torch.attend(q, k, v, bias=bias, causal=True, align=2, softcap=1.5), expected, leaves)
    compare(heed.torch.attend(q, k, v, bias=bias, mask=visible, softcap=1.5), expected, leaves)
    compare(heed.torch.attend(q, k, v, mask=bias), plain_attention(q, k, v, bias=bias), leaves)


def test_attend_like_scaled_dot_product_attention():
    q, k, v = leaves = tensors((B, H, TQ, D), (B, H, TQ, D), (B, H, TQ, D))
    function = getattr(F, "scaled_dot_product_attention", None)  # from PyTorch 2.0 on
    expected = (
        function(q, k, v, is_causal=True)
        if function
        else plain_attention(q, k, v, visible=torch.ones(TQ, TQ).tril().bool())
    )
    compare(heed.torch.attend(q, k, v, causal=True), expected, leaves)


def test_other_layouts_and_strides():
    q, k, v = leaves = tensors((B, TQ, H * D), (B, TK, G * D), (B, TK, G * DV))
    apart = [x.reshape(B, -1, heads, x.shape[2] // heads).transpose(1, 2) for x, heads in ((q, H), (k, G), (v, G))]
    expected = plain_attention(*apart)
    compare(heed.torch.attend(q, k, v, q_heads=H, kv_heads=G), expected.transpose(1, 2).reshape(B, TQ, H * DV), leaves)
    compare(heed.torch.attend(*apart), expected, leaves)  # not contiguous


def test_scores_with_parameters():
    q, k, v, w1, w2, b, u = leaves = tensors((B, H, TQ, D), (B, G, TK, D), (B, G, TK, DV), (6, D), (6, D), (6,), (6,))
    additive = lambda q, k: torch.tanh((k @ w1.T)[:, :, None] + (q @ w2.T)[:, :, :, None] + b) @ u  # noqa: E731
    parameters = {"score.key.weight": w1, "score.query.weight": w2, "score.bias": b, "score.v": u}
    compare(
        heed.torch.attend(q, k, v, score="additive", hidden=6, parameters=parameters),
        plain_attention(q, k, v, scores=additive),
        leaves,
    )
    w = w1[:, :6].detach().requires_grad_()
    q, k = tensors((B, H, TQ, 6), (B, G, TK, 6), seed=2)
    general = lambda q, k: q @ w @ k.transpose(-1, -2)  # noqa: E731
    compare(
        heed.torch.attend(q, k, v, score="general", parameters={"score.weight": w}),
        plain_attention(q, k, v, scores=general),
        [q, k, v, w],
    )


@pytest.mark.parametrize("flat", [False, True])
def test_past(flat):
    q, k, v, past_key, past_value = leaves = tensors(
        (B, H, TQ, D), (B, G, TQ, D), (B, G, TQ, DV), (B, G, 3, D), (B, G, 3, DV)
    )
    visible = torch.arange(TQ + 3)[None] <= torch.arange(TQ)[:, None] + 3
    expected = plain_attention(q, torch.cat((past_key, k), 2), torch.cat((past_value, v), 2), visible=visible)
    options = {}
    if flat:
        beside = lambda x: x.transpose(1, 2).flatten(2)  # noqa: E731
        q, k, v, expected, options = beside(q), beside(k), beside(v), beside(expected), dict(q_heads=H, kv_heads=G)
    result = heed.torch.attend(q, k, v, past_key=past_key, past_value=past_value, causal=True, **options)
    assert result.present_key.shape == (B, G, TQ + 3, D)
    compare(result.context, expected, leaves)
    heed.torch.attend(q, k, v, past_key=past_key, past_value=past_value, **options).present_key.sum().backward()
    assert bool((past_key.grad == 1).all()) and bool((leaves[1].grad == 1).all())


def test_weights_and_stages():
    q, k, v = tensors((B, H, TQ, D), (B, G, TK, D), (B, G, TK, DV))
    result = heed.torch.attend(q, k, v, return_weights=True, stages=("raw",))
    expected = q @ k.repeat_interleave(2, 1).transpose(-1, -2) / D**0.5
    close(result.stages["raw"], expected)
    close(result.weights, F.softmax(expected, -1))
    assert result.context.requires_grad and not result.weights.requires_grad


def test_no_copy_and_no_graph():
    q, k, v = (x.detach() for x in tensors((B, H, TQ, D), (B, G, TK, D), (B, G, TK, DV)))
    out = heed.torch.attend(q, k, v)
    assert not out.requires_grad
    assert np.array_equal(heed.attend(q, k, v), out.numpy())  # tensors by DLPack, to the same function
    from heed._attend import _call
    from heed._question import Question

    assert _call(q, k, v, Question()).views[0].__array_interface__["data"][0] == q.data_ptr()
    target = torch.empty(B, H, TQ, DV)
    heed.attend(q, k, v, out=target.numpy())
    assert torch.equal(target, out)


@pytest.mark.parametrize("name", ("is_causal", "attn_mask", "attn_bias", "enable_gqa", "dropout_p", "scale"))
def test_the_names_of_scaled_dot_product_attention(name):
    heads = G if name == "enable_gqa" else H
    q, k, v = leaves = tensors((B, H, TQ, D), (B, heads, TK, D), (B, heads, TK, DV))
    mask = torch.rand(B, 1, TQ, TK, generator=torch.Generator().manual_seed(1)) < 0.8
    mask[..., 0] = True
    bias = torch.randn(B, H, TQ, TK, generator=torch.Generator().manual_seed(2)).requires_grad_()
    options, expected = {
        "is_causal": (dict(is_causal=True), dict(visible=torch.ones(TQ, TK).tril().bool())),
        "attn_mask": (dict(attn_mask=mask), dict(visible=mask)),
        "attn_bias": (dict(attn_mask=bias), dict(bias=bias)),
        "enable_gqa": (dict(enable_gqa=True), {}),
        "dropout_p": (dict(dropout_p=0.0), {}),
        "scale": (dict(scale=0.3), dict(scores=lambda q, k: 0.3 * q @ k.transpose(-1, -2))),
    }[name]
    leaves = [*leaves, *([bias] if name == "attn_bias" else [])]
    plain = plain_attention(q, k, v, **expected)
    compare(heed.torch.attend(q, k, v, **options), plain, leaves)
    function = getattr(F, "scaled_dot_product_attention", None)
    if function and (name != "enable_gqa" or "enable_gqa" in (function.__doc__ or "")):
        close(heed.torch.attend(q, k, v, **options), function(q, k, v, **options))


@pytest.mark.parametrize("score", ("scaled_dot", "cosine"))
def test_gradients_are_not_differentiated_in_silence(score):
    q, k, v = tensors((B, H, TQ, D), (B, G, TK, D), (B, G, TK, DV))
    out = heed.torch.attend(q, k, v, score=score)
    for loss in (out.sum(), (out**2).sum()):  # linear in the output, and not
        (slope,) = torch.autograd.grad(loss, q, create_graph=True)
        expected = torch.autograd.grad(loss, q, retain_graph=True)[0]
        assert torch.equal(slope.detach(), expected)
        penalty = (slope**2).sum()
        with pytest.raises(heed.Error, match="no second derivatives"):
            penalty.backward(retain_graph=True)


def test_gradients_of_modules_are_not_differentiated_in_silence():
    module, queries, keys = additive_module()
    (slope,) = torch.autograd.grad(module(queries, keys).sum(), queries, create_graph=True)
    with pytest.raises(heed.Error, match="no second derivatives"):
        (slope**2).sum().backward()


def small_modules():
    """Every mechanism by its name, as it is made with a width of 8."""
    for mechanism in heed.mechanisms():
        options = dict(key_width=8)
        if mechanism.name == "documents":
            continue  # wants ids
        if mechanism.name not in ("key_value", "structured", "hierarchical", "feed_forward"):
            options["query_width"] = 8
        yield mechanism.name, options


@pytest.mark.parametrize("name, options", small_modules(), ids=[name for name, _ in small_modules()])
def test_a_graph_that_is_kept_goes_back_twice(name, options):
    torch.manual_seed(3)
    more = {} if name in ("key_value", "hierarchical", "hard_sampled", "hard") else {"dropout": 0.2}
    module = heed.torch.Attention(name, **options, **more)
    queries, keys = tensors((B, TK, 8), (B, TK, 8))
    arguments = {"sentences": torch.tensor([0, 1, 2])} if name == "hierarchical" else {}
    if name == "guided":
        arguments["guide_cost"] = True
    given = (keys,) if module._attention._has_own_queries else (queries, keys)
    result = module(*given, **arguments)
    if isinstance(result, heed.torch.Result):
        parts = (result.context, result.log_prob, result.guide_cost)
        loss = sum((x * x).sum() for x in parts if x is not None)
    else:
        loss = (result * result).sum()
    leaves = [*given, *module.parameters()]
    first = torch.autograd.grad(loss, leaves, retain_graph=True, allow_unused=True)
    second = torch.autograd.grad(loss, leaves, retain_graph=True, allow_unused=True)
    for a, b in zip(first, second):
        assert a is b is None or torch.equal(a, b)


@pytest.mark.parametrize("score", ("scaled_dot", "cosine"))
def test_attend_goes_back_twice(score):
    q, k, v = leaves = tensors((B, H, TQ, D), (B, G, TK, D), (B, G, TK, DV))
    loss = (heed.torch.attend(q, k, v, score=score, dropout=0.3) ** 2).sum()
    first, second = (torch.autograd.grad(loss, leaves, retain_graph=True) for _ in range(2))
    assert all(torch.equal(a, b) for a, b in zip(first, second))


@pytest.mark.parametrize("options", (dict(dropout=0.5), dict(dropout_p=0.5), dict(normalise="hard_sampled")))
def test_what_is_dropped_follows_from_manual_seed(options):
    q, k, v = tensors((B, H, TQ, D), (B, G, TK, D), (B, G, TK, DV))
    torch.manual_seed(7)
    first, other = heed.torch.attend(q, k, v, **options), heed.torch.attend(q, k, v, **options)
    torch.manual_seed(7)
    again = heed.torch.attend(q, k, v, **options)
    assert torch.equal(first, again) and not torch.equal(first, other)
    given = [heed.torch.attend(q, k, v, seed=3, **options) for _ in range(2)]
    assert torch.equal(*given)
    before = torch.get_rng_state()
    heed.torch.attend(q, k, v)
    assert torch.equal(before, torch.get_rng_state()), "nothing was drawn"


def test_what_a_module_drops_follows_from_manual_seed():
    module = heed.torch.Attention("scaled_dot", query_width=4, key_width=4, dropout=0.5)
    queries, keys = tensors((B, TQ, 4), (B, TK, 4))
    torch.manual_seed(7)
    first, other = module(queries, keys), module(queries, keys)
    torch.manual_seed(7)
    assert torch.equal(module(queries, keys), first) and not torch.equal(first, other)


@pytest.mark.parametrize("kind, tolerance", ((torch.float16, 2e-3), (torch.bfloat16, 2e-2), (torch.float64, 3e-5)))
@pytest.mark.parametrize("score", ("scaled_dot", "cosine"))
def test_other_kinds_of_floats_by_promotion(kind, tolerance, score):
    exact = [x.detach().to(kind).float() for x in tensors((B, H, TQ, D), (B, G, TK, D), (B, G, TK, DV))]
    leaves = [x.to(kind).requires_grad_() for x in exact]
    out = heed.torch.attend(*leaves, score=score, causal=True, promote=True)
    assert out.dtype == kind
    plain = [x.requires_grad_() for x in exact]
    expected = heed.torch.attend(*plain, score=score, causal=True)
    close(out.float(), expected, tolerance)
    out.float().sum().backward()
    expected.sum().backward()
    for a, b in zip(leaves, plain):
        assert a.grad.dtype == kind
        close(a.grad.float(), b.grad, tolerance)
    shown = heed.torch.attend(*leaves, score=score, causal=True, promote=True, return_weights=True)
    assert shown.weights.dtype == shown.context.dtype == kind
    if kind != torch.bfloat16:
        arrays = [x.detach().numpy() for x in leaves]
        found, gradient = heed.attend_with_gradient(*arrays, score=score, causal=True, promote=True)
        assert found.dtype == arrays[0].dtype and np.array_equal(found, out.detach().numpy())
        assert {x.dtype for x in gradient(np.ones_like(found)).values()} == {arrays[0].dtype}
    else:
        heed.attend(*(x.detach() for x in leaves), promote=True)


@pytest.mark.parametrize("kind, tolerance", ((torch.float16, 3e-3), (torch.bfloat16, 3e-2), (torch.float64, 3e-5)))
def test_modules_of_other_kinds_by_promotion(kind, tolerance):
    module = heed.torch.Attention("additive", query_width=5, key_width=3, hidden=4, seed=2, promote=True).to(kind)
    plain = heed.torch.Attention("additive", query_width=5, key_width=3, hidden=4, seed=2)
    plain.load_state_dict({name: x.float() for name, x in module.state_dict().items()})
    queries, keys = (x.detach().to(kind) for x in tensors((B, TQ, 5), (B, TK, 3)))
    out, expected = module(queries, keys), plain(queries.float(), keys.float())
    assert out.dtype == kind
    close(out.float(), expected, tolerance)
    out.float().sum().backward()
    expected.sum().backward()
    assert module.score.v.grad.dtype == kind
    close(module.score.v.grad.float(), plain.score.v.grad, tolerance)


def test_changes_in_place_are_noticed():
    q, k, v = tensors((B, H, TQ, D), (B, G, TK, D), (B, G, TK, DV))
    out = heed.torch.attend(q, k, v)
    with torch.no_grad():
        q.add_(1.0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.sum().backward()


def test_refused_in_words():
    q, k, v = tensors((B, H, TQ, D), (B, G, TK, D), (B, G, TK, DV))
    for bad, kind in ((torch.float64, "float64"), (torch.float16, "float16"), (torch.bfloat16, "bfloat16")):
        with pytest.raises(heed.Error, match=f"q: expected float32, got {kind}; convert with .to"):
            heed.torch.attend(q.to(bad), k, v)
        with pytest.raises(heed.Error, match=f"q: expected float32.*{kind}"):
            heed.attend(q.detach().to(bad), k, v)
    for bad, kind in ((torch.int64, "int64"), (torch.int32, "int32")):
        with pytest.raises(heed.Error, match=rf"q: expected float32, got {kind}; convert with .to\(torch.float32\)$"):
            heed.torch.attend(q.detach().to(bad), k, v)
        with pytest.raises(heed.Error, match=rf"queries: expected float32, got {kind}; convert with .to\(torch"):
            heed.torch.Attention("scaled_dot", key_width=D)(q.detach()[0].to(bad), k[0])
        with pytest.raises(heed.Error, match=rf"q: expected float32, got {kind}; convert with .to\(torch"):
            heed.attend(q.detach().to(bad), k.detach(), v.detach())
    with pytest.raises(heed.Error, match="q: .*requires? grad"):
        heed.attend(q, k, v)
    with pytest.raises(heed.Error, match="q: expected a CPU tensor, got one on meta"):
        heed.torch.attend(q.to("meta"), k, v)


def additive_module():
    module = heed.torch.Attention("additive", query_width=5, key_width=3, hidden=4, seed=2)
    return module, *tensors((B, TQ, 5), (B, TK, 3))


def plain_additive(module, queries, keys):
    s = module.score
    e = torch.tanh((keys @ s.key.weight.T)[:, None] + (queries @ s.query.weight.T)[:, :, None] + s.bias) @ s.v
    return F.softmax(e, -1) @ keys


def test_module():
    module, queries, keys = additive_module()
    leaves = [queries, keys, *module.parameters()]
    compare(module(queries, keys), plain_additive(module, queries, keys), leaves)
    names = {"score.query.weight", "score.key.weight", "score.bias", "score.v"}
    assert set(dict(module.named_parameters())) == names == set(module.state_dict())
    assert "additive" in repr(module)


def test_module_learns():
    """Its parameters share their memory with heed's, so an optimiser's steps arrive."""
    module, queries, keys = additive_module()
    target = torch.randn(B, TQ, 3, generator=torch.Generator().manual_seed(5)) * 0.1
    optimiser = torch.optim.Adam(module.parameters(), 0.05)
    losses = []
    for _ in range(40):
        optimiser.zero_grad()
        loss = F.mse_loss(module(queries.detach(), keys.detach()), target)
        loss.backward()
        optimiser.step()
        losses.append(float(loss))
    assert losses[-1] < 0.95 * losses[0]
    compare(module(queries, keys), plain_additive(module, queries, keys), [queries, keys])


def test_modules_that_were_copied_or_loaded():
    module, queries, keys = additive_module()
    other = copy.deepcopy(module)
    with torch.no_grad():
        other.score.v.mul_(-1.0)
    compare(other(queries, keys), plain_additive(other, queries, keys), list(other.parameters()))
    compare(module(queries, keys), plain_additive(module, queries, keys), list(module.parameters()))
    module.load_state_dict(other.state_dict())
    close(module(queries, keys), other(queries, keys), 1e-6)
    double = copy.deepcopy(module).double().float()
    close(double(queries, keys), other(queries, keys), 1e-6)


def test_multi_head_like_torch():
    mine = heed.torch.Attention("multi_head", query_width=8, key_width=8, heads=2, input="self_attention")
    theirs = torch.nn.MultiheadAttention(8, 2, batch_first=True)
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat((mine.query.weight, mine.key.weight, mine.value.weight)))
        theirs.in_proj_bias.copy_(torch.cat((mine.query.bias, mine.key.bias, mine.value.bias)))
        theirs.out_proj.weight.copy_(mine.output.weight)
        theirs.out_proj.bias.copy_(mine.output.bias)
    (x,) = tensors((B, TQ, 8))
    padding = torch.tensor([[False] * 5, [False] * 3 + [True] * 2])
    expected, weights = theirs(x, x, x, key_padding_mask=padding, average_attn_weights=False)
    result = mine(x, x, x, key_lengths=torch.tensor([5, 3]), weights=True)
    close(result.weights, weights)
    compare(result.context, expected, [x])
    alone = mine(x)
    compare(alone, theirs(x, x, x)[0], [x])


def test_module_with_other_outputs():
    module = heed.torch.Attention("softmax", query_width=4, key_width=4, normalise="softmax")
    queries, keys = tensors((B, TQ, 4), (B, TK, 4))
    result = module(queries, keys, entropy=True)
    weights = F.softmax(queries @ keys.transpose(-1, -2) / 2.0, -1)
    compare(result.entropy[:, 0], -(weights * weights.log()).sum(-1), [queries, keys])
    result = module(queries, keys, entropy=True)
    both = result.entropy.sum() + result.context.sum()
    plain = -(weights * weights.log()).sum() + (weights @ keys).sum()
    for a, b in zip(torch.autograd.grad(both, (queries, keys)), torch.autograd.grad(plain, (queries, keys))):
        close(a, b)
    structured = heed.torch.Attention("structured", key_width=4, queries=3)
    result = structured(keys, penalty=True)
    annotation = F.softmax(structured.queries @ torch.tanh(structured.score.weight @ keys.transpose(-1, -2)), -1)
    penalty = ((annotation @ annotation.transpose(-1, -2) - torch.eye(3)) ** 2).sum()
    compare(result.penalty, penalty, [keys, *structured.parameters()], 1e-4)


def test_training_and_evaluation():
    module = heed.torch.Attention("scaled_dot", query_width=4, key_width=4, dropout=0.5)
    queries, keys = tensors((B, TQ, 4), (B, TK, 4))
    assert not torch.equal(module(queries, keys), module(queries, keys))
    module.eval()
    assert torch.equal(module(queries, keys), module(queries, keys))
    with torch.no_grad():
        assert not module(queries, keys).requires_grad


def test_parameters_that_are_not_trained_are_buffers():
    module = heed.torch.Attention("synthesizer_random", query_width=4, key_width=4, max_length=TK, fixed_table=True)
    assert [name for name, _ in module.named_buffers()] == ["score.table"] and not list(module.parameters())
    queries, keys = tensors((B, TQ, 4), (B, TK, 4))
    expected = F.softmax(module.score.table[:TQ, :TK], -1) @ keys
    compare(module(queries, keys), expected, [keys])
