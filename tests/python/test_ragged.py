"""heed.attend on ragged batches: the same as one sequence after the other."""

import numpy as np
import pytest

import heed
from common import close, floats

H, G, D, DV = 4, 2, 8, 3


def ragged_inputs(rng, kv_heads=G):
    at_q, at_k = np.array([0, 3, 3, 8]), np.array([0, 4, 6, 11])
    return at_q, at_k, floats(rng, 8, H * D), floats(rng, 11, kv_heads * D), floats(rng, 11, kv_heads * DV)


@pytest.mark.parametrize("score", ["scaled_dot", "additive"])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("three", [False, True])
def test_ragged_is_one_sequence_after_the_other(score, causal, three):
    rng = np.random.default_rng(5)
    at_q, at_k, q, k, v = ragged_inputs(rng)
    parameters = None
    if score == "additive":
        shapes = heed.parameter_shapes("additive", query_width=D, key_width=D)
        parameters = {name: floats(rng, *shape) for name, shape in shapes.items()}
    mask = rng.random((8, 5)) < 0.8
    d_out = floats(rng, 8, H * DV)
    common = dict(score=score, parameters=parameters, causal=causal)
    if three:
        q3, k3, v3 = q.reshape(8, H, D), k.reshape(11, G, D), v.reshape(11, G, DV)
        result, gradient = heed.attend_with_gradient(
            q3, k3, v3, query_offsets=at_q, key_offsets=at_k, mask=mask, return_weights=True, **common
        )
        found = gradient(d_out.reshape(8, H, DV))
    else:
        result, gradient = heed.attend_with_gradient(
            q,
            k,
            v,
            query_offsets=at_q,
            key_offsets=at_k,
            q_heads=H,
            kv_heads=G,
            mask=mask,
            return_weights=True,
            **common,
        )
        found = gradient(d_out)
    assert result.weights.shape == (3, H, 5, 5)
    sums = {}
    for b in range(3):
        rows, columns = slice(at_q[b], at_q[b + 1]), slice(at_k[b], at_k[b + 1])
        keys = at_k[b + 1] - at_k[b]
        one, one_gradient = heed.attend_with_gradient(
            q[rows], k[columns], v[columns], q_heads=H, kv_heads=G, mask=mask[rows, :keys], **common
        )
        close(result.context[rows].reshape(one.shape), one, 1e-6)
        gradients = one_gradient(d_out[rows])
        for name, part in (("q", rows), ("k", columns), ("v", columns)):
            close(found[name][part].reshape(gradients[name].shape), gradients[name], 1e-6)
        for name in parameters or ():
            sums[name] = sums.get(name, 0) + gradients[name]
    for name, total in sums.items():
        close(found[name], total, 1e-5)


def test_ragged_stages():
    rng = np.random.default_rng(6)
    at_q, at_k, q, k, v = ragged_inputs(rng)
    bias = floats(rng, 8, 5)
    result = heed.attend(
        q, k, v, query_offsets=at_q, key_offsets=at_k, q_heads=H, kv_heads=G, bias=bias, stages=heed.STAGES
    )
    for b in range(3):
        rows, columns = slice(at_q[b], at_q[b + 1]), slice(at_k[b], at_k[b + 1])
        nq, nk = at_q[b + 1] - at_q[b], at_k[b + 1] - at_k[b]
        one = heed.attend(
            q[rows], k[columns], v[columns], q_heads=H, kv_heads=G, bias=bias[rows, :nk], stages=heed.STAGES
        )
        for stage in heed.STAGES:
            close(result.stages[stage][b, :, :nq, :nk], one.stages[stage][0], 1e-6)
        assert np.isneginf(result.stages["masked"][b, :, nq:]).all()
        assert np.isneginf(result.stages["masked"][b, :, :, nk:]).all()
