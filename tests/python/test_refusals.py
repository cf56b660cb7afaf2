"""What has no meaning is refused by heed.Error, which says what was expected; never silently, never by other errors."""

import re

import numpy as np
import pytest

import heed
from common import floats

RNG = np.random.default_rng(0)
Q, K, V = floats(RNG, 1, 1, 3, 4), floats(RNG, 1, 1, 5, 4), floats(RNG, 1, 1, 5, 4)
NAN, INF = float("nan"), float("inf")

ATTEND = {
    "window_2.5": dict(window=2.5),
    "window_text": dict(window="3"),
    "window_-1": dict(window=-1),
    "window_True": dict(window=True),
    "window_of_three": dict(window=(1, 2, 3)),
    "window_of_floats": dict(window=(1.5, None)),
    "window_too_large": dict(window=2**40),
    "align_None": dict(align=None),
    "align_1.5": dict(align=1.5, causal=True),
    "align_word": dict(align="left"),
    "align_too_large": dict(align=2**40),
    "score_None": dict(score=None),
    "score_3": dict(score=3),
    "normalise_None": dict(normalise=None),
    "region_3": dict(region=3),
    "region_of_another_part": dict(region="softmax"),
    "seed_-1": dict(seed=-1),
    "seed_too_large": dict(seed=2**64),
    "seed_1.5": dict(seed=1.5),
    "sinks_1.5": dict(sinks=1.5, window=1),
    "sinks_-1": dict(sinks=-1, window=1),
    "sinks_0_with_region_sinks": dict(region="sinks", sinks=0),
    "strict_alone": dict(strict=True),
    "strict_with_a_window": dict(strict=True, window=2),
    "strict_with_sliding_window": dict(region="sliding_window", strict=True),
    "strict_with_sliding_window_of_another_score": dict(score="cosine", region="sliding_window", strict=True),
    "causal_as_a_word": dict(causal="no"),
    "scale_as_a_word": dict(scale="x"),
    "scale_nan": dict(scale=NAN),
    "softcap_inf": dict(softcap=INF),
    "dropout_nan": dict(dropout=NAN),
    "temperature_nan": dict(score="cosine", temperature=NAN),
    "temperature_of_another_score": dict(temperature=2.0),
    "depth_of_another_score": dict(score="cosine", depth=3),
    "guide_sigma_of_another_time": dict(score="cosine", guide_sigma=0.5),
    "unknown_option": dict(dpeth=3),
    "q_heads_-1": dict(q_heads=-1),
    "kv_heads_1.5": dict(kv_heads=1.5),
    "key_lengths_that_wrap": dict(key_lengths=[2**32 + 3]),
    "key_lengths_that_wrap_with_another_score": dict(score="cosine", key_lengths=[2**32 + 3]),
    "key_lengths_beyond_64_bits": dict(key_lengths=[2**70]),
    "query_lengths_too_many": dict(score="cosine", query_lengths=[4]),
    "documents_that_wrap": dict(query_documents=[[0, 0, 2**32]], key_documents=[[0] * 5]),
    "documents_of_one_side": dict(query_documents=[[0, 0, 0]]),
    "mask_and_attn_mask": dict(mask=np.ones((3, 5), bool), attn_mask=np.ones((3, 5), bool)),
    "dropout_and_dropout_p": dict(dropout=0.1, dropout_p=0.1),
    "mask_wider_than_the_keys": dict(mask=np.ones((3, 9), bool)),
    "bias_wider_than_the_keys": dict(score="cosine", bias=np.ones((3, 9), np.float32)),
    "mask_for_a_static_query": dict(score="general", time="static", mask=np.ones((3, 5), bool)),
    "promote_as_a_word": dict(promote="yes"),
}


@pytest.mark.parametrize("name", ATTEND)
def test_attend(name):
    with pytest.raises(heed.Error) as refused:
        heed.attend(Q, K, V, **ATTEND[name])
    assert re.search("expected|is an option of|there is no option|must be|came", str(refused.value)), refused.value


def test_heads_are_shared_only_where_that_was_asked_for():
    q = np.repeat(Q, 2, axis=1)
    heed.attend(q, K, V, enable_gqa=True)
    with pytest.raises(heed.Error, match="enable_gqa=True"):
        heed.attend(q, K, V, enable_gqa=False)


