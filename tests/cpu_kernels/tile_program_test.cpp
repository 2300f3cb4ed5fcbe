#include <cmath>
#include <memory>
#include <random>

#include "cpu_kernels/elements_reference.h"
#include "cpu_kernels/guarded.h"
#include "cpu_kernels/levels.h"

// The tile interpreter against an evaluation element by element, written here. Programs are random:
// loads of every type and layout, exact arithmetic (so that bits can be compared), stores that
// round, reductions.

namespace warploom::cpu {
namespace {

class TileProgramTest : public KernelTest {};

using Random = std::mt19937;

int pick(Random& random, int low, int high) {
  return std::uniform_int_distribution<int>(low, high)(random);
}

/// An external tensor around one tile: memory that ends at an unmapped page, and where elements
/// are.
struct Tensor {
  DataType_t type;
  int rows, columns;
  int64_t row_stride = 0, column_stride = 0;
  std::vector<int64_t> row_offsets;
  std::unique_ptr<Guarded<uint8_t>> memory;
  int64_t origin = 0;  // element of the tile's (0, 0)

  Tensor(DataType_t type, int rows, int columns, Random& random, bool broadcast)
      : type(type), rows(rows), columns(columns) {
    switch (pick(random, 0, broadcast ? 8 : 4)) {
      case 0:
        row_stride = columns + pick(random, 0, 3), column_stride = 1;
        break;
      case 1:
        row_stride = 1, column_stride = rows + pick(random, 0, 3);
        break;  // transposed
      case 2:
        row_stride = 2 * columns + 1, column_stride = 2;
        break;
      case 3:
        row_stride = -columns, column_stride = 1;
        break;
      case 4:
        column_stride = 1;
        for (int i = 0; i < rows; ++i) row_offsets.push_back((i * 5 % rows) * (columns + 2));
        if (rows % 5 == 0) {  // i * 5 % rows would repeat: stores must not overlap
          for (int i = 0; i < rows; ++i) row_offsets[static_cast<size_t>(i)] = i * (columns + 2);
        }
        break;
      case 5:
        column_stride = 1;
        break;  // one row for all
      case 6:
        row_stride = 3;
        break;  // one column for all
      case 7:
        break;  // a scalar
      default:
        row_stride = columns, column_stride = 1;
        break;
    }
    int64_t lowest = 0, highest = 0;
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < columns; ++j) {
        lowest = std::min(lowest, offset(i, j));
        highest = std::max(highest, offset(i, j));
      }
    }
    origin = -lowest;
    memory = std::make_unique<Guarded<uint8_t>>(
        static_cast<size_t>((highest - lowest + 1) * element_bytes(type)));
  }

  int64_t offset(int i, int j) const {
    const int64_t row = row_offsets.empty() ? i * row_stride : row_offsets[static_cast<size_t>(i)];
    return row + j * column_stride;
  }
  uint8_t* element(int i, int j) const {
    return memory->data() + (origin + offset(i, j)) * element_bytes(type);
  }
  double at(int i, int j) const { return read_element(element(i, j), type); }
  void fill(Random& random) {
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < columns; ++j)
        write_element(element(i, j), type, random_value(type, random));
    }
  }
  TileOperand operand() const {
    return {.data = memory->data() + origin * element_bytes(type),
            .row_stride = row_offsets.empty() ? row_stride : 123456789,
            .column_stride = column_stride,
            .row_offsets = row_offsets.empty() ? nullptr : row_offsets.data()};
  }
};

using Tile = std::vector<double>;  // rows x columns values; all compute types fit where used here

double to_compute(TileCompute compute, double x) {
  if (compute == TileCompute::kFloat) return static_cast<float>(x);
  if (compute == TileCompute::kInt64) return saturated(x, -0x1p62, 0x1p62);
  return x;
}

double rounded(DataType_t type, double x) {
  uint8_t element[8];
  write_element(element, type, x);
  return read_element(element, type);
}

