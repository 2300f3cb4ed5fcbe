"""The operations in float64. Each takes the node, its inputs by port, the descriptions of its
outputs and the inputs' strides, and gives its outputs by port."""

import itertools
import math

import numpy as np

import block_scale
import normalization
import pooling
import random_bits
from attention import attention, attention_gradient
from elements import from_float_bits

erf = np.vectorize(math.erf, otypes=[np.float64])


def number(node, field, default):
    value = node.get(field)
    if value is None:
        return default
    return from_float_bits(value) if isinstance(value, str) else value


# --- Pointwise ---

def sigmoid(x):
    return np.where(x >= 0, 1 / (1 + np.exp(-np.abs(x))), np.exp(-np.abs(x)) / (1 + np.exp(-np.abs(x))))


def relu(node, x):
    lower = number(node, "relu_lower_clip", 0.0)
    upper = number(node, "relu_upper_clip", math.inf)
    slope = number(node, "relu_lower_clip_slope", 0.0)
    below = lower + slope * (x - lower) if slope else np.full_like(x, lower)
    return np.where(np.isnan(x), np.nan, np.where(x < lower, below, np.minimum(x, upper)))


def relu_gradient(node, dy, x):
    lower = number(node, "relu_lower_clip", 0.0)
    upper = number(node, "relu_upper_clip", math.inf)
    slope = number(node, "relu_lower_clip_slope", 0.0)
    # A slope of 0 gives 0 whatever the gradient is.
    below = slope * dy if slope else np.zeros_like(dy)
    inside = np.where(x <= lower, below, np.where(x >= upper, 0.0, dy))
    return np.where(np.isnan(x), np.nan, inside)


def softplus(node, x):
    beta = number(node, "softplus_beta", 1.0)
    return np.logaddexp(0, beta * x) / beta


def elu(node, x):
    return np.where(x < 0, number(node, "elu_alpha", 1.0) * np.expm1(np.minimum(x, 0)), x)


def swish(node, x):
    return x * sigmoid(number(node, "swish_beta", 1.0) * x)


def swish_slope(node, x):
    beta = number(node, "swish_beta", 1.0)
    s = sigmoid(beta * x)
    return s + beta * x * s * (1 - s)


def gelu(x):
    return x * 0.5 * (1 + erf(x / math.sqrt(2)))


def gelu_slope(x):
    density = np.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)
    return 0.5 * (1 + erf(x / math.sqrt(2))) + x * density


TANH_SCALE = math.sqrt(2 / math.pi)


def gelu_tanh(x):
    return 0.5 * x * (1 + np.tanh(TANH_SCALE * (x + 0.044715 * x ** 3)))


def gelu_tanh_slope(x):
    t = np.tanh(TANH_SCALE * (x + 0.044715 * x ** 3))
    return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * TANH_SCALE * (1 + 3 * 0.044715 * x * x)


UNARY = {
    "SQRT": lambda n, x: np.sqrt(x),
    "RSQRT": lambda n, x: 1 / np.sqrt(x),
    "RECIPROCAL": lambda n, x: 1 / x,
    "ABS": lambda n, x: np.abs(x),
    "NEG": lambda n, x: -x,
    "CEIL": lambda n, x: np.ceil(x),
    "FLOOR": lambda n, x: np.floor(x),
    "EXP": lambda n, x: np.exp(x),
    "LOG": lambda n, x: np.log(x),
    "SIN": lambda n, x: np.sin(x),
    "COS": lambda n, x: np.cos(x),
    "TAN": lambda n, x: np.tan(x),
    "ERF": lambda n, x: erf(x),
    "IDENTITY": lambda n, x: x,
    "LOGICAL_NOT": lambda n, x: x == 0,
    "RELU_FWD": relu,
    "TANH_FWD": lambda n, x: np.tanh(x),
    "SIGMOID_FWD": lambda n, x: sigmoid(x),
    "ELU_FWD": elu,
    "GELU_FWD": lambda n, x: gelu(x),
    "GELU_APPROX_TANH_FWD": lambda n, x: gelu_tanh(x),
    "SOFTPLUS_FWD": softplus,
    "SWISH_FWD": swish,
}

