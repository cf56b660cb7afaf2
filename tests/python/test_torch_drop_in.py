# slow: 20 s
"""heed.torch under PyTorch's own names: beside torch.nn, compiled, exported, and in a model of torch.nn."""

import copy
import math

import numpy as np
import pytest
import torch
from torch.nn import functional as F

import heed
import heed.torch

sdpa = heed.torch.scaled_dot_product_attention
NEW = hasattr(torch.library, "custom_op")
needs_operators = pytest.mark.skipif(
    not NEW, reason=f"PyTorch {torch.__version__} has no torch.library.custom_op: make test-python-peers runs this"
)


def randn(*shape, seed=0, gradient=True):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).requires_grad_(gradient)


def close(found, expected, tolerance=3e-5):
    assert found.shape == expected.shape and found.dtype == expected.dtype, (found.shape, expected.shape)
    off = (found.detach() - expected.detach()).abs().max()
    assert off <= tolerance * max(1e-2, float(expected.detach().abs().max())), float(off)


def reference(q, k, v, attn_mask=None, is_causal=False, scale=None):
    """PyTorch's function where it is there, else its formula."""
    if hasattr(F, "scaled_dot_product_attention"):
        more = {"enable_gqa": True} if q.dim() > 3 and q.shape[-3] != k.shape[-3] else {}
        return F.scaled_dot_product_attention(q, k, v, attn_mask, 0.0, is_causal, scale=scale, **more)
    if q.dim() > 3 and q.shape[-3] != k.shape[-3]:
        k, v = (x.repeat_interleave(q.shape[-3] // x.shape[-3], -3) for x in (k, v))
    scores = q @ k.transpose(-1, -2) * (scale or 1 / math.sqrt(q.shape[-1]))
    if is_causal:
        attn_mask = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool).tril()
    if attn_mask is not None:
        hard = attn_mask.dtype == torch.bool
        scores = scores.masked_fill(~attn_mask, -math.inf) if hard else scores + attn_mask
    return torch.softmax(scores, -1) @ v


MASK = (torch.arange(35).reshape(5, 7) % 3 != 1)
CASES = {
    "plain": ((2, 4, 5, 8), (2, 4, 7, 8), {}),
    "causal": ((2, 4, 5, 8), (2, 4, 7, 8), {"is_causal": True}),
    "scale": ((2, 4, 5, 8), (2, 4, 7, 8), {"scale": 0.7}),
    "two": ((5, 8), (7, 8), {"attn_mask": MASK}),
    "three": ((3, 5, 8), (3, 7, 8), {"attn_mask": MASK}),
    "three with a mask each": ((3, 5, 8), (3, 7, 8), {"attn_mask": randn(3, 5, 7)}),
    "five": ((2, 3, 4, 5, 8), (2, 3, 4, 7, 8), {"attn_mask": randn(3, 1, 5, 7)}),
    "mask": ((2, 4, 5, 8), (2, 4, 7, 8), {"attn_mask": MASK}),
    "mask of keys": ((2, 4, 5, 8), (2, 4, 7, 8), {"attn_mask": torch.tensor([[[[True] * 6 + [False]]]])}),
    "mask of one column": ((2, 4, 5, 8), (2, 4, 7, 8), {"attn_mask": torch.ones(5, 1, dtype=torch.bool)}),
    "numbers": ((2, 4, 5, 8), (2, 4, 7, 8), {"attn_mask": randn(2, 1, 5, 7)}),
    "shared heads": ((2, 4, 5, 8), (2, 2, 7, 8), {"enable_gqa": True}),
}


@pytest.mark.parametrize("name", CASES)
def test_it_is_the_function_of_pytorch(name):
    shape, keys, options = CASES[name]
    leaves = [randn(*shape), randn(*keys, seed=1), randn(*keys[:-1], 6, seed=2)]
    mask = options.get("attn_mask")
    if mask is not None and mask.requires_grad:
        leaves.append(mask)
    found = sdpa(*leaves[:3], **options)
    expected = reference(*leaves[:3], **{k: v for k, v in options.items() if k != "enable_gqa"})
    close(found, expected)
    d_out = randn(*expected.shape, seed=3, gradient=False)
    for mine, plain in zip(torch.autograd.grad((found * d_out).sum(), leaves),
                           torch.autograd.grad((expected * d_out).sum(), leaves)):
        close(mine, plain)


def test_positions_types_and_strides():
    q, k, v = randn(2, 4, 5, 8), randn(2, 4, 7, 8, seed=1), randn(2, 4, 7, 8, seed=2)
    close(sdpa(q, k, v, MASK, 0.0, False, 0.5), reference(q, k, v, MASK, scale=0.5))
    close(sdpa(q, k, v, None, 0.0, True), reference(q, k, v, is_causal=True))
    turned = [x.transpose(-1, -2).contiguous().transpose(-1, -2) for x in (q, k, v)]
    close(sdpa(*turned), reference(q, k, v))
    for kind in (torch.float16, torch.bfloat16):
        half = sdpa(*(x.to(kind) for x in (q, k, v)))
        assert half.dtype == kind and (half.float() - reference(q, k, v)).abs().max() < 0.02
    hidden = sdpa(q, k, v, torch.zeros(5, 7, dtype=torch.bool))
    assert (hidden == 0).all()  # a query that sees nothing


def test_dropout_follows_the_seed():
    q, k, v = randn(2, 4, 5, 8), randn(2, 4, 7, 8, seed=1), randn(2, 4, 7, 8, seed=2)
    found = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        found.append(sdpa(q, k, v, dropout_p=0.4))
    assert torch.equal(found[0], found[1]) and not torch.equal(found[0], found[2])
    many = sdpa(q.detach().expand(500, -1, -1, -1, -1), k.detach().expand(500, -1, -1, -1, -1),
                v.detach().expand(500, -1, -1, -1, -1), dropout_p=0.4).mean(0)
    assert (many - reference(q, k, v)).abs().max() < 0.2


@pytest.mark.parametrize("call, says", [
    (lambda q: sdpa(q, q, q, MASK, 0.0, True), "expected None with is_causal=True"),
    (lambda q: sdpa(q, q[:, :2], q[:, :2]), "enable_gqa=True shares them"),
    (lambda q: sdpa(q, q[:1], q[:1]), r"expected \[2\] in front"),
    (lambda q: sdpa(q.double(), q.double(), q.double()), "expected float32"),
    (lambda q: sdpa(q[0, 0, 0], q, q), r"expected at least \[T, width\]"),
])
def test_refusals(call, says):
    with pytest.raises(heed.Error, match=says):
        call(randn(2, 4, 5, 8))


def test_autocast_and_second_derivatives_are_refused():
    q = randn(1, 2, 3, 4)
    layer = heed.torch.MultiheadAttention(4, 2, batch_first=True)
    additive = heed.torch.Attention("additive", query_width=4, key_width=4)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        for call in (lambda: sdpa(q, q, q), lambda: layer(q[0], q[0], q[0]), lambda: heed.torch.attend(q, q, q),
                     lambda: additive(q[0], q[0])):
            with pytest.raises(heed.Error, match="autocast: heed computes in float32"):
                call()
        with torch.autocast("cpu", enabled=False):
            sdpa(q, q, q)
    gradient = torch.autograd.grad(sdpa(q, q, q).square().sum(), q, create_graph=True)[0]
    with pytest.raises(heed.Error, match="has no second derivatives"):
        gradient.sum().backward()


def test_slopes():
    """torch.autograd.gradcheck; heed computes in float32, so with steps and tolerances of that."""
    q, k, v, bias = randn(1, 2, 3, 4), randn(1, 2, 4, 4, seed=1), randn(1, 2, 4, 3, seed=2), randn(1, 1, 3, 4, seed=3)
    fine = {"eps": 1e-2, "atol": 2e-3, "rtol": 2e-2}
    with pytest.warns(UserWarning, match="double precision"):
        assert torch.autograd.gradcheck(sdpa, (q, k, v), **fine)
        assert torch.autograd.gradcheck(sdpa, (q, k, v, bias), **fine)
        assert torch.autograd.gradcheck(lambda q, k, v: sdpa(q, k, v, is_causal=True), (q, k, v), **fine)


# ------------------------------------------------------------------------------------------------- compiled and exported

OPERATIONS = {
    "plain": (None, None, None, "{'scale': 0.3, 'causal': True}"),
    "bias": (None, randn(2, 1, 5, 7), None, "{}"),
    "dropout": (MASK[None, None], None, torch.tensor([3]), "{'dropout': 0.2}"),
    "window": (None, None, None, "{'window': (2, None), 'softcap': 5.0, 'normalise': 'sparsemax'}"),
}


@needs_operators
@pytest.mark.parametrize("name", OPERATIONS)
def test_the_checks_of_operators(name):
    q, k, v = randn(2, 4, 5, 8), randn(2, 2, 7, 8, seed=1), randn(2, 2, 7, 6, seed=2)
    done = torch.library.opcheck(torch.ops.heed.attend.default, (q, k, v, *OPERATIONS[name]))
    assert set(done.values()) == {"SUCCESS"} and len(done) == 4


@needs_operators
def test_the_checks_of_the_operator_of_mechanisms():
    layer = heed.torch.Attention("additive", query_width=5, key_width=3)
    call = layer._operator_call({"queries": randn(2, 6, 5), "keys": randn(2, 9, 3)}, {})
    done = torch.library.opcheck(torch.ops.heed.mechanism.default, call)
    assert set(done.values()) == {"SUCCESS"} and len(done) == 4


def compiled(function):
    torch._dynamo.reset()
    return torch.compile(function, backend="aot_eager", fullgraph=True)


@needs_operators
def test_compiled_functions():
    q, k, v, bias = randn(2, 4, 5, 8), randn(2, 4, 7, 8, seed=1), randn(2, 4, 7, 8, seed=2), randn(2, 1, 5, 7, seed=3)
    for function in (
        lambda q, k, v, bias: sdpa(q, k, v, bias),
        lambda q, k, v, bias: sdpa(q, k, v, is_causal=True) + bias.sum(),
        lambda q, k, v, bias: heed.torch.attend(q, k, v, window=(2, None), softcap=9.0) + bias.sum(),
    ):
        want, found = function(q, k, v, bias), compiled(function)(q, k, v, bias)
        close(found, want, 1e-6)
        for mine, plain in zip(torch.autograd.grad(found.square().sum(), (q, k, v, bias)),
                               torch.autograd.grad(want.square().sum(), (q, k, v, bias))):
            close(mine, plain, 1e-6)
    out = compiled(lambda q, k, v: sdpa(q, k, v, dropout_p=0.5))(q, k, v)
    assert (out != sdpa(q, k, v)).any()


@needs_operators
@pytest.mark.parametrize("how", ["compile", "export"])
@pytest.mark.parametrize("name", ["MultiheadAttention", "additive", "multi_head"])
def test_compiled_and_exported_modules(how, name, tmp_path):
    if name == "MultiheadAttention":
        layer = heed.torch.MultiheadAttention(16, 4, batch_first=True)
    else:
        layer = heed.torch.Attention(name, query_width=16, key_width=16)

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.attention = torch.nn.Linear(16, 16), layer

        def forward(self, x):
            x = self.first(x)
            out = self.attention(x, x, x) if name == "MultiheadAttention" else self.attention(x, x)
            return out[0] if isinstance(out, tuple) else out

    model, x = Model().eval(), randn(2, 5, 16, gradient=False)
    want = model(x)
    if how == "compile":
        found = compiled(model)(x)
        gradients = torch.autograd.grad(found.square().sum(), list(model.parameters()), allow_unused=True)
        plain = torch.autograd.grad(want.square().sum(), list(model.parameters()), allow_unused=True)
        for mine, its in zip(gradients, plain):
            close(mine, its, 1e-5)
    else:
        exported = torch.export.export(model, (x,))
        assert any("heed" in str(node.target) for node in exported.graph.nodes)
        torch.export.save(exported, tmp_path / "model.pt2")
        found = torch.export.load(tmp_path / "model.pt2").module()(x)
    close(found, want, 1e-6)


@needs_operators
def test_what_cannot_be_in_a_graph_stands_beside_it():
    """Weights, ragged batches and the like are computed as ever, with a break in the graph."""
    torch._dynamo.reset()
    q = randn(2, 4, 5, 8)
    function = lambda q: heed.torch.attend(q * 2, q, q, return_weights=True).context + 1  # noqa: E731
    close(torch.compile(function, backend="aot_eager")(q), function(q), 1e-6)
    layer = heed.torch.Attention("additive", query_width=8, key_width=8)
    function = lambda q: layer(q[0] * 2, q[0], entropy=True).entropy  # noqa: E731
    close(torch.compile(function, backend="aot_eager")(q), function(q), 1e-6)


# -------------------------------------------------------------------------------------------------- MultiheadAttention


def pair_of_modules(**options):
    """PyTorch's and heed's, with the same parameters, through state_dict."""
    torch.manual_seed(3)
    theirs = torch.nn.MultiheadAttention(16, 4, **options)
    mine = heed.torch.MultiheadAttention(16, 4, **options)
    for parameter in theirs.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    mine.load_state_dict(theirs.state_dict())
    theirs.load_state_dict(copy.deepcopy(mine.state_dict()))
    assert list(mine.state_dict()) == list(theirs.state_dict()) and isinstance(mine, torch.nn.MultiheadAttention)
    return theirs, mine


CAUSAL = torch.ones(5, 5, dtype=torch.bool).triu(1)
PADDING = torch.tensor([[False] * 5, [False] * 3 + [True] * 2])
MODULES = [
    ({}, {}),
    ({"batch_first": True}, {"average_attn_weights": False}),
    ({"bias": False}, {"need_weights": False}),
    ({"batch_first": True}, {"key_padding_mask": PADDING}),
    ({"batch_first": True}, {"attn_mask": CAUSAL, "key_padding_mask": PADDING}),
    ({"batch_first": True}, {"attn_mask": randn(8, 5, 5, gradient=False)}),
    ({"batch_first": True}, {"attn_mask": torch.zeros(5, 5).masked_fill(CAUSAL, -math.inf)}),
    ({"add_bias_kv": True, "add_zero_attn": True, "batch_first": True}, {"key_padding_mask": PADDING}),
    ({"add_zero_attn": True}, {"attn_mask": CAUSAL}),
    ({"kdim": 6, "vdim": 7, "batch_first": True}, {}),
]
if NEW:
    MODULES.append(({"batch_first": True}, {"attn_mask": CAUSAL, "is_causal": True, "need_weights": False}))


@pytest.mark.parametrize("options, call", MODULES)
def test_modules(options, call):
    theirs, mine = pair_of_modules(**options)
    x = randn(2, 5, 16) if options.get("batch_first") else randn(5, 2, 16)
    k, v = (x, x) if "kdim" not in options else (randn(2, 5, 6, seed=1), randn(2, 5, 7, seed=2))
    (want, weights), (found, shares) = theirs(x, k, v, **call), mine(x, k, v, **call)
    close(found, want)
    assert (shares is None) == (weights is None)
    if weights is not None:
        close(shares, weights)
    d_out = randn(*want.shape, seed=4, gradient=False)
    gradients = []
    for module, out, share in ((theirs, want, weights), (mine, found, shares)):
        loss = (out * d_out).sum() + (0 if share is None else share.square().sum())
        gradients.append(torch.autograd.grad(loss, [x, *module.parameters()]))
    for plain, own in zip(*gradients):
        close(own, plain, 1e-4)


def test_one_sequence_and_what_is_refused():
    theirs, mine = pair_of_modules()
    x = randn(5, 16)
    for plain, own in zip(theirs(x, x, x), mine(x, x, x)):
        close(own, plain)
    with pytest.raises(heed.Error, match="expected the causal mask with is_causal=True"):
        mine(x, x, x, is_causal=True)
    again = copy.deepcopy(mine)
    close(again(x, x, x)[0], mine(x, x, x)[0], 0.0)


# -------------------------------------------------------------------------------------------------- a model of torch.nn


def encoder():
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(16, 4, 32, dropout=0.0, batch_first=True)
    return torch.nn.Sequential(torch.nn.Embedding(20, 16), torch.nn.TransformerEncoder(layer, 2), torch.nn.Linear(16, 20))


def losses_of(model, steps=25):
    """It learns to say its input backwards."""
    optimiser = torch.optim.Adam(model.parameters(), lr=3e-3)
    generator, losses = torch.Generator().manual_seed(1), []
    for _ in range(steps):
        tokens = torch.randint(20, (16, 6), generator=generator)
        loss = F.cross_entropy(model(tokens).flatten(0, 1), tokens.flip(1).flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    return np.array(losses)


def test_a_transformer_trains_to_the_same_losses():
    plain = losses_of(encoder())
    swapped = encoder()
    before = {name: value.clone() for name, value in swapped.state_dict().items()}
    assert heed.torch.swap_attention(swapped) == 2 and heed.torch.swap_attention(swapped) == 0
    assert all(torch.equal(before[name], value) for name, value in swapped.state_dict().items())
    own = losses_of(swapped)
    assert plain[-1] < 0.95 * plain[0] and np.abs(plain - own).max() < 1e-4 * plain.max(), (plain, own)


def test_evaluation_goes_through_heed_too(monkeypatch):
    """nn.TransformerEncoderLayer has a path of its own for evaluation, past its self_attn."""
    model, plain = encoder().eval(), encoder().eval()
    heed.torch.swap_attention(model)
    calls = []
    forward = heed.torch.MultiheadAttention.forward
    monkeypatch.setattr(heed.torch.MultiheadAttention, "forward",
                        lambda self, *args, **more: calls.append(1) or forward(self, *args, **more))
    tokens = torch.arange(12).reshape(2, 6)
    with torch.no_grad():
        close(model(tokens), plain(tokens))
    assert len(calls) == 2
