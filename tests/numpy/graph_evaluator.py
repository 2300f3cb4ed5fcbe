"""Evaluates a graph in float64: what Warploom's semantics say, and nothing of its code."""

import numpy as np

import operations
from elements import from_float_bits, round_to

FLOATING = {"FLOAT", "DOUBLE", "HALF", "BFLOAT16"}
# How pass_by_value holds its alternatives: the types whose value is the bits of a float.
SCALAR_TYPES = ["INT64", "INT32", "HALF", "FLOAT", "DOUBLE", "BFLOAT16"]


def stored_scalar(scalar):
    data_type = SCALAR_TYPES[scalar["index"]]
    value = scalar["value"]
    return round_to(from_float_bits(value) if isinstance(value, str) else value, data_type)


def output_type(graph, tensor):
    context = graph["context"]
    default = context["intermediate_data_type" if tensor["is_virtual"] else "io_data_type"]
    return tensor.get("data_type") or default


def evaluate(graph, tensors):
    """Values of all tensors, by uid. `tensors` holds the inputs' values and all strides."""
    # Any byte but 0 is true, and true is 1.
    values = {str(t["uid"]): round_to(t["values"], t["data_type"]) for t in tensors if not t["is_output"]}
    strides = {str(t["uid"]): t["stride"] for t in tensors}
    for key, tensor in graph["tensors"].items():
        if tensor.get("pass_by_value"):
            values[key] = np.full([1] * len(tensor["dim"]), stored_scalar(tensor["pass_by_value"]))
        if "stride" in tensor:
            strides.setdefault(key, tensor["stride"])

    for node in graph["nodes"]:
        outputs = {port: graph["tensors"][key] for port, key in node["outputs"].items()}
        inputs = {port: values[key] for port, key in node["inputs"].items()}
        input_strides = {port: strides.get(key) for port, key in node["inputs"].items()}
        results = operations.TABLE[node["tag"]](node, inputs, outputs, input_strides)
        for port, key in node["outputs"].items():
            tensor = graph["tensors"][key]
            data_type = output_type(graph, tensor)
            result = np.asarray(results[port], dtype=np.float64)
            if tensor.get("dim"):
                result = np.broadcast_to(result, tensor["dim"])
            # A virtual float is carried in full; a view has the type of what it shows.
            if not tensor["is_virtual"] or data_type not in FLOATING:
                result = round_to(result, data_type)
            values[key] = result
            if port == "Y" and node["tag"] in operations.STRIDES:
                strides.setdefault(key, operations.STRIDES[node["tag"]](node, input_strides["X"]))
    return {int(key): value for key, value in values.items()}