BINARY = {
    "ADD": lambda n, a, b: a + b,
    "SUB": lambda n, a, b: a - b,
    "MUL": lambda n, a, b: a * b,
    "DIV": lambda n, a, b: a / b,
    "MOD": lambda n, a, b: np.fmod(a, b),
    "POW": lambda n, a, b: np.power(a, b),
    "MAX": lambda n, a, b: np.maximum(a, b),
    "MIN": lambda n, a, b: np.minimum(a, b),
    "ADD_SQUARE": lambda n, a, b: a + b * b,
    "CMP_EQ": lambda n, a, b: a == b,
    "CMP_NEQ": lambda n, a, b: a != b,
    "CMP_GT": lambda n, a, b: a > b,
    "CMP_GE": lambda n, a, b: a >= b,
    "CMP_LT": lambda n, a, b: a < b,
    "CMP_LE": lambda n, a, b: a <= b,
    "LOGICAL_AND": lambda n, a, b: (a != 0) & (b != 0),
    "LOGICAL_OR": lambda n, a, b: (a != 0) | (b != 0),
    "RELU_BWD": relu_gradient,
    "TANH_BWD": lambda n, dy, x: dy * (1 - np.tanh(x) ** 2),
    "SIGMOID_BWD": lambda n, dy, x: dy * sigmoid(x) * (1 - sigmoid(x)),
    "ELU_BWD": lambda n, dy, x: dy * np.where(
        x < 0, number(n, "elu_alpha", 1.0) * np.exp(np.minimum(x, 0)), np.where(np.isnan(x), np.nan, 1.0)),
    "GELU_BWD": lambda n, dy, x: dy * gelu_slope(x),
    "GELU_APPROX_TANH_BWD": lambda n, dy, x: dy * gelu_tanh_slope(x),
    "SOFTPLUS_BWD": lambda n, dy, x: dy * sigmoid(number(n, "softplus_beta", 1.0) * x),
    "SWISH_BWD": lambda n, dy, x: dy * swish_slope(n, x),
}


def pointwise(node, inputs, outputs, strides):
    mode = node["mode"]
    operands = [inputs[port] for port in ("IN_0", "IN_1", "IN_2") if port in inputs]
    if mode == "GEN_INDEX":
        shape = operands[0].shape
        column = [1] * len(shape)
        column[node["axis"]] = -1
        index = np.arange(shape[node["axis"]], dtype=np.float64).reshape(column)
        return {"OUT_0": np.broadcast_to(index, shape)}
    if mode == "BINARY_SELECT":
        return {"OUT_0": np.where(operands[2] != 0, operands[0], operands[1])}
    if mode in UNARY:
        return {"OUT_0": UNARY[mode](node, operands[0])}
    return {"OUT_0": BINARY[mode](node, *operands)}


# --- Contractions ---

