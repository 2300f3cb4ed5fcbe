"""The operations, written in NumPy in double precision."""

import math

import numpy as np


def convolution(x, w, padding=0, stride=1):
    """x [n, c, h, w], w [k, c, r, s]; cross-correlation."""
    x = np.pad(x.astype(np.float64), [(0, 0), (0, 0), (padding,) * 2, (padding,) * 2])
    windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], axis=(2, 3))
    return np.einsum("nchwrs,kcrs->nkhw", windows[:, :, ::stride, ::stride], w.astype(np.float64))


def gelu(x):
    return 0.5 * x * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


def attention(q, k, v, scale, causal=False):
    """q [b, h, sq, d], k and v [b, h, skv, d]."""
    scores = scale * np.einsum("bhid,bhjd->bhij", q.astype(np.float64), k.astype(np.float64))
    if causal:
        row, column = np.indices(scores.shape[2:])
        scores = np.where(column <= row, scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return (weights / weights.sum(-1, keepdims=True)) @ v.astype(np.float64)


def to_bfloat16_bits(x):
    """Rounds to nearest even; the bits as uint16."""
    bits = x.astype(np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def from_bfloat16_bits(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)
