#!/usr/bin/env python3
"""Writes onnx_attention.json: what ONNX's own reference gives for its operator Attention, opsets 23 and 24.

    python3 -m venv v && v/bin/pip install onnx==1.23.2 && v/bin/python tests/golden/make_onnx_attention.py

The cases and their inputs are made here and by the test alike (tests/python/test_onnx.py); the file holds outputs.

Where the reference and the operator's text differ, the text is followed:
- qk_matmul_output_mode 0 is "the output of qk matmul", but the reference returns it after the softcap. For mode 0 it is
  run without one.
References before 1.22 put the softcap behind the mask. Those before 1.23 give NaN for rows that see nothing, and begin
causal rows at the first key beside nonpad_kv_seqlen. This file needs 1.23.
"""

import json
import pathlib

import numpy as np

B, H, TQ, TK, PAST, D, DV = 2, 4, 3, 5, 2, 4, 6


def case(name, opsets=(23, 24), **fields):
    return {
        "name": name,
        "opsets": list(opsets),
        "attributes": {},
        "q": [B, H, TQ, D],
        "k": [B, H, TK, D],
        "v": [B, H, TK, D],
        **fields,
    }


def flat(heads, length, width):
    return [B, length, heads * width]


def three(q_heads, kv_heads, value_width=D, **attributes):
    """Inputs of 3 dimensions."""
    return {
        "q": flat(q_heads, TQ, D),
        "k": flat(kv_heads, TK, D),
        "v": flat(kv_heads, TK, value_width),
        "attributes": {"q_num_heads": q_heads, "kv_num_heads": kv_heads, **attributes},
    }


def past(kv_heads=H, value_width=D):
    return {"past_key": [B, kv_heads, PAST, D], "past_value": [B, kv_heads, PAST, value_width]}


def mask(kind, *shape):
    """kind: bool, float, or one of both with a row that sees nothing."""
    return {"mask": {"kind": kind, "shape": list(shape)}}


def cases():
    some = {"attributes": {"scale": 0.3, "softcap": 1.5}}
    causal = {"attributes": {"is_causal": 1}}
    grouped = {"k": [B, 2, TK, D], "v": [B, 2, TK, DV]}
    yield case("4d")
    yield case("4d_grouped", k=[B, 2, TK, D], v=[B, 2, TK, D])
    yield case("4d_one_key_head", k=[B, 1, TK, D], v=[B, 1, TK, D])
    yield case("4d_value_width", v=[B, H, TK, DV])
    yield case("3d", **three(4, 4))
    yield case("3d_grouped_value_width", **three(4, 2, DV))
    yield case("3d_one_key_head", **three(3, 1))
    yield case("scale", attributes={"scale": 0.3})
    yield case("softcap", attributes={"softcap": 0.7}, stages=True)
    for dims, shape in (
        (2, (TQ, TK)),
        (3, (H, TQ, TK)),
        (3, (1, TQ, TK)),
        (4, (B, 1, TQ, TK)),
        (4, (B, H, TQ, TK)),
        (4, (1, 1, TQ, TK)),
    ):
        for kind in ("bool", "float"):
            yield case(f"mask_{dims}d_{kind}_{'x'.join(map(str, shape))}", **mask(kind, *shape))
    yield case("mask_broadcast_queries_bool", **mask("bool", B, 1, 1, TK))
    yield case("mask_broadcast_queries_float", **mask("float", B, 1, 1, TK))
    yield case("mask_short_bool", **mask("bool", TQ, TK - 2))
    yield case("mask_one_key_bool", **mask("bool", TQ, 1))
    yield case("mask_short_float", **mask("float", B, 1, TQ, TK - 2))
    yield case("scale_softcap_mask_bool", stages=True, **some, **mask("bool", TQ, TK))
    yield case("scale_softcap_mask_float", stages=True, **some, **mask("float", H, TQ, TK))
    yield case("3d_mask_softcap", **{**three(4, 2, DV, softcap=1.5), **mask("float", B, 4, TQ, TK)}, stages=True)
    yield case("empty_row_bool", stages=True, **mask("bool_empty", TQ, TK))
    yield case("empty_row_float", stages=True, **mask("float_empty", B, 1, TQ, TK))
    yield case("causal", **causal, stages=True)
    yield case("causal_square", **{**causal, "k": [B, H, TQ, D], "v": [B, H, TQ, D]})
    yield case("causal_fewer_keys", **{**causal, "k": [B, H, 2, D], "v": [B, H, 2, D]})
    yield case("causal_3d_grouped", **three(4, 2, is_causal=1))
    yield case("causal_mask_bool", **causal, **mask("bool", TQ, TK))
    yield case(
        "causal_mask_float_softcap",
        attributes={"is_causal": 1, "softcap": 1.5},
        stages=True,
        **mask("float", B, H, TQ, TK),
    )
    yield case("past", **past(), stages=True)
    yield case("past_grouped_value_width", **past(2, DV), **grouped)
    yield case("past_3d", **{**three(4, 2, DV), **past(2, DV)})
    yield case("past_mask_bool", **past(), **mask("bool", TQ, PAST + TK))
    yield case("past_mask_float", **past(), **mask("float", B, 1, TQ, PAST + TK))
    yield case("past_causal", **past(), **causal, stages=True)
    yield case("past_causal_one_query", **{**past(), **causal, "q": [B, H, 1, D], "k": [B, H, 1, D], "v": [B, H, 1, D]})
    yield case("past_causal_3d_mask", **{**three(4, 4, is_causal=1), **past(), **mask("bool", TQ, PAST + TK)})
    yield case("lengths", (24,), lengths=[5, 3], stages=True)
    yield case("lengths_zero", (24,), lengths=[0, 4], stages=True)
    yield case("lengths_3d_grouped", (24,), lengths=[2, 5], **three(4, 2, DV))
    yield case("lengths_mask_bool", (24,), lengths=[4, 3], **mask("bool", TQ, TK))
    yield case("lengths_mask_float", (24,), lengths=[4, 3], **mask("float", H, TQ, TK))
    yield case("lengths_mask_short", (24,), lengths=[3, 2], **mask("bool", B, 1, TQ, 3))
    yield case("lengths_causal", (24,), lengths=[5, 3], **causal, stages=True)
    yield case("lengths_causal_too_many_queries", (24,), lengths=[1, 4], **causal, stages=True)
    yield case(
        "lengths_causal_mask_softcap",
        (24,),
        lengths=[4, 5],
        attributes={"is_causal": 1, "softcap": 1.5},
        **mask("float", TQ, TK),
    )


