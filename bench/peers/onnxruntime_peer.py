"""ONNX Runtime, forward only: the operators that it has for attention, and a graph of small ones for additive scores.

Needs the packages onnxruntime and onnx. Inputs and outputs are bound before the clock starts, so nothing is copied.
"""

import os

import numpy
import onnxruntime
from onnx import TensorProto, helper

import peer

OPSET = 23  # the first with Attention
TYPES = {"float32": TensorProto.FLOAT, "int32": TensorProto.INT32, "int64": TensorProto.INT64}
MOST_SCORES = 1 << 26  # more at once than that are gigabytes


class Graph:
    """Nodes, what goes in as arrays, and what comes out: {name: shape}."""

    def __init__(self, inputs, outputs, shared=None, arrange=lambda out: out):
        self.nodes, self.inputs, self.outputs = [], inputs, outputs
        self.shared = shared or {}  # {output: the input whose memory it takes}
        self.arrange = arrange  # of `out`, to heed's [B, H, T, D]; only to compare

    def node(self, kind, inputs, *outputs, **attributes):
        self.nodes.append(helper.make_node(kind, inputs, list(outputs), **attributes))
        return outputs[0]

    def constant(self, name, array):
        self.inputs[name] = array
        return name

    def model(self):
        inputs = [helper.make_tensor_value_info(name, TYPES[str(array.dtype)], array.shape)
                  for name, array in self.inputs.items()]
        outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
                   for name, shape in self.outputs.items()]
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("com.microsoft", 1)]
        graph = helper.make_graph(self.nodes, "case", inputs, outputs)
        return helper.make_model(graph, opset_imports=opsets, ir_version=10).SerializeToString()

    def runner(self, threads):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        # Idle threads must not keep a core busy while somebody else is being timed.
        options.add_session_config_entry("session.force_spinning_stop", "1")
        session = onnxruntime.InferenceSession(self.model(), options, providers=["CPUExecutionProvider"])
        values = {name: onnxruntime.OrtValue.ortvalue_from_numpy(array) for name, array in self.inputs.items()}
        for name, shape in self.outputs.items():
            shared = self.shared.get(name)
            empty = numpy.zeros(shape, numpy.float32) if shared is None else None
            values[name] = values[shared] if shared else onnxruntime.OrtValue.ortvalue_from_numpy(empty)
        binding = session.io_binding()
        for name in self.inputs:
            binding.bind_ortvalue_input(name, values[name])
        for name in self.outputs:
            binding.bind_ortvalue_output(name, values[name])

        def run():
            session.run_with_iobinding(binding)
            return Result(lambda: self.arrange(values["out"].numpy()))

        return run


class Result(dict):
    """{"out": array}, which is read only where somebody asks: not in a timed call."""

    def __init__(self, read):
        super().__init__(out=None)
        self.read = read

    def __getitem__(self, name):
        return self.read()


def attention(spec, t):
    """The operator of the ONNX standard, on [B, H, T, D]."""
    graph = Graph(dict(t), {"out": t["q"].shape})
    graph.node("Attention", ["q", "k", "v"], "out", is_causal=int(spec["causal"]))
    return graph


def attention_heads_as_rows(spec, t):
    """The one query of every head of a group as rows of one head."""
    q = t["q"].reshape(spec["batch"], spec["kv_heads"], -1, spec["dim"])
    graph = Graph({**t, "q": q}, {"out": q.shape})
    graph.node("Attention", ["q", "k", "v"], "out")
    return graph


def beside(x):
    """[B, H, T, D] -> [B, T, H * D]: heads side by side, as these operators want them."""
    return numpy.ascontiguousarray(x.transpose(0, 2, 1, 3)).reshape(x.shape[0], x.shape[2], -1)


def apart(spec):
    return lambda out: out.reshape(spec["batch"], spec["queries"], spec["heads"], -1).transpose(0, 2, 1, 3)


def multi_head(spec, t):
    """ONNX Runtime's own operator; fused where nothing is hidden."""
    inputs = {name: beside(x) for name, x in t.items()}
    graph = Graph(inputs, {"out": inputs["q"].shape}, arrange=apart(spec))
    graph.node("MultiHeadAttention", ["q", "k", "v"], "out", domain="com.microsoft", num_heads=spec["heads"],
               unidirectional=int(spec["causal"]))
    return graph


def group_query(spec, t):
    """ONNX Runtime's operator of language models: writes the newest keys into a cache and attends to all of it."""
    decodes = spec["queries"] == 1
    newest = {name: t[name][:, :, -1:] if decodes else t[name] for name in ("k", "v")}
    inputs = {
        "q": beside(t["q"]), "k": beside(newest["k"]), "v": beside(newest["v"]),
        # Decoding, the newest is there already, and is written once more.
        "past_k": t["k"] if decodes else numpy.zeros_like(t["k"]),
        "past_v": t["v"] if decodes else numpy.zeros_like(t["v"]),
        "last": numpy.full(spec["batch"], spec["keys"] - 1, numpy.int32),
        "total": numpy.array([spec["keys"]], numpy.int32),
    }
    outputs = {"out": inputs["q"].shape, "all_k": t["k"].shape, "all_v": t["v"].shape}
    graph = Graph(inputs, outputs, {"all_k": "past_k", "all_v": "past_v"}, apart(spec))
    graph.node("GroupQueryAttention", list(inputs), "out", "all_k", "all_v", domain="com.microsoft",
               num_heads=spec["heads"], kv_num_heads=spec["kv_heads"])
    return graph


def additive(spec, t, score_v):
    graph = Graph({**t, "score_v": score_v}, {"out": t["q"].shape})
    rows = graph.node("Unsqueeze", ["q", graph.constant("row_axis", numpy.array([3]))], "rows")
    columns = graph.node("Unsqueeze", ["k", graph.constant("column_axis", numpy.array([2]))], "columns")
    pairs = graph.node("Tanh", [graph.node("Add", [rows, columns], "sums")], "pairs")
    scores = graph.node("MatMul", [pairs, "score_v"], "scores")
    weights = graph.node("Softmax", [scores], "weights", axis=-1)
    graph.node("MatMul", [weights, "v"], "out")
    return graph


def graphs_inner(spec, t):
    """{name of an operator: graph}: those that fit the case."""
    grouped, few = spec["heads"] != spec["kv_heads"], spec["queries"] * spec["keys"] <= MOST_SCORES
    found = {}
    if few:
        found["Attention"] = attention(spec, t)
    if few and (spec["causal"] or spec["queries"] == 1):
        found["GroupQueryAttention"] = group_query(spec, t)
    if grouped:
        found["Attention, heads as rows"] = attention_heads_as_rows(spec, t)
    elif spec["queries"] > 1 and (few or not spec["causal"]):  # one query takes it three times as long
        found["MultiHeadAttention"] = multi_head(spec, t)
    return found


class OnnxRuntime:
    name = "onnxruntime"

    def about(self):
        if os.environ.get("HEED_ISA"):
            raise RuntimeError("it cannot be held to an instruction set")
        return {"version": onnxruntime.__version__}

    def use_threads(self, threads):
        pass  # fixed when a session is made

    def prepare(self, spec, load, threads):
        if "mechanism" in spec or spec["train"] or spec["window"] >= 0:
            return None
        tensors = {name: load(name) for name in ("q", "k", "v")}
        if spec["score"] == "tanh_sum":
            return additive(spec, tensors, load("score_v")).runner(threads)
        return {name: graph.runner(threads) for name, graph in graphs_inner(spec, tensors).items()}


if __name__ == "__main__":
    peer.serve(OnnxRuntime())