double binary_value(PointwiseMode_t mode, double a, double b) {
  switch (mode) {
    case PointwiseMode_t::ADD:
      return a + b;
    case PointwiseMode_t::SUB:
      return a - b;
    case PointwiseMode_t::MUL:
      return a * b;
    case PointwiseMode_t::MAX:
      return std::fmax(a, b);
    case PointwiseMode_t::MIN:
      return std::fmin(a, b);
    case PointwiseMode_t::CMP_EQ:
      return a == b;
    case PointwiseMode_t::CMP_NEQ:
      return a != b;
    case PointwiseMode_t::CMP_GT:
      return a > b;
    case PointwiseMode_t::CMP_GE:
      return a >= b;
    case PointwiseMode_t::CMP_LT:
      return a < b;
    case PointwiseMode_t::CMP_LE:
      return a <= b;
    case PointwiseMode_t::LOGICAL_AND:
      return a != 0 && b != 0;
    case PointwiseMode_t::LOGICAL_OR:
      return a != 0 || b != 0;
    default:
      ADD_FAILURE();
      return 0;
  }
}
constexpr PointwiseMode_t kBinary[] = {
    PointwiseMode_t::ADD,       PointwiseMode_t::SUB,    PointwiseMode_t::MUL,
    PointwiseMode_t::MAX,       PointwiseMode_t::MIN,    PointwiseMode_t::CMP_EQ,
    PointwiseMode_t::CMP_NEQ,   PointwiseMode_t::CMP_GT, PointwiseMode_t::CMP_GE,
    PointwiseMode_t::CMP_LT,    PointwiseMode_t::CMP_LE, PointwiseMode_t::LOGICAL_AND,
    PointwiseMode_t::LOGICAL_OR};

double unary_value(PointwiseMode_t mode, double a) {
  switch (mode) {
    case PointwiseMode_t::IDENTITY:
      return a;
    case PointwiseMode_t::NEG:
      return -a;
    case PointwiseMode_t::ABS:
      return std::fabs(a);
    case PointwiseMode_t::RELU_FWD:
      return a > 0 ? a : 0;
    case PointwiseMode_t::LOGICAL_NOT:
      return a == 0;
    default:
      ADD_FAILURE();
      return 0;
  }
}
constexpr PointwiseMode_t kUnary[] = {PointwiseMode_t::IDENTITY, PointwiseMode_t::NEG,
                                      PointwiseMode_t::ABS, PointwiseMode_t::RELU_FWD,
                                      PointwiseMode_t::LOGICAL_NOT};

constexpr DataType_t kTypes[] = {DataType_t::FLOAT, DataType_t::DOUBLE,   DataType_t::HALF,
                                 DataType_t::INT8,  DataType_t::UINT8,    DataType_t::INT32,
                                 DataType_t::INT64, DataType_t::BFLOAT16, DataType_t::BOOLEAN};

constexpr ReductionMode_t kReductions[] = {
    ReductionMode_t::ADD,   ReductionMode_t::MUL,   ReductionMode_t::MIN,
    ReductionMode_t::MAX,   ReductionMode_t::AMAX,  ReductionMode_t::AVG,
    ReductionMode_t::NORM1, ReductionMode_t::NORM2, ReductionMode_t::MUL_NO_ZEROS};

struct Reduction {
  ReductionMode_t mode;
  bool over_rows, over_columns;
  std::vector<double> accumulators;  // or the bits of int64_t
  std::vector<double> expected;
  std::vector<double> magnitude;
  int64_t row_stride, column_stride;
};

void combine(ReductionMode_t mode, double& accumulator, double x) {
  switch (mode) {
    case ReductionMode_t::MUL:
      accumulator *= x;
      break;
    case ReductionMode_t::MUL_NO_ZEROS:
      accumulator *= x == 0 ? 1 : x;
      break;
    case ReductionMode_t::MIN:
      accumulator = std::fmin(accumulator, x);
      break;
    case ReductionMode_t::MAX:
      accumulator = std::fmax(accumulator, x);
      break;
    case ReductionMode_t::AMAX:
      accumulator = std::fmax(accumulator, std::fabs(x));
      break;
    case ReductionMode_t::NORM1:
      accumulator += std::fabs(x);
      break;
    case ReductionMode_t::NORM2:
      accumulator += x * x;
      break;
    default:
      accumulator += x;
      break;
  }
}

