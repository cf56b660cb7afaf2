"""The formulas of heed's catalogue once more, plainly, in PyTorch: scores, weights from scores, regions, time.

Nothing here shares code with heed. The functions take tensors of any float type with any number of axes in front:

    q [..., Tq, Dq]   k [..., Tk, Dk]   v [..., Tk, Dv]   scores, weights and visible (of bool) [..., Tq, Tk]

so one head of one sequence, all heads of a sequence and a padded batch all go. torch_mechanisms.py puts them together.
"""
import math

import torch

# ------------------------------------------------------------------------------------------------------------ scores

def dot(q, k):
    return q @ k.transpose(-1, -2)


def scaled_dot(q, k):
    return dot(q, k) / math.sqrt(q.shape[-1])


def unit(x):
    """x / |x|; a zero vector stays zero, with gradient 0."""
    square = (x * x).sum(-1, keepdim=True)
    zero = square == 0
    return x * torch.where(zero, torch.zeros_like(square), torch.where(zero, torch.ones_like(square), square).rsqrt())


def cosine(q, k, temperature=1.0):
    return temperature * dot(unit(q), unit(k))


def general(q, k, weight):
    return dot(q @ weight, k)


def pairs(q, k, key_weight, query_weight, bias):
    """W1 k_j + W2 q_i + b of every pair, [..., Tq, Tk, hidden]."""
    return (k @ key_weight.T)[..., None, :, :] + (q @ query_weight.T)[..., :, None, :] + bias


def additive(q, k, key_weight, query_weight, bias, v):
    return torch.tanh(pairs(q, k, key_weight, query_weight, bias)) @ v


def gelu(x):
    return 0.5 * x * (1.0 + torch.erf(x / math.sqrt(2.0)))


ACTIVATIONS = {"tanh": torch.tanh, "relu": torch.relu, "gelu": gelu}


def mlp(first, layers, v, activation):
    """first: pairs(); layers: weight and bias of each further one."""
    hidden = activation(first)
    for weight, bias in layers:
        hidden = activation(hidden @ weight.T + bias)
    return hidden @ v


def projected(q, k, query_weight, key_weight, bias):
    return dot(q @ query_weight.T, k @ key_weight.T) + bias


def for_every_query(scores_of_keys, q):
    return scores_of_keys[..., None, :].expand(*q.shape[:-1], scores_of_keys.shape[-1])


def self_scored_vector(q, k, weight, v):
    return for_every_query(torch.tanh(k @ weight.T) @ v, q)


def self_scored_linear(q, k, weight, bias):
    return for_every_query(torch.tanh(k @ weight[0] + bias), q)


def synthesizer_dense(q, keys, hidden_weight, hidden_bias, row_weight, row_bias):
    """Each query writes its row of scores, cut to the number of keys."""
    return (torch.relu(q @ hidden_weight.T + hidden_bias) @ row_weight.T + row_bias)[..., :keys]


def synthesizer_random(table, heads, step, queries, keys):
    """table [H * longest, longest] -> [H, Tq, Tk]"""
    return table.reshape(heads, -1, table.shape[-1])[:, step:step + queries, :keys]


def synthesizer_mixture(mix, scores):
    return sum(a * e for a, e in zip(torch.softmax(mix, -1), scores))


def soft_cap(e, cap):
    return cap * torch.tanh(e / cap) if cap > 0 else e


def alibi(where, j, heads):
    """-slope_h |position - j|. Press et al. 2022. [H, Tq, Tk]"""
    slope = 2.0 ** (-8.0 * torch.arange(1, heads + 1) / heads)
    return -slope[:, None, None] * (where - j).abs()


def rotary(x, first):
    """Neighbouring columns as complex numbers, turned by position * 10000^(-2i / D). Su et al. 2021. x [..., T, D]"""
    places = torch.arange(first, first + x.shape[-2], dtype=x.dtype)[:, None]
    theta = 10000.0 ** (-torch.arange(0, x.shape[-1], 2, dtype=x.dtype) / x.shape[-1])
    turns = torch.polar(torch.ones_like(places * theta), places * theta)
    points = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2).contiguous())
    return torch.view_as_real(points * turns).reshape(x.shape)


