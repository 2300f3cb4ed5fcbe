"""Rounding to Warploom's data types, with NumPy's own types where it has them."""

import struct

import numpy as np

INTEGERS = {"INT8": np.int8, "UINT8": np.uint8, "INT32": np.int32, "INT64": np.int64}
FLOATS = {"FLOAT": np.float32, "DOUBLE": np.float64, "HALF": np.float16}


def from_float_bits(digits):
    return struct.unpack(">f", bytes.fromhex(digits))[0]


def round_to_bfloat16(values):
    """To the nearest multiple of the unit in the last place, ties to even; 8 bits of mantissa."""
    values = np.asarray(values, dtype=np.float64)
    _, exponent = np.frexp(values)
    unit = np.ldexp(1.0, np.maximum(exponent, -125) - 8)
    rounded = np.where(np.isfinite(values), np.rint(values / unit) * unit, values)
    limit = float.fromhex("0x1.fep127")
    return np.where(np.abs(rounded) > limit, np.copysign(np.inf, rounded), rounded)


def round_to(values, data_type):
    """Ties to even; integers saturate and NaN becomes 0; BOOLEAN is 0 or 1."""
    values = np.asarray(values, dtype=np.float64)
    with np.errstate(all="ignore"):
        if data_type == "BFLOAT16":
            return round_to_bfloat16(values)
        if data_type in FLOATS:
            return values.astype(FLOATS[data_type]).astype(np.float64)
        if data_type == "BOOLEAN":
            return (values != 0).astype(np.float64)
        limits = np.iinfo(INTEGERS[data_type])
        clipped = np.clip(np.rint(values), float(limits.min), float(limits.max))
        return np.where(np.isnan(values), 0.0, clipped)
