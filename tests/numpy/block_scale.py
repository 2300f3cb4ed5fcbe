"""Quantization with a scale for each block."""

import numpy as np

from elements import SMALL_FLOATS, round_to


def quantize(node, inputs, outputs, strides):
    x = inputs["X"]
    axis = node["axis"] if node.get("axis") is not None else x.ndim - 1
    size = node["block_size"]
    blocks = np.moveaxis(x, axis, -1)
    blocks = blocks.reshape(*blocks.shape[:-1], -1, size)
    scale_type = outputs["scale"]["data_type"]
    with np.errstate(all="ignore"):
        scale = np.max(np.abs(blocks), axis=-1) / SMALL_FLOATS[outputs["Y"]["data_type"]][0][-1]
        if scale_type == "FP8_E8M0":
            scale = np.where(scale > 0, 2.0 ** np.ceil(np.log2(scale)), scale)
        scale = round_to(scale, scale_type)
        y = np.where(scale[..., None] == 0, 0.0, blocks / scale[..., None])
    y = np.moveaxis(y.reshape(*y.shape[:-2], -1), -1, axis)
    scale = np.moveaxis(scale, -1, axis)
    room = outputs["scale"].get("dim") or scale.shape
    return {"Y": y, "scale": np.pad(scale, [(0, r - n) for r, n in zip(room, scale.shape)])}


def dequantize(node, inputs, outputs, strides):
    x, scale = inputs["X"], inputs["scale"]
    sizes = [1] * (x.ndim - len(node["block_size"])) + node["block_size"]
    for axis, size in enumerate(sizes):
        scale = np.take(np.repeat(scale, size, axis=axis), range(x.shape[axis]), axis=axis)
    return {"Y": x * scale}