void check_random_program(const KernelTable& table, TileCompute compute, Random& random) {
  const TileShape shape = pick(random, 0, 7) == 0 ? TileShape{.rows = 100, .columns = 21}
                                                  : TileShape{.rows = 19, .columns = 48};
  const int rows = pick(random, 1, shape.rows), columns = pick(random, 1, shape.columns);
  const bool integer = compute == TileCompute::kInt64;
  TileProgramBuilder builder(compute);
  std::vector<TileValue> values;
  std::vector<Tile> tiles;
  std::vector<std::unique_ptr<Tensor>> tensors;
  std::vector<std::pair<const Tensor*, Tile>> stored;
  std::vector<std::unique_ptr<Reduction>> reductions;
  std::vector<TileOperand> operands;
  const auto each = [&](auto f) {
    Tile tile(static_cast<size_t>(rows * columns));
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < columns; ++j) tile[static_cast<size_t>(i * columns + j)] = f(i, j);
    }
    return tile;
  };
  const auto at = [&](const Tile& tile, int i, int j) {
    return tile[static_cast<size_t>(i * columns + j)];
  };
  const auto type_of_integer_programs = [&](DataType_t type) {
    return integer && (type == DataType_t::FLOAT || type == DataType_t::DOUBLE ||
                       type == DataType_t::HALF || type == DataType_t::BFLOAT16)
               ? DataType_t::INT64
               : type;
  };

  const bool anchored = pick(random, 0, 1) == 1;
  Tile anchor;
  if (anchored) {
    values.push_back(builder.anchor());
    anchor = each([&](int, int) {
      return to_compute(compute,
                        integer ? pick(random, -99, 99) : random_value(DataType_t::FLOAT, random));
    });
    tiles.push_back(anchor);
  }
  const int steps = pick(random, 3, 14);
  for (int step = 0; step < steps; ++step) {
    const int any = values.empty() ? 0 : pick(random, 0, 9);
    const auto value = [&] {
      return static_cast<size_t>(pick(random, 0, static_cast<int>(values.size()) - 1));
    };
    if (any <= 2) {
      const DataType_t type = type_of_integer_programs(kTypes[pick(random, 0, 8)]);
      tensors.push_back(std::make_unique<Tensor>(type, rows, columns, random, true));
      tensors.back()->fill(random);
      values.push_back(builder.load(static_cast<int>(operands.size()), type));
      operands.push_back(tensors.back()->operand());
      const Tensor& t = *tensors.back();
      tiles.push_back(each([&](int i, int j) { return to_compute(compute, t.at(i, j)); }));
    } else if (any == 3) {
      const double constant = pick(random, -3, 3);
      values.push_back(builder.constant(constant));
      tiles.push_back(each([&](int, int) { return constant; }));
    } else if (any == 4) {
      const TileOperand operand{
          .row_stride = pick(random, 0, 1), .column_stride = pick(random, 0, 2), .index = 7};
      values.push_back(builder.index(static_cast<int>(operands.size())));
      operands.push_back(operand);
      tiles.push_back(each([&](int i, int j) {
        return static_cast<double>(7 + i * operand.row_stride + j * operand.column_stride);
      }));
    } else if (any == 5) {
      const PointwiseMode_t mode = kUnary[pick(random, 0, 4)];
      const size_t a = value();
      values.push_back(builder.pointwise({.mode = mode}, values[a]));
      tiles.push_back(each([&](int i, int j) { return unary_value(mode, at(tiles[a], i, j)); }));
    } else if (any <= 7) {
      const PointwiseMode_t mode = kBinary[pick(random, 0, 12)];
      const size_t a = value(), b = value();
      values.push_back(builder.pointwise({.mode = mode}, values[a], values[b]));
      tiles.push_back(each([&](int i, int j) {
        // Magnitudes are bounded so that integers stay exact in double.
        return to_compute(compute, binary_value(mode, at(tiles[a], i, j), at(tiles[b], i, j)));
      }));
      if (mode == PointwiseMode_t::MUL || integer) {
        values.back() = builder.round(values.back(), DataType_t::INT8);
        for (double& x : tiles.back()) x = rounded(DataType_t::INT8, x);
      }
    } else if (any == 8) {
      const size_t a = value(), b = value(), c = value();
      values.push_back(builder.pointwise({.mode = PointwiseMode_t::BINARY_SELECT}, values[a],
                                         values[b], values[c]));
      tiles.push_back(each([&](int i, int j) {
        return at(tiles[c], i, j) != 0 ? at(tiles[a], i, j) : at(tiles[b], i, j);
      }));
    } else {
      const size_t a = value();
      const DataType_t type = type_of_integer_programs(kTypes[pick(random, 0, 8)]);
      tensors.push_back(std::make_unique<Tensor>(type, rows, columns, random, false));
      values.push_back(builder.store(static_cast<int>(operands.size()), type, values[a]));
      operands.push_back(tensors.back()->operand());
      tiles.push_back(each([&](int i, int j) { return rounded(type, at(tiles[a], i, j)); }));
      stored.emplace_back(tensors.back().get(), tiles.back());
      for (double& x : tiles.back()) x = to_compute(compute, x);
    }
  }
  // The last value is stored, and some value is reduced.
  tensors.push_back(std::make_unique<Tensor>(DataType_t::DOUBLE, rows, columns, random, false));
  builder.store(static_cast<int>(operands.size()), DataType_t::DOUBLE, values.back());
  operands.push_back(tensors.back()->operand());
  stored.emplace_back(tensors.back().get(), tiles.back());
  for (int r = 0; r < 2; ++r) {
    const size_t a = static_cast<size_t>(pick(random, 0, static_cast<int>(values.size()) - 1));
    auto reduction = std::make_unique<Reduction>();
    const ReductionMode_t mode = kReductions[pick(random, 0, 8)];
    // Products must not overflow: infinity times zero depends on the order.
    const bool bounded = std::all_of(tiles[a].begin(), tiles[a].end(), [&](double x) {
      return std::fabs(x) <= (integer ? 1.0 : 2.0);
    });
    const bool product = mode == ReductionMode_t::MUL || mode == ReductionMode_t::MUL_NO_ZEROS;
    reduction->mode = product && !bounded ? ReductionMode_t::ADD : mode;
    reduction->over_rows = pick(random, 0, 1) == 1;
    reduction->over_columns = pick(random, 0, 1) == 1;
    reduction->row_stride = reduction->over_rows ? 0 : (reduction->over_columns ? 1 : columns);
    reduction->column_stride = reduction->over_columns ? 0 : 1;
    reduction->accumulators.resize(static_cast<size_t>(rows * columns));
    table.reduction.fill(reduction->mode, integer, reduction->accumulators.data(), rows * columns);
    for (double x : reduction->accumulators) {
      reduction->expected.push_back(integer ? static_cast<double>(std::bit_cast<int64_t>(x)) : x);
    }
    reduction->magnitude.assign(reduction->expected.size(), 0.0);
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < columns; ++j) {
        const auto k =
            static_cast<size_t>(i * reduction->row_stride + j * reduction->column_stride);
        combine(reduction->mode, reduction->expected[k], at(tiles[a], i, j));
        reduction->magnitude[k] +=
            std::fabs(at(tiles[a], i, j)) + at(tiles[a], i, j) * at(tiles[a], i, j);
      }
    }
    builder.reduce(static_cast<int>(operands.size()), reduction->mode, values[a]);
    operands.push_back({.data = reduction->accumulators.data(),
                        .row_stride = reduction->row_stride,
                        .column_stride = reduction->column_stride});
    reductions.push_back(std::move(reduction));
  }

  const TileProgram program = builder.build(shape);
  ASSERT_LE(program.operand_count(), static_cast<int>(operands.size()));
  Guarded<char> slots(program.slot_bytes(), 64);
  for (int i = 0; anchored && i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      const int64_t k = i * program.slot_stride() + j;
      void* tile = program.anchor(slots.data());
      if (compute == TileCompute::kFloat)
        static_cast<float*>(tile)[k] = static_cast<float>(at(anchor, i, j));
      if (compute == TileCompute::kDouble) static_cast<double*>(tile)[k] = at(anchor, i, j);
      if (integer) static_cast<int64_t*>(tile)[k] = static_cast<int64_t>(at(anchor, i, j));
    }
  }
  table.run_tile(program.view(), {operands.data(), slots.data(), rows, columns});

  ASSERT_TRUE(slots.front_untouched());
  for (const auto& [tensor, tile] : stored) {
    std::vector<bool> written(tensor->memory->size(), false);
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < columns; ++j) {
        const double expected = at(tile, i, j), got = tensor->at(i, j);
        if (!(std::isnan(expected) && std::isnan(got))) {
          ASSERT_EQ(got, expected) << to_string(tensor->type) << " at " << i << ", " << j;
        }
        const auto first = static_cast<size_t>(tensor->element(i, j) - tensor->memory->data());
        for (int64_t b = 0; b < element_bytes(tensor->type); ++b)
          written[first + static_cast<size_t>(b)] = true;
      }
    }
    for (size_t b = 0; b < written.size(); ++b) {
      ASSERT_TRUE(written[b] || (*tensor->memory)[b] == 0xff) << "written outside the tile";
    }
    ASSERT_TRUE(tensor->memory->front_untouched());
  }
  for (const auto& reduction : reductions) {
    for (size_t k = 0; k < reduction->expected.size(); ++k) {
      const double bits = reduction->accumulators[k];
      const double got = integer ? static_cast<double>(std::bit_cast<int64_t>(bits)) : bits;
      const double expected = reduction->expected[k];
      if (got == expected) continue;  // infinities
      ASSERT_NEAR(got, expected, 1e-11 * (std::fabs(expected) + reduction->magnitude[k]))
          << to_string(reduction->mode);
    }
  }
}