def relative(where, j, table, reach):
    """table [H, 2 reach + 1] -> [H, Tq, Tk]"""
    return table[:, (j - where).clamp(-reach, reach) + reach]


# ------------------------------------------------------------------------------------------------- weights from scores

def hide(e, visible):
    """Scores with the lowest number that is still finite where nothing is visible: no gradient becomes NaN."""
    return e.masked_fill(~visible, torch.finfo(e.dtype).min / 4)


def softmax(e, visible, sink=None):
    """sink [H]: one more score without a value. A row that sees nothing has weights 0."""
    e = hide(e, visible)
    if sink is not None:
        e = torch.cat([e, sink[:, None, None].expand(*e.shape[:-1], 1)], -1)
    return torch.softmax(e, -1)[..., :visible.shape[-1]] * visible


def entropy(e, visible):
    return -(softmax(e, visible) * torch.log_softmax(hide(e, visible), -1).masked_fill(~visible, 0.0)).sum(-1)


def divide(weights, visible):
    return weights / visible.sum(-1, keepdim=True).clamp(min=1)


def first_largest(e, visible):
    """Weight 1 on the largest, the first of equals."""
    low = hide(e, visible)
    equal = (low == low.max(-1, keepdim=True)[0]) & visible
    return (equal & (equal.cumsum(-1) == 1)).to(e.dtype)


def hard(e, visible):
    """Straight-through: the gradient of softmax."""
    soft = softmax(e, visible)
    return soft + (first_largest(e, visible) - soft).detach()


def sparsemax(e, visible):
    """Martins and Astudillo 2016, algorithm 1."""
    z = hide(e, visible)
    ordered = z.sort(-1, descending=True)[0]
    count = torch.arange(1, z.shape[-1] + 1)
    support = (1 + count * ordered > ordered.cumsum(-1)) & (torch.arange(z.shape[-1]) < visible.sum(-1, keepdim=True))
    size = support.sum(-1, keepdim=True).clamp(min=1)
    tau = ((ordered * support).sum(-1, keepdim=True) - 1) / size
    return (z - tau).clamp(min=0.0) * visible


def entmax15(e, visible):
    """Peters, Niculae and Martins 2019, algorithm 2: weights (e / 2 - tau)^2 on the support."""
    z = hide(e, visible) / 2
    z = z - z.max(-1, keepdim=True)[0].detach()  # the same weights, and nothing is squared that is large
    ordered = z.sort(-1, descending=True)[0]
    there = torch.arange(z.shape[-1]) < visible.sum(-1, keepdim=True)
    ordered = ordered.masked_fill(~there, 0.0)
    count = torch.arange(1, z.shape[-1] + 1)
    mean = ordered.cumsum(-1) / count
    spread = (ordered ** 2).cumsum(-1) - count * mean ** 2
    tau = mean - ((1 - spread) / count).clamp(min=1e-30).sqrt()
    size = ((tau <= ordered) & there).sum(-1, keepdim=True).clamp(min=1)
    return (z - tau.gather(-1, size - 1)).clamp(min=0.0) ** 2 * visible


def normalise(o, e, visible, sink=None):
    pointwise = {"relu": torch.relu, "sigmoid": torch.sigmoid, "identity": lambda x: x}
    if o.normalise in pointwise:
        weights = pointwise[o.normalise](e) * visible
        return divide(weights, visible) if o.divide_by_visible else weights
    if o.normalise == "softmax" or (o.normalise == "hard_sampled" and o.at_test == "expectation"):
        return softmax(e, visible, sink)
    return {"hard": hard, "hard_sampled": hard, "sparsemax": sparsemax, "entmax15": entmax15}[o.normalise](e, visible)


def log_prob(e, visible, choice):
    """hard_sampled: logarithm of the probability of the keys that were drawn. choice [..., Tq] -> [..., Tq]"""
    return torch.log_softmax(hide(e, visible), -1).gather(-1, choice[..., None])[..., 0]


# ------------------------------------------------------------------------------------------------------------- regions

