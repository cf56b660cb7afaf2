"""ONNX Runtime, forward only: the composition as a graph, left to its optimiser.

Needs the packages onnxruntime and onnx.
"""

import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

import peer

OPSET = 17


def graph(spec, constants):
    """Nodes and constants of one case. Inputs q, k, v; output out."""
    nodes = []

    def node(kind, inputs, output, **attributes):
        nodes.append(helper.make_node(kind, inputs, [output], **attributes))
        return output

    def constant(name, value):
        constants.append(numpy_helper.from_array(value, name))
        return name

    if spec["score"] == "inner":
        keys = node("Transpose", ["k"], "keys", perm=[0, 1, 3, 2])
        products = node("MatMul", ["q", keys], "products")
        scores = node("Mul", [products, constant("scale", numpy.float32(spec["dim"] ** -0.5))], "scores")
        if spec["causal"]:
            hidden = numpy.triu(numpy.full((spec["queries"], spec["keys"]), -numpy.inf, numpy.float32), 1)
            scores = node("Add", [scores, constant("hidden", hidden)], "masked")
    else:
        rows = node("Unsqueeze", ["q", constant("row_axis", numpy.array([3]))], "rows")
        columns = node("Unsqueeze", ["k", constant("column_axis", numpy.array([2]))], "columns")
        pairs = node("Tanh", [node("Add", [rows, columns], "sums")], "pairs")
        scores = node("MatMul", [pairs, "score_v"], "scores")
    weights = node("Softmax", [scores], "weights", axis=-1)
    node("MatMul", [weights, "v"], "out")
    return nodes


class OnnxRuntime:
    name = "onnxruntime"

    def about(self):
        return {"version": onnxruntime.__version__}

    def use_threads(self, threads):
        pass  # fixed when a session is made

    def prepare(self, spec, load, threads):
        if "mechanism" in spec:
            return None
        too_large = spec["queries"] * spec["keys"] > 1 << 26  # all scores in memory at once: gigabytes
        if spec["train"] or spec["window"] >= 0 or too_large:
            return None
        tensors = {name: load(name) for name in ("q", "k", "v")}
        constants = []
        if spec["score"] == "tanh_sum":
            constants.append(numpy_helper.from_array(load("score_v"), "score_v"))
        nodes = graph(spec, constants)

        def value(name, shape):
            return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)

        inputs = [value(name, tensor.shape) for name, tensor in tensors.items()]
        outputs = [value("out", tensors["q"].shape)]
        model = helper.make_model(
            helper.make_graph(nodes, spec["case"], inputs, outputs, constants),
            opset_imports=[helper.make_opsetid("", OPSET)],
            ir_version=8,
        )
        onnx.checker.check_model(model)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        # Idle threads must not keep a core busy while somebody else is being timed.
        options.add_session_config_entry("session.force_spinning_stop", "1")
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        return lambda: {"out": session.run(["out"], tensors)[0]}


if __name__ == "__main__":
    peer.serve(OnnxRuntime())