def matmul(node, inputs, outputs, strides):
    a, b = inputs["A"], inputs["B"]
    padding = node.get("padding_value", 0.0)
    m, k, n = (np.arange(size) for size in (a.shape[-2], a.shape[-1], b.shape[-1]))
    for port, sizes, to_a, to_b in (("M_override", m[:, None], True, False), ("N_override", n[None, :], False, True),
                                    ("K_override", None, True, True)):
        if port not in inputs:
            continue
        limit = inputs[port]
        if to_a:
            a = np.where((k[None, :] if sizes is None else sizes) < limit, a, padding)
        if to_b:
            b = np.where((k[:, None] if sizes is None else sizes) < limit, b, padding)
    # A batch dim that divides the other's serves a run of consecutive entries.
    for axis in range(a.ndim - 2):
        size = max(a.shape[axis], b.shape[axis])
        if min(a.shape[axis], b.shape[axis]) == 0:
            size = 0
            a, b = (np.take(x, [], axis=axis) for x in (a, b))
            continue
        a, b = (np.repeat(x, size // x.shape[axis], axis=axis) for x in (a, b))
    return {"C": np.matmul(a, b)}


def flip(node, w):
    return np.flip(w, axis=tuple(range(2, w.ndim))) if node.get("math_mode") == "CONVOLUTION" else w


def taps(node, padded_extents, w_shape):
    """For every position of the window: its index into W, and into padded X that of all it is laid over."""
    stride, dilation, window = node["stride"], node["dilation"], w_shape[2:]
    size = [1 + (extent - d * (r - 1) - 1) // s
            for extent, d, r, s in zip(padded_extents, dilation, window, stride)]
    everything = (slice(None), slice(None))
    for offset in itertools.product(*(range(r) for r in window)):
        yield ((*everything, *offset),
               (*everything, *(slice(o * d, o * d + (n - 1) * s + 1, s)
                               for o, d, n, s in zip(offset, dilation, size, stride))))


def groups_of(channels, w_shape):
    """Slices of the channels of X and of the filters, group by group."""
    filters, per_group = w_shape[:2]
    count = channels // per_group if per_group else 1
    for g in range(count):
        yield (slice(g * per_group, (g + 1) * per_group),
               slice(g * (filters // count), (g + 1) * (filters // count)))


def pad(node, x):
    return np.pad(x, [(0, 0), (0, 0), *zip(node["pre_padding"], node["post_padding"])])


def pixels(image):
    return image.reshape(*image.shape[:2], int(np.prod(image.shape[2:])))


def convolution(node, inputs, outputs, strides):
    x, w = pad(node, inputs["X"]), flip(node, inputs["W"])
    size = [1 + (extent - d * (r - 1) - 1) // s
            for extent, d, r, s in zip(x.shape[2:], node["dilation"], w.shape[2:], node["stride"])]
    y = np.zeros([x.shape[0], w.shape[0], *size])
    for tap, seen in taps(node, x.shape[2:], w.shape):
        for channels, filters in groups_of(x.shape[1], w.shape):
            y[:, filters] += np.einsum("nc...,kc->nk...", x[seen][:, channels], w[tap][filters])
    return {"Y": y}


def convolution_image_gradient(node, inputs, outputs, strides):
    dy, w = inputs["DY"], flip(node, inputs["W"])
    padded = pad(node, np.zeros(outputs["DX"]["dim"]))
    for tap, seen in taps(node, padded.shape[2:], w.shape):
        for channels, filters in groups_of(padded.shape[1], w.shape):
            padded[seen][:, channels] += np.einsum("nk...,kc->nc...", dy[:, filters], w[tap][filters])
    inside = (slice(pre, pre + extent) for pre, extent in zip(node["pre_padding"], outputs["DX"]["dim"][2:]))
    return {"DX": padded[(slice(None), slice(None), *inside)]}


def convolution_filter_gradient(node, inputs, outputs, strides):
    dy, x = inputs["DY"], pad(node, inputs["X"])
    dw = np.zeros(outputs["DW"]["dim"])
    for tap, seen in taps(node, x.shape[2:], dw.shape):
        for channels, filters in groups_of(x.shape[1], dw.shape):
            dw[tap][filters] = np.einsum(
                "nkp,ncp->kc", pixels(dy[:, filters]), pixels(x[seen][:, channels]))
    return {"DW": flip(node, dw)}


# --- Reduction ---

REDUCE = {
    "ADD": lambda x, axes: np.sum(x, axis=axes, keepdims=True),
    "MUL": lambda x, axes: np.prod(x, axis=axes, keepdims=True),
    "MIN": lambda x, axes: np.min(x, axis=axes, keepdims=True, initial=np.inf),
    "MAX": lambda x, axes: np.max(x, axis=axes, keepdims=True, initial=-np.inf),
    "AMAX": lambda x, axes: np.max(np.abs(x), axis=axes, keepdims=True, initial=0),
    "AVG": lambda x, axes: np.mean(x, axis=axes, keepdims=True),
    "NORM1": lambda x, axes: np.sum(np.abs(x), axis=axes, keepdims=True),
    "NORM2": lambda x, axes: np.sqrt(np.sum(x * x, axis=axes, keepdims=True)),
    "MUL_NO_ZEROS": lambda x, axes: np.prod(np.where(x == 0, 1, x), axis=axes, keepdims=True),
}


def reduction(node, inputs, outputs, strides):
    x = inputs["X"]
    dim = outputs["Y"].get("dim") or x.shape
    axes = tuple(axis for axis, size in enumerate(dim) if size == 1 and x.shape[axis] != 1)
    return {"Y": REDUCE[node["mode"]](x, axes)}


# --- Movement ---

def reshape(node, inputs, outputs, strides):
    x = inputs["X"]
    dim = node.get("dim") or outputs["Y"]["dim"]
    if node["reshape_mode"] == "LOGICAL":
        return {"Y": x.reshape(dim)}
    # The memory behind X, read through Y's dims and strides.
    memory = np.full(1 + sum((n - 1) * s for n, s in zip(x.shape, strides["X"])), np.nan)
    np.lib.stride_tricks.as_strided(memory, x.shape, [8 * s for s in strides["X"]])[...] = x
    stride = node.get("stride") or outputs["Y"]["stride"]
    return {"Y": np.lib.stride_tricks.as_strided(memory, dim, [8 * s for s in stride]).copy()}


def transpose(node, inputs, outputs, strides):
    return {"Y": np.transpose(inputs["X"], node["permutation"])}


def concatenate(node, inputs, outputs, strides):
    ports = sorted(inputs, key=lambda port: int(port[1:]))
    return {"Y": np.concatenate([inputs[port] for port in ports], axis=node["axis"])}


def slice_(node, inputs, outputs, strides):
    steps = node.get("slice_strides") or [1] * inputs["X"].ndim
    return {"Y": inputs["X"][tuple(slice(a, b, s) for (a, b), s in zip(node["slices"], steps))]}


# The strides of a view, where a later VIEW_ONLY reshape needs them.
STRIDES = {
    "TRANSPOSE": lambda node, strides: [strides[axis] for axis in node["permutation"]],
    "SLICE": lambda node, strides: [
        stride * step for stride, step in zip(strides, node.get("slice_strides") or [1] * len(strides))],
}

TABLE = {"POINTWISE": pointwise, "MATMUL": matmul, "CONV_FPROP": convolution,
         "CONV_DGRAD": convolution_image_gradient, "CONV_WGRAD": convolution_filter_gradient, "REDUCTION": reduction,
         "RESHAPE": reshape, "TRANSPOSE": transpose, "SLICE": slice_, "SDPA": attention,
         "SDPA_BWD": attention_gradient,
         "CONCATENATE": concatenate, "RESAMPLE": pooling.resample, "RESAMPLE_BWD": pooling.resample_backward,
         "RNG": random_bits.rng, "BLOCK_SCALE_QUANTIZE": block_scale.quantize,
         "BLOCK_SCALE_DEQUANTIZE": block_scale.dequantize, **normalization.TABLE}