def local_centre(q, keys, weight, v):
    """local_p: where each query looks, [..., Tq]. Luong et al. 2015, equation 9."""
    return keys * torch.sigmoid(torch.tanh(q @ weight.T) @ v)


def gaussian(j, centre, sigma):
    return torch.exp(-(j - centre[..., None]) ** 2 / (2.0 * sigma ** 2))


def around_best(e, visible, window, straight_through=False):
    """local_h: the best key of each query [..., Tq], and which keys are within the window around it. Straight-through:
    the gradient of the expected key under softmax."""
    j = torch.arange(e.shape[-1], dtype=e.dtype)
    best = first_largest(e.detach(), visible).argmax(-1).to(e.dtype)
    near = (j - best[..., None]).abs() <= window
    expected = (softmax(e, visible) * j).sum(-1)
    return (best + expected - expected.detach() if straight_through else best), near


def region(o, where, j, ask):
    """Which pairs exist. where [Tq, 1], j [1, Tk]; `ask` has what belongs to the sequence: documents and mask.

    A sink is a key that no window's left end and no document hides; what comes later stays hidden.
    """
    sink = (j < o.sinks) if "sinks" in o.region.split("+") else torch.zeros_like(j, dtype=torch.bool)
    all_pairs = torch.ones(where.shape[0], j.shape[1], dtype=torch.bool)
    see = all_pairs
    for name in o.region.split("+"):
        see = see & {
            "global": lambda: all_pairs,
            "sinks": lambda: all_pairs,
            "local_p": lambda: all_pairs,  # see local_centre
            "local_h": lambda: all_pairs,  # see around_best
            "not_self": lambda: j != where,
            "local_m": lambda: (j - where <= o.window) & ((where - j <= o.window) | sink),
            "causal": lambda: (j < where) if o.strict else (j <= where),
            "sliding_window": lambda: (j <= where) & ((where - j <= o.window) | sink),
            "documents": lambda: (ask.query_documents[:, None] == ask.key_documents[None, :]) | sink,
            "masked": lambda: all_pairs & ask.mask[:, :j.shape[1]],
        }[name]()
    return see


# ---------------------------------------------------------------------------------------------------------------- time

def forced_forward(e, visible):
    """e_ti - log sum_{u < t} exp(e_ui): a key that was looked at counts less. Sankaran et al. 2016"""
    rows = [e[..., 0, :]] if e.shape[-2] else []
    seen, column = torch.zeros_like(visible[..., :1, :])[..., 0, :], None
    for t in range(1, e.shape[-2]):
        before = hide(e, visible)[..., t - 1, :]
        column = before if column is None else torch.logaddexp(column, before)
        seen = seen | visible[..., t - 1, :]
        rows.append(e[..., t, :] - column.masked_fill(~seen, 0.0))
    return torch.stack(rows, -2) if rows else e


def forward_only(o, e, visible, sink=None, factor=None):
    """Step t sees no key before the one that had the largest weight in step t - 1. factor: of the weights, or none."""
    factor = torch.ones_like(e) if factor is None else factor
    j = torch.arange(e.shape[-1])
    visible = visible.expand(e.shape)
    at = torch.zeros(e.shape[:-2] + (1, 1), dtype=torch.long)
    rows = []
    for t in range(e.shape[-2]):
        see = visible[..., t:t + 1, :] & (j >= at)
        rows.append(normalise(o, e[..., t:t + 1, :], see, sink) * factor[..., t:t + 1, :])
        best = first_largest(rows[-1].detach(), see)
        at = torch.where(see.any(-1, keepdim=True), best.argmax(-1, keepdim=True), at)
    return torch.cat(rows, -2) if rows else e


def guide(queries, keys, sigma):
    """1 - exp(-(i/Tq - j/Tk)^2 / (2 g^2)): what looking away from the diagonal costs. Tachibana et al. 2018"""
    off = torch.arange(queries)[:, None] / max(queries, 1) - torch.arange(keys) / max(keys, 1)
    return 1.0 - torch.exp(-off ** 2 / (2.0 * sigma ** 2))
