"""Pooling and its gradient in float64."""

import itertools

import numpy as np


def windows(node, shape):
    """For every position of the window: the index of each element of Y's place in X along every spatial axis
    (clipped to the edge), and whether it is inside."""
    extents = shape[2:]
    size = [1 + (x + a + b - w) // s for x, a, b, w, s in
            zip(extents, node["pre_padding"], node["post_padding"], node["window"], node["stride"])]
    for offset in itertools.product(*(range(w) for w in node["window"])):
        places = [np.arange(n) * s + o - a for n, s, o, a in
                  zip(size, node["stride"], offset, node["pre_padding"])]
        grid = np.meshgrid(*places, indexing="ij")
        inside = np.logical_and.reduce([(g >= 0) & (g < x) for g, x in zip(grid, extents)])
        yield tuple(np.clip(g, 0, x - 1) for g, x in zip(grid, extents)), inside


def resample(node, inputs, outputs, strides):
    x = inputs["X"]
    mode, padding = node["resample_mode"], node["padding_mode"]
    constant = -np.inf if padding == "NEG_INF_PAD" else 0.0
    read = []
    for place, inside in windows(node, x.shape):
        value = x[(slice(None), slice(None), *place)]
        if mode == "AVGPOOL_EXCLUDE_PADDING":
            value = np.where(inside, value, 0.0)
        elif padding != "EDGE_VAL_PAD":
            value = np.where(inside, value, constant)
        read.append(value)
    read = np.stack(read)
    inside = np.stack([inside for _, inside in windows(node, x.shape)])
    with np.errstate(all="ignore"):
        if mode == "AVGPOOL_EXCLUDE_PADDING":
            return {"Y": read.sum(axis=0) / inside.sum(axis=0)}
        if mode == "AVGPOOL_INCLUDE_PADDING":
            return {"Y": read.mean(axis=0)}
    # The order of preference: NaN, then the greater, then the earlier; padding with -infinity last.
    rank = np.where(np.isnan(read), np.inf, read)
    result = np.max(read, axis=0)  # np.max lets NaN through
    is_best = np.isnan(read) | ((rank == rank.max(axis=0)) & ~np.isnan(read).any(axis=0))
    if padding == "NEG_INF_PAD":
        real = is_best & inside[:, None, None]
        is_best = np.where(real.any(axis=0), real, is_best)
    return {"Y": result, "Index": np.argmax(is_best, axis=0)}


def resample_backward(node, inputs, outputs, strides):
    dy = inputs["DY"]
    dx = np.zeros(outputs["DX"]["dim"])
    mode, padding = node["resample_mode"], node["padding_mode"]
    places = list(windows(node, dx.shape))
    count = np.prod(node["window"])
    if mode == "AVGPOOL_EXCLUDE_PADDING":
        count = np.sum([inside for _, inside in places], axis=0)
    keeps_edge = padding == "EDGE_VAL_PAD" and mode != "AVGPOOL_EXCLUDE_PADDING"
    for position, (place, inside) in enumerate(places):
        with np.errstate(all="ignore"):
            share = dy * (inputs["Index"] == position) if mode == "MAXPOOL" else dy / count
        if not keeps_edge:
            share = np.where(inside, share, 0.0)
        for n, c in np.ndindex(dx.shape[:2]):
            np.add.at(dx[n, c], place, share[n, c])
    return {"DX": dx}