TEST_P(TileProgramTest, RandomFloatPrograms) {
  Random random(1);
  for (int i = 0; i < 3000 && !HasFatalFailure(); ++i) {
    SCOPED_TRACE(i);
    check_random_program(table(), TileCompute::kFloat, random);
  }
}
TEST_P(TileProgramTest, RandomDoublePrograms) {
  Random random(2);
  for (int i = 0; i < 1500 && !HasFatalFailure(); ++i) {
    SCOPED_TRACE(i);
    check_random_program(table(), TileCompute::kDouble, random);
  }
}
TEST_P(TileProgramTest, RandomIntegerPrograms) {
  Random random(3);
  for (int i = 0; i < 1500 && !HasFatalFailure(); ++i) {
    SCOPED_TRACE(i);
    check_random_program(table(), TileCompute::kInt64, random);
  }
}

// clip(x * scale + first + second), which the builder merges into one instruction, with every way
// in which each of the four may vary, with and without whole vectors and with its result stored,
// used again, or both. Small multiples of 1/8: every step is exact.
TEST_P(TileProgramTest, AffineChains) {
  Random random(5);
  enum Vary { kAbsent, kScalar, kRow, kColumn, kFull };
  for (int trial = 0; trial < 4000; ++trial) {
    const int rows = pick(random, 1, 7),
              columns = pick(random, 0, 1) == 0 ? 32 : pick(random, 1, 48);
    const bool clipped = pick(random, 0, 1) == 1, reused = pick(random, 0, 1) == 1;
    const DataType_t type = pick(random, 0, 2) == 0 ? DataType_t::BFLOAT16 : DataType_t::FLOAT;
    TileProgramBuilder builder(TileCompute::kFloat);
    std::vector<std::vector<float>> tensors;
    std::vector<TileOperand> operands;
    TileValue value = builder.anchor();
    Vary vary[4] = {kFull, kAbsent, kAbsent, kAbsent};
    if (pick(random, 0, 3) == 0) vary[0] = static_cast<Vary>(pick(random, kScalar, kFull));
    for (int k = 0; k < 4; ++k) {
      if (k > 0) vary[k] = static_cast<Vary>(pick(random, kAbsent, kFull));
      tensors.emplace_back(static_cast<size_t>(rows * columns));
      for (float& x : tensors.back()) x = static_cast<float>(pick(random, -40, 40)) / 8.0f;
      operands.push_back({.data = tensors.back().data(),
                          .row_stride = vary[k] == kRow || vary[k] == kFull ? columns : 0,
                          .column_stride = vary[k] == kColumn || vary[k] == kFull ? 1 : 0});
      if (k == 0 && vary[0] == kFull && trial % 2 == 0) continue;  // x is the anchor
      if (vary[k] == kAbsent) continue;
      const TileValue loaded = builder.load(k, DataType_t::FLOAT);
      if (k == 0) {
        value = loaded;
        continue;
      }
      const PointwiseMode_t mode = k == 1 ? PointwiseMode_t::MUL : PointwiseMode_t::ADD;
      value = pick(random, 0, 1) == 0 ? builder.pointwise({.mode = mode}, value, loaded)
                                      : builder.pointwise({.mode = mode}, loaded, value);
    }
    if (clipped) {
      value = builder.pointwise(
          {.mode = PointwiseMode_t::RELU_FWD, .relu_lower_clip = -1.0, .relu_upper_clip = 3.0},
          value);
    }
    value = builder.store(4, type, value);
    if (reused)
      builder.store(5, DataType_t::DOUBLE,
                    builder.pointwise({.mode = PointwiseMode_t::NEG}, value));
    const TileProgram program = builder.build({.rows = 7, .columns = 48});
    Guarded<char> slots(program.slot_bytes(), 64);
    const int64_t row_stride = columns + pick(random, 0, 2);
    Guarded<uint8_t> output(
        static_cast<size_t>(((rows - 1) * row_stride + columns) * element_bytes(type)));
    Guarded<double> negated(static_cast<size_t>(rows * columns));
    operands.push_back({.data = output.data(), .row_stride = row_stride, .column_stride = 1});
    operands.push_back({.data = negated.data(), .row_stride = columns, .column_stride = 1});
    const auto element = [&](int k, int i, int j) {
      const TileOperand& o = operands[static_cast<size_t>(k)];
      return static_cast<double>(tensors[static_cast<size_t>(k)][static_cast<size_t>(
          i * o.row_stride + j * o.column_stride)]);
    };
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < columns; ++j) {
        static_cast<float*>(program.anchor(slots.data()))[i * program.slot_stride() + j] =
            static_cast<float>(element(0, i, j));
      }
    }
    table().run_tile(program.view(), {operands.data(), slots.data(), rows, columns});
    ASSERT_TRUE(output.front_untouched() && slots.front_untouched());
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < row_stride && i * row_stride + j < (rows - 1) * row_stride + columns;
           ++j) {
        const uint8_t* at = output.data() + (i * row_stride + j) * element_bytes(type);
        if (j >= columns) {
          ASSERT_EQ(*at, 0xff);
          continue;
        }
        double expected = element(0, i, j);
        if (vary[1] != kAbsent) expected *= element(1, i, j);
        if (vary[2] != kAbsent) expected += element(2, i, j);
        if (vary[3] != kAbsent) expected += element(3, i, j);
        if (clipped) expected = std::fmin(std::fmax(expected, -1.0), 3.0);
        expected = rounded(type, expected);
        ASSERT_EQ(read_element(at, type), expected)
            << "trial " << trial << " at " << i << ", " << j;
        ASSERT_TRUE(!reused || negated[static_cast<size_t>(i * columns + j)] == -expected);
      }
    }
  }
}