MODULES = {
    "predict_2": ("key_value", dict(key_width=6, predict=2), "predict must be 0"),
    "temperature_nan": ("cosine", dict(key_width=4, temperature=NAN), "finite"),
    "dropout_inf": ("dot", dict(key_width=4, dropout=INF), "finite"),
    "window_-1": ("local_m", dict(key_width=4, window=-1), "window"),
    "sinks_1.5": ("sinks", dict(key_width=4, sinks=1.5), "whole number"),
    "sinks_0": ("dot", dict(key_width=4, region="sliding_window+sinks"), "set sinks to 1"),
    "strict": ("dot", dict(key_width=4, region="sliding_window", strict=True), "strict is an option of causal"),
    "depth": ("dot", dict(key_width=4, depth=3), "depth is an option of mlp"),
    "samples": ("dot", dict(key_width=4, samples=3), "samples is an option of hard_sampled"),
    "reach": ("dot", dict(key_width=4, reach=3), "reach is an option of position"),
    "width_2^31": ("additive", dict(key_width=2**31), "at most 2^20"),
    "width_2^31_dot": ("dot", dict(key_width=2**31), "at most 2^20"),
    "hidden_2^31": ("additive", dict(key_width=4, hidden=2**31), "at most 2^20"),
    "hidden_2^63": ("additive", dict(key_width=4, hidden=2**63), "smaller number"),
    "heads_2^31": ("dot", dict(key_width=4, heads=2**31), "at most 2^20"),
    "seed_-1": ("dot", dict(key_width=4, seed=-1), "seed: expected"),
    "name_None": (None, dict(key_width=4), "name: expected"),
}


@pytest.mark.parametrize("name", MODULES)
def test_modules(name):
    mechanism, options, words = MODULES[name]
    with pytest.raises(heed.Error) as refused:
        heed.Attention(mechanism, **options)
    assert words in str(refused.value), refused.value


def test_all_options_as_they_are_by_default_change_nothing():
    options = {**heed.default_options(), "key_width": 4}
    heed.Attention("dot", **{**options, "score": "dot"})


def test_numbers_of_numpy_are_numbers():
    attention = heed.Attention("additive", key_width=np.int64(4), dropout=np.float32(0.25), seed=np.uint8(3))
    assert attention.options["key_width"] == 4 and attention.options["dropout"] == 0.25
    heed.attend(Q, K, V, window=np.int32(1), scale=np.float32(0.5), causal=np.bool_(True))


FORWARD = {
    "guide_cost": (dict(guide_cost=True), "guide_cost: expected with time='guided'"),
    "penalty": (dict(penalty=True), "penalty: expected with structure='structured'"),
    "query_documents": (dict(query_documents=[[0, 0, 0]]), "add documents"),
    "both_documents": (dict(query_documents=[[0] * 3], key_documents=[[0] * 5]), "add documents"),
    "mask_wider": (dict(mask=np.ones((3, 9), bool)), "mask: expected"),
    "bias_wider": (dict(bias=np.ones((3, 9), np.float32)), "bias: expected"),
    "seed": (dict(seed=-1), "seed: expected"),
}


@pytest.mark.parametrize("name", FORWARD)
def test_forward(name):
    options, words = FORWARD[name]
    with pytest.raises(heed.Error) as refused:
        heed.Attention("scaled_dot", key_width=4).forward(Q[0], K[0], **options)
    assert words in str(refused.value)


def test_steps():
    mine, other = (heed.Attention("forced_forward", key_width=4) for _ in range(2))
    memory = mine.prepare(K[0])
    with pytest.raises(heed.Error, match="memory: expected one from prepare or grow of this attention"):
        other.attend(Q[0], memory)
    with pytest.raises(heed.Error, match="memory: expected"):
        mine.attend(Q[0], K[0])
    with pytest.raises(heed.Error, match="state: expected"):
        mine.attend(Q[0], memory, state=3)
    state = mine.attend(Q[0], memory).state
    with pytest.raises(heed.Error, match="state: expected that of a step on this memory"):
        mine.attend(Q[0], mine.prepare(K[0]), state)
    with pytest.raises(heed.Error, match="step: expected"):
        mine.attend(Q[0], memory, step=1.5)
    for batch in (1.5, -1, 2**40):
        with pytest.raises(heed.Error, match="batch: expected"):
            mine.grow(batch, 2)


@pytest.mark.parametrize("count", (1.5, 2**40, "2", None, True, -1))
def test_threads(count):
    with pytest.raises(heed.Error, match="set_threads: expected"):
        heed.set_threads(count)


@pytest.mark.parametrize("normalise", ("hard", "hard_sampled"))
@pytest.mark.parametrize("batch, queries, keys", ((0, 3, 5), (1, 0, 5), (1, 3, 0), (0, 0, 0)))
def test_empty_inputs_of_hard_attention(normalise, batch, queries, keys):
    q, k = np.zeros((batch, queries, 4), np.float32), np.zeros((batch, keys, 4), np.float32)
    out, gradient = heed.attend_with_gradient(q, k, normalise=normalise)
    assert out.shape == q.shape and not out.any() and gradient(out)["k"].shape == k.shape
    more = {} if normalise == "hard" else {"samples": 2}
    attention = heed.Attention("scaled_dot", key_width=4, normalise=normalise, **more)
    result = attention.forward(q, k, weights=True, entropy=True)
    assert result.context.shape == q.shape and result.weights.shape[-1] == (keys if batch else result.weights.shape[-1])
    if normalise == "hard_sampled":
        assert result.log_prob.shape == (2, batch, 1, queries)
    assert result.backward(np.zeros_like(q))["keys"].shape == k.shape
