#pragma once
#include <cstdint>

#include <warploom/types.h>

// Floating-point numbers of 8 and 4 bits (OCP specifications for 8-bit floating point and for
// microscaling formats). `bits` are the low bits of a byte.
//
//              sign, exponent, mantissa   greatest   infinity   NaN
//   FP8_E4M3   1, 4 (bias 7), 3           448        no         0x7f, 0xff
//   FP8_E5M2   1, 5 (bias 15), 2          57344      0x7c       0x7d to 0x7f
//   FP4_E2M1   1, 2 (bias 1), 1           6          no         no
//   FP8_E8M0   0, 8 (bias 127), 0         2^127      no         0xff       no zero
//
// Encoding rounds once, to nearest, ties to even (the even code), and saturates, infinity too. NaN
// gives 0x7f (0xff for FP8_E8M0) and for FP4_E2M1, which has none, the greatest number.

namespace warploom::base {

/// FP8_E4M3, FP8_E5M2, FP8_E8M0 and FP4_E2M1.
bool is_small_floating(DataType_t type);

double decode_small_floating(DataType_t type, uint8_t bits);
uint8_t encode_small_floating(DataType_t type, double value);

/// The greatest finite number of one of these types.
double greatest(DataType_t type);

/// The least power of two that is not below `value`; NaN, infinity and 0 as they are.
double round_up_to_power_of_two(double value);

}  // namespace warploom::base