// NaN passes through the clips, as it does through RELU alone.
TEST_P(TileProgramTest, AffineChainKeepsNan) {
  TileProgramBuilder builder(TileCompute::kFloat);
  const TileValue x = builder.load(0, DataType_t::FLOAT);
  const TileValue sum = builder.pointwise({.mode = PointwiseMode_t::ADD}, x, builder.constant(1.0));
  builder.store(1, DataType_t::FLOAT, builder.pointwise({.mode = PointwiseMode_t::RELU_FWD}, sum));
  const TileProgram program = builder.build({.rows = 1, .columns = 16});
  float in[16] = {NAN, INFINITY, -INFINITY, -3.0f}, out[16];
  alignas(64) std::byte slots[2048];
  ASSERT_LE(program.slot_bytes(), sizeof(slots));
  const TileOperand operands[] = {{.data = in, .column_stride = 1},
                                  {.data = out, .column_stride = 1}};
  table().run_tile(program.view(), {operands, slots, 1, 16});
  EXPECT_TRUE(std::isnan(out[0]));
  EXPECT_EQ(out[1], INFINITY);
  EXPECT_EQ(out[2], 0.0f);
  EXPECT_EQ(out[3], 0.0f);
  EXPECT_EQ(out[4], 1.0f);
}

WARPLOOM_KERNEL_TESTS(TileProgramTest);

}  // namespace
}  // namespace warploom::cpu
