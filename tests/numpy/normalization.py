"""Softmax and the normalizations in float64."""

import numpy as np


def softmax(node, inputs, outputs, strides):
    p = inputs["P"]
    axis = node.get("axis", -1)
    sink = inputs.get("SINK", np.array(-np.inf))
    shape = [1 if i == axis % p.ndim else n for i, n in enumerate(p.shape)]
    maximum = np.maximum(np.max(p, axis=axis, keepdims=True, initial=-np.inf), sink)
    # Where all is -inf, nothing is subtracted: every exponential is 0.
    weights = np.exp(p - np.where(maximum == -np.inf, 0, maximum))
    total = np.sum(weights, axis=axis, keepdims=True)
    total = total + np.where(maximum == -np.inf, 0, np.exp(sink - maximum))
    total = np.broadcast_to(total, shape)
    return {"S": np.where(total == 0, 0, weights / total), "Stats": maximum + np.log(total),
            "Max": np.broadcast_to(maximum, shape), "Sum_exp": total}


def align(x, rank):
    return x.reshape([1] * (rank - x.ndim) + list(x.shape))


def axes_of(tag, inputs):
    """The axes that statistics are over."""
    rank = inputs["X"].ndim
    if tag == "INSTANCE_NORM":
        return tuple(range(2, rank))
    if tag in ("BATCHNORM", "DBN"):
        return tuple(axis for axis in range(rank) if axis != 1)
    scale = align(inputs["SCALE"], rank)
    return tuple(axis for axis in range(1 if tag == "ADA_LAYER_NORM" else 0, rank)
                 if scale.shape[axis] != 1)


def moments(x, axes, is_centered):
    mean = np.mean(x, axis=axes, keepdims=True) if is_centered else np.zeros([1] * x.ndim)
    return mean, np.mean((x - mean) ** 2, axis=axes, keepdims=True)


def one(inputs, port):
    return float(inputs[port].reshape(-1)[0])


def normalize(node, inputs, outputs, strides):
    x, tag = inputs["X"], node["tag"]
    mean, variance = moments(x, axes_of(tag, inputs), tag != "RMS_NORM")
    inv_variance = 1 / np.sqrt(variance + one(inputs, "EPSILON"))
    bias = align(inputs["BIAS"], x.ndim) if "BIAS" in inputs else 0
    y = (x - mean) * inv_variance * align(inputs["SCALE"], x.ndim) + bias
    return {"Y": y, "MEAN": mean, "INV_VARIANCE": inv_variance}


def running_statistics(inputs, mean, variance, count):
    if "MOMENTUM" not in inputs:
        return {}
    momentum = one(inputs, "MOMENTUM")
    unbiased = variance * count / (count - 1)
    return {"NEXT_RUNNING_MEAN": (1 - momentum) * inputs["PREV_RUNNING_MEAN"] + momentum * mean,
            "NEXT_RUNNING_VAR": (1 - momentum) * inputs["PREV_RUNNING_VAR"] + momentum * unbiased}


def batchnorm(node, inputs, outputs, strides):
    x = inputs["X"]
    mean, variance = moments(x, axes_of("BATCHNORM", inputs), True)
    return {**normalize(node, inputs, outputs, strides),
            **running_statistics(inputs, mean, variance, x.size / max(x.shape[1], 1))}


def batchnorm_inference(node, inputs, outputs, strides):
    x, mean, inv_variance, scale, bias = (
        align(inputs[port], inputs["X"].ndim)
        for port in ("X", "MEAN", "INV_VARIANCE", "SCALE", "BIAS"))
    return {"Y": (x - mean) * inv_variance * scale + bias}


def gradients(node, inputs, outputs, strides):
    x, dy = inputs["X"], inputs["DY"]
    tag = node["tag"].removesuffix("_BPROP")
    axes = axes_of(tag, inputs)
    if "INV_VARIANCE" in inputs:
        mean, inv_variance = inputs.get("MEAN", np.zeros([1] * x.ndim)), inputs["INV_VARIANCE"]
    else:
        mean, variance = moments(x, axes, tag != "RMS_NORM")
        inv_variance = 1 / np.sqrt(variance + one(inputs, "EPSILON"))
    scale = align(inputs["SCALE"], x.ndim)
    n, g = (x - mean) * inv_variance, dy * scale
    average = (lambda values: np.mean(values, axis=axes, keepdims=True))
    dx = inv_variance * (g - (average(g) if tag != "RMS_NORM" else 0) - n * average(g * n))
    if tag in ("INSTANCE_NORM", "DBN"):
        summed = tuple(axis for axis in range(x.ndim) if axis != 1)
    else:
        summed = tuple(axis for axis in range(x.ndim) if scale.shape[axis] == 1)
    # A sum over no axis is the values themselves.
    total = (lambda values: np.sum(values, axis=summed, keepdims=True) if summed else values)
    return {"DX": dx, "DSCALE": total(dy * n), "DBIAS": total(dy)}


def dbn_weight(node, inputs, outputs, strides):
    x = inputs["X"]
    sums = gradients({"tag": "DBN"}, inputs, outputs, strides)
    count = x.size / max(x.shape[1], 1)
    of_dy = inputs["SCALE"] * inputs["INV_VARIANCE"]
    of_x = -of_dy * inputs["INV_VARIANCE"] * sums["DSCALE"] / count
    return {"DSCALE": sums["DSCALE"], "DBIAS": sums["DBIAS"], "EQ_SCALE_DY": of_dy,
            "EQ_SCALE_X": of_x, "EQ_BIAS": -of_dy * sums["DBIAS"] / count - of_x * inputs["MEAN"]}


def genstats(node, inputs, outputs, strides):
    x = inputs["X"]
    axes = tuple(axis for axis in range(x.ndim) if axis != 1)
    return {"SUM": np.sum(x, axis=axes, keepdims=True),
            "SQ_SUM": np.sum(x * x, axis=axes, keepdims=True)}


def bn_finalize(node, inputs, outputs, strides):
    count = one(inputs, "ACCUM_COUNT")
    mean = inputs["SUM"] / count
    variance = inputs["SQ_SUM"] / count - mean ** 2
    variance = np.where(variance < 0, 0, variance)
    inv_variance = 1 / np.sqrt(variance + one(inputs, "EPSILON"))
    scale = inputs["SCALE"] * inv_variance
    return {"EQ_SCALE": scale, "EQ_BIAS": inputs["BIAS"] - mean * scale, "MEAN": mean,
            "INV_VARIANCE": inv_variance, **running_statistics(inputs, mean, variance, count)}


TABLE = {"SOFTMAX": softmax, "LAYER_NORM": normalize, "ADA_LAYER_NORM": normalize,
         "INSTANCE_NORM": normalize, "RMS_NORM": normalize, "BATCHNORM": batchnorm,
         "BATCHNORM_INFERENCE": batchnorm_inference, "LAYER_NORM_BPROP": gradients,
         "ADA_LAYER_NORM_BPROP": gradients, "INSTANCE_NORM_BPROP": gradients,
         "RMS_NORM_BPROP": gradients, "DBN": gradients, "DBN_WEIGHT": dbn_weight,
         "GENSTATS": genstats, "BN_FINALIZE": bn_finalize}
