"""heed.onnx_attention against the outputs of ONNX's own reference (tests/golden/make_onnx_attention.py)."""

import json
import pathlib
import sys

import numpy as np
import pytest

import heed

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden"
sys.path.insert(0, str(GOLDEN))
import make_onnx_attention as onnx_cases  # noqa: E402

EXPECTED = json.loads((GOLDEN / "onnx_attention.json").read_text(encoding="utf-8"))
CASES = {
    name: case
    for case in onnx_cases.cases()
    for name in (case["name"], *(f"{case['name']}_{opset}" for opset in case["opsets"]))
    if name in EXPECTED
}


def array(numbers, shape):
    return np.array([-np.inf if x is None else x for x in numbers], np.float64).reshape(shape)


def test_every_case_has_outputs():
    assert set(CASES) == set(EXPECTED)
    assert {case["name"] for case in CASES.values()} == {case["name"] for case in onnx_cases.cases()}


@pytest.mark.parametrize("name", sorted(CASES))
def test_like_the_reference(name):
    case, expected = CASES[name], EXPECTED[name]
    given = onnx_cases.inputs(case)
    result = heed.onnx_attention(**given, **case["attributes"])
    np.testing.assert_allclose(result.Y, array(expected["Y"], expected["shape"]), rtol=2e-5, atol=2e-6)
    if "past_key" in given:
        heads = given["past_key"].shape[1]
        for new, past, present in (("K", "past_key", result.present_key), ("V", "past_value", result.present_value)):
            rows = given[new]
            if rows.ndim == 3:
                rows = rows.reshape(*rows.shape[:2], heads, -1).transpose(0, 2, 1, 3)
            assert np.array_equal(present, np.concatenate((given[past], rows), axis=2))


@pytest.mark.parametrize("name", sorted(name for name in CASES if CASES[name].get("stages")))
@pytest.mark.parametrize("mode", range(4))
def test_scores_at_each_stage(name, mode):
    case, expected = CASES[name], EXPECTED[name]
    result = heed.onnx_attention(**onnx_cases.inputs(case), **case["attributes"], qk_matmul_output_mode=mode)
    scores = result.qk_matmul_output
    stage = ("raw", "softcap", "masked", "weights")[mode]
    np.testing.assert_allclose(scores, array(expected[stage], scores.shape), rtol=2e-5, atol=2e-6)


def test_windows_stand_beside_the_past():
    """Not of opset 24; each query still stands behind the past."""
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal((1, 1, 3, 4), np.float32) for _ in range(3))
    past = rng.standard_normal((1, 1, 2, 4), np.float32)
    result = heed.attend(q, k, v, past_key=past, past_value=past, window=(1, 0), return_weights=True)
    seen = result.weights[0, 0] > 0
    assert np.array_equal(seen, [[0, 1, 1, 0, 0], [0, 0, 1, 1, 0], [0, 0, 0, 1, 1]])


def test_what_the_operator_forbids():
    x = np.zeros((1, 2, 3, 4), np.float32)
    flat = np.zeros((1, 3, 8), np.float32)
    with pytest.raises(heed.Error, match="nonpad_kv_seqlen: cannot be combined with past_key"):
        heed.onnx_attention(x, x, x, past_key=x, past_value=x, nonpad_kv_seqlen=[3])
    with pytest.raises(heed.Error, match="q_num_heads, kv_num_heads: expected both"):
        heed.onnx_attention(flat, flat, flat)
    with pytest.raises(heed.Error, match="past_key, past_value: expected both or neither"):
        heed.onnx_attention(x, x, x, past_key=x)
    with pytest.raises(heed.Error, match="qk_matmul_output_mode: expected 0, 1, 2 or 3, got 4"):
        heed.onnx_attention(x, x, x, qk_matmul_output_mode=4)


@pytest.mark.parametrize("kind", (np.float16, np.float64))
@pytest.mark.parametrize("name", sorted(name for name in CASES if CASES[name].get("stages"))[:2])
def test_other_kinds_of_floats_by_promotion(name, kind):
    case, expected = CASES[name], EXPECTED[name]
    given = {n: x.astype(kind) if x.dtype == np.float32 else x for n, x in onnx_cases.inputs(case).items()}
    with pytest.raises(heed.Error, match="expected float32"):
        heed.onnx_attention(**given, **case["attributes"])
    result = heed.onnx_attention(**given, **case["attributes"], qk_matmul_output_mode=3, promote=True)
    assert result.Y.dtype == result.qk_matmul_output.dtype == kind
    tolerance = 5e-3 if kind == np.float16 else 2e-5
    np.testing.assert_allclose(result.Y, array(expected["Y"], expected["shape"]), rtol=tolerance, atol=tolerance)
