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


def float8_magnitudes(exponent_bits, mantissa_bits, bias):
    """Of all codes without their sign, in order, as if none meant infinity or NaN."""
    exponent, fraction = np.divmod(np.arange(2 ** (exponent_bits + mantissa_bits)), 2 ** mantissa_bits)
    hidden = np.where(exponent > 0, 2 ** mantissa_bits, 0)
    return (hidden + fraction) * 2.0 ** (np.maximum(exponent, 1) - bias - mantissa_bits)


# The finite magnitudes of each type, and what NaN is stored as.
SMALL_FLOATS = {
    "FP8_E4M3": (float8_magnitudes(4, 3, 7)[:127], np.nan),
    "FP8_E5M2": (float8_magnitudes(5, 2, 15)[:124], np.nan),
    "FP4_E2M1": (float8_magnitudes(2, 1, 1), 6.0),
    "FP8_E8M0": (2.0 ** (np.arange(255.0) - 127), np.nan),
}


def round_to_small_float(values, data_type):
    """The nearest code, the even one of two; saturates, infinity too. FP8_E8M0 has no sign."""
    magnitudes, nan = SMALL_FLOATS[data_type]
    magnitude = np.maximum(values, 0) if data_type == "FP8_E8M0" else np.abs(values)
    above = np.clip(np.searchsorted(magnitudes, magnitude), 1, len(magnitudes) - 1)
    low, high = magnitudes[above - 1], magnitudes[above]
    middle = (low + high) / 2
    takes_high = (magnitude > middle) | ((magnitude == middle) & (above % 2 == 0))
    rounded = np.where(takes_high, high, low)
    if data_type != "FP8_E8M0":
        rounded = np.copysign(rounded, values)
    return np.where(np.isnan(values), nan, rounded)


def round_to(values, data_type):
    """Ties to even; integers saturate and NaN becomes 0; BOOLEAN is 0 or 1."""
    values = np.asarray(values, dtype=np.float64)
    with np.errstate(all="ignore"):
        if data_type in SMALL_FLOATS:
            return round_to_small_float(values, data_type)
        if data_type == "BFLOAT16":
            return round_to_bfloat16(values)
        if data_type in FLOATS:
            return values.astype(FLOATS[data_type]).astype(np.float64)
        if data_type == "BOOLEAN":
            return (values != 0).astype(np.float64)
        limits = np.iinfo(INTEGERS[data_type])
        clipped = np.clip(np.rint(values), float(limits.min), float(limits.max))
        return np.where(np.isnan(values), 0.0, clipped)
