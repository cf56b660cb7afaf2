"""heed.Attention on every case of tests/golden/mechanisms.json: results and gradients of another program, in double."""

import json
import pathlib

import numpy as np
import pytest

import heed

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden" / "mechanisms.json"
CASES = {case["name"]: case for case in json.loads(GOLDEN.read_text(encoding="utf-8"))["cases"]}
TOLERANCE = 5e-6  # as tests/attend/golden_test.cc


def shaped(entry):
    return np.array(entry["values"], np.float32).reshape(entry["shape"])


def attention_of(case):
    options = dict(case["options"])
    if options.get("score") == "general" or options.get("form") == "linear":  # they read no hidden, which is refused here
        options.pop("hidden", None)
    attention = heed.Attention(**options)
    attention.parameters.load({name: shaped(entry) for name, entry in case["parameters"].items()})
    return attention.train(case["training"])


def run(case, attention):
    """The result, through prepare and attend, with everything that is expected of it asked for."""
    inputs = {name: shaped(entry) for name, entry in case["inputs"].items()}
    wanted = {name: True for name in ("weights", "entropy", "guide_cost", "penalty") if name in case["expected"]}
    if "bias" in inputs:  # made for C++, which takes one that is wider than the memory
        inputs["bias"] = inputs["bias"][:, : np.diff(case["key_offsets"]).max()]
    bias = inputs.get("bias")
    mask = None
    if "mask" in case:
        mask = np.array(case["mask"], bool).reshape(case["query_offsets"][-1], -1)
    if case.get("same_rows") and case["step"] == 0:
        result = attention.forward(
            inputs["keys"], None, inputs.get("values"), query_offsets=case["key_offsets"], **wanted
        )
        return result, inputs
    memory = attention.prepare(
        inputs["keys"],
        inputs.get("values"),
        offsets=case["key_offsets"],
        lengths=case.get("lengths"),
        documents=case.get("key_documents"),
        sentences=case.get("sentences"),
    )
    result = attention.attend(
        inputs.get("queries"),
        memory,
        offsets=case.get("query_offsets"),
        mask=mask,
        bias=bias,
        documents=case.get("query_documents"),
        step=case["step"],
        **wanted,
    )
    return result, inputs


@pytest.mark.parametrize("name", sorted(CASES))
def test_like_the_other_program(name):
    case = CASES[name]
    attention = attention_of(case)
    result, inputs = run(case, attention)
    expected = {part: np.array(e["values"]).reshape(e["shape"]) for part, e in case["expected"].items()}
    found = {"context": result.context.reshape(expected["context"].shape)}
    for part in ("weights", "inner_weights", "entropy", "guide_cost"):
        if part in expected:
            found[part] = getattr(result, part)
    if "penalty" in expected:
        found["penalty"] = np.full(expected["penalty"].shape, result.penalty)
    cotangents = {}
    for part, values in case["cotangents"].items():
        shape = np.shape(getattr(result, part))
        cotangents[f"d_{part}"] = values[0] if part == "penalty" else np.array(values, np.float32).reshape(shape)
    gradients = result.backward(**cotangents)
    for part in expected:
        group, _, of = part.partition(".")
        if group in ("d_inputs", "d_parameters"):
            of = "queries" if case.get("same_rows") and of == "keys" else of
            found[part] = gradients[of]
        if part == "d_inputs.bias":
            assert not expected[part][:, found[part].shape[1] :].any()
            expected[part] = expected[part][:, : found[part].shape[1]]
    assert set(found) == set(expected)
    scale = max(np.abs(array).max(initial=0.0) for array in expected.values())
    for part, array in expected.items():
        assert found[part].shape == array.shape, part
        allowed = TOLERANCE * max(np.abs(array).max(initial=0.0), 0.1 * scale)
        worst = np.abs(found[part].astype(np.float64) - array).max(initial=0.0)
        assert worst <= allowed, f"{part} is off by {worst:.3g}, allowed {allowed:.3g}"
    for name in case["fixed"]:
        assert name not in gradients and name in attention.parameters
    assert not np.shares_memory(result.context, inputs["keys"])