def inputs(one):
    """The operator's inputs by name, the same numbers everywhere (RandomState never changes)."""
    random = np.random.RandomState(sum(map(ord, one["name"])))
    floats = lambda shape: random.uniform(-1.5, 1.5, shape).astype(np.float32)  # noqa: E731
    given = {"Q": floats(one["q"]), "K": floats(one["k"]), "V": floats(one["v"])}
    if "mask" in one:
        kind, shape = one["mask"]["kind"], one["mask"]["shape"]
        visible = random.uniform(0, 1, shape) < 0.7
        visible[..., 0] = True
        if kind.endswith("empty"):
            visible[..., 1, :] = False
        numbers = np.where(visible, floats(shape), np.float32(-np.inf)).astype(np.float32)
        given["attn_mask"] = visible if kind.startswith("bool") else numbers
    for name in ("past_key", "past_value"):
        if name in one:
            given[name] = floats(one[name])
    if "lengths" in one:
        given["nonpad_kv_seqlen"] = np.array(one["lengths"], np.int64)
    return given


def evaluate(opset, given, attributes):
    import onnx
    from onnx import TensorProto, helper
    from onnx.reference import ReferenceEvaluator

    order = ["Q", "K", "V", "attn_mask", "past_key", "past_value", "nonpad_kv_seqlen"]
    names = [name if name in given else "" for name in order]
    while not names[-1]:
        names.pop()
    outputs = ["Y", "present_key", "present_value", "qk"]
    node = helper.make_node("Attention", names, outputs, **attributes)
    kinds = {
        np.dtype(np.float32): TensorProto.FLOAT,
        np.dtype(bool): TensorProto.BOOL,
        np.dtype(np.int64): TensorProto.INT64,
    }
    graph = helper.make_graph(
        [node],
        "attention",
        [helper.make_tensor_value_info(n, kinds[given[n].dtype], given[n].shape) for n in names if n],
        [
            helper.make_tensor_value_info(n, TensorProto.FLOAT, [None] * (given["Q"].ndim if n == "Y" else 4))
            for n in outputs
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    onnx.checker.check_model(model)
    return dict(zip(outputs, ReferenceEvaluator(model).run(None, given)))


def numbers(array):
    """Flat, in 8 digits; -inf is null."""
    return [None if np.isneginf(x) else float(f"{x:.8g}") for x in np.asarray(array, np.float64).ravel()]


def main():
    results = {}
    for one in cases():
        for opset in one["opsets"]:
            given = inputs(one)
            result = evaluate(opset, given, one["attributes"])
            entry = {"shape": list(result["Y"].shape), "Y": numbers(result["Y"])}
            if one.get("stages"):
                for mode, name in enumerate(("raw", "softcap", "masked", "weights")):
                    attributes = {**one["attributes"], "qk_matmul_output_mode": mode}
                    if mode == 0:
                        attributes.pop("softcap", None)
                    entry[name] = numbers(evaluate(opset, given, attributes)["qk"])
            results[f"{one['name']}_{opset}"] = entry
    # Both opsets mean the same thing; one copy is enough.
    for one in cases():
        if one["opsets"] == [23, 24] and results[f"{one['name']}_23"] == results[f"{one['name']}_24"]:
            results[one["name"]] = results.pop(f"{one['name']}_23")
            del results[f"{one['name']}_24"]
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(entry)}" for name, entry in sorted(results.items()))
    path = pathlib.Path(__file__).with_name("onnx_attention.json")
    path.write_text("{\n" + lines + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
