// The micro-kernels against the processor's peak, and the tile interpreter against the
// micro-kernel, as ratios measured in one process: absolute times mean little on a machine that
// others use.
//
//   bench_cpu_kernels        all levels that the machine can run

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engines/cpu/isa/isa.h"
#include "engines/cpu/kernels/kernel_table.h"

namespace {

using namespace warploom;
using namespace warploom::cpu;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The best time of one call, interleaved over all functions so that they see the same machine.
std::vector<double> best_times(const std::vector<std::function<void()>>& functions,
                               int rounds = 40) {
  std::vector<double> best(functions.size(), 1e30);
  for (int round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < functions.size(); ++i) {
      const double start = now();
      functions[i]();
      best[i] = std::min(best[i], now() - start);
    }
  }
  return best;
}

template <class T>
class Aligned {
 public:
  explicit Aligned(size_t n)
      : memory_(static_cast<T*>(std::aligned_alloc(4096, (n * sizeof(T) + 4095) / 4096 * 4096))) {
    std::memset(static_cast<void*>(memory_), 0, n * sizeof(T));
  }
  ~Aligned() { std::free(memory_); }
  Aligned(const Aligned&) = delete;
  Aligned& operator=(const Aligned&) = delete;
  T* data() { return memory_; }

 private:
  T* memory_;
};

#if defined(__x86_64__)
// Twelve independent chains of multiply-adds: two units, a latency of four or five.
#define CHAINS(instruction, r)                                                                    \
  instruction " %%" r "12,%%" r "13,%%" r "0\n" instruction " %%" r "12,%%" r "13,%%" r           \
              "1\n" instruction " %%" r "12,%%" r "13,%%" r "2\n" instruction " %%" r "12,%%" r   \
              "13,%%" r "3\n" instruction " %%" r "12,%%" r "13,%%" r "4\n" instruction " %%" r   \
              "12,%%" r "13,%%" r "5\n" instruction " %%" r "12,%%" r "13,%%" r "6\n" instruction \
              " %%" r "12,%%" r "13,%%" r "7\n" instruction " %%" r "12,%%" r "13,%%" r           \
              "8\n" instruction " %%" r "12,%%" r "13,%%" r "9\n" instruction " %%" r "12,%%" r   \
              "13,%%" r "10\n" instruction " %%" r "12,%%" r "13,%%" r "11\n"
#define CLOBBERS                                                                           \
  "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", \
      "xmm11", "xmm12", "xmm13", "cc"
#define PEAK_LOOP(name, zero, instruction, r, operations)                                \
  double name(int64_t n) {                                                               \
    __asm__ volatile(zero "1:\n" CHAINS(instruction, r) "dec %0\n jnz 1b\n vzeroupper\n" \
                     : "+r"(n)                                                           \
                     :                                                                   \
                     : CLOBBERS);                                                        \
    return 12.0 * (operations);                                                          \
  }
PEAK_LOOP(peak_avx2, "vzeroall\n", "vfmadd231ps", "ymm", 16)
PEAK_LOOP(peak_avx512, "vzeroall\n", "vfmadd231ps", "zmm", 32)
PEAK_LOOP(peak_avx512bf16, "vzeroall\n", "vdpbf16ps", "zmm", 64)
#endif

struct Peak {
  double (*loop)(int64_t) = nullptr;
};

Peak peak_of(IsaLevel level, bool bfloat16) {
#if defined(__x86_64__)
  if (bfloat16) return {peak_avx512bf16};
  if (level == IsaLevel::kAvx2) return {peak_avx2};
  if (level >= IsaLevel::kAvx512) return {peak_avx512};
#endif
  static_cast<void>(level);
  static_cast<void>(bfloat16);
  return {};
}

void micro_kernels(const char* name, const GemmKernels& gemm, Peak peak) {
  if (!gemm) return;
  for (int64_t k : {64, 256, 1024}) {
    const int64_t steps = gemm.k_steps(k), panels = 4, strips = 4;
    const int64_t row = (k + 32) * gemm.a_bytes;  // a padded stride: not a multiple of 4096
    Aligned<char> a(static_cast<size_t>(row * gemm.mr * strips));
    Aligned<char> b(static_cast<size_t>(steps * gemm.step_bytes() * panels));
    Aligned<char> c(static_cast<size_t>(gemm.mr * gemm.nr * gemm.c_bytes));
    const int64_t repeats = std::max<int64_t>(1, 4096 / k);
    const auto run = [&] {
      for (int64_t r = 0; r < repeats; ++r) {
        for (int64_t panel = 0; panel < panels; ++panel) {
          for (int64_t strip = 0; strip < strips; ++strip) {
            GemmTile tile;
            tile.a = a.data() + strip * row * gemm.mr;
            tile.a_row_stride = row;
            tile.b = b.data() + panel * steps * gemm.step_bytes();
            tile.c = c.data();
            tile.c_row_stride = gemm.nr * gemm.c_bytes;
            tile.k_steps = steps;
            gemm.run(gemm.mr, tile);
          }
        }
      }
    };
    const double operations =
        2.0 * static_cast<double>(repeats * panels * strips * gemm.mr * gemm.nr * k);
    constexpr int64_t kLoops = 20000;
    double peak_operations = 0.0;
    const auto best = best_times({run, [&] {
                                    if (peak.loop) peak_operations = kLoops * peak.loop(kLoops);
                                  }});
    const double rate = operations / best[0] * 1e-9;
    std::printf("  %-10s %2dx%-2d K %5lld %8.1f GFLOP/s", name, gemm.mr, gemm.nr,
                static_cast<long long>(k), rate);
    if (peak.loop) {
      std::printf("  %5.1f %% of the multiply-add loop",
                  100.0 * rate / (peak_operations / best[1] * 1e-9));
    }
    std::printf("\n");
  }
}

struct Epilogue {
  const char* name;
  std::vector<PointwiseMode_t> modes;  // of the sum with a bias
  bool amax;
};

void interpreter(const KernelTable& table) {
  constexpr int kRows = 28, kColumns = 64;
  const GemmKernels& gemm = table.gemm_float;
  const Epilogue epilogues[] = {
      {"store", {}, false},
      {"bias", {}, false},
      {"bias relu", {PointwiseMode_t::RELU_FWD}, false},
      {"bias gelu_tanh", {PointwiseMode_t::GELU_APPROX_TANH_FWD}, false},
      {"bias gelu", {PointwiseMode_t::GELU_FWD}, false},
      {"bias gelu_tanh amax", {PointwiseMode_t::GELU_APPROX_TANH_FWD}, true},
      {"bias sigmoid", {PointwiseMode_t::SIGMOID_FWD}, false},
      {"bias tanh", {PointwiseMode_t::TANH_FWD}, false},
      {"bias exp", {PointwiseMode_t::EXP}, false}};
  Aligned<float> bias(kColumns), output(kRows * kColumns), a(kRows * 544), b(512 * kColumns);
  Aligned<double> accumulator(8);
  for (const Epilogue& epilogue : epilogues) {
    TileProgramBuilder builder(TileCompute::kFloat);
    TileValue value = builder.anchor();
    if (std::strcmp(epilogue.name, "store") != 0) {
      value = builder.pointwise({.mode = PointwiseMode_t::ADD}, value,
                                builder.load(0, DataType_t::FLOAT));
    }
    for (PointwiseMode_t mode : epilogue.modes) value = builder.pointwise({.mode = mode}, value);
    value = builder.store(1, DataType_t::FLOAT, value);
    if (epilogue.amax) builder.reduce(2, ReductionMode_t::AMAX, value);
    const TileProgram program = builder.build({.rows = kRows, .columns = kColumns});
    Aligned<char> slots(program.slot_bytes());
    const TileOperand operands[] = {
        {.data = bias.data(), .column_stride = 1},
        {.data = output.data(), .row_stride = kColumns, .column_stride = 1},
        {.data = accumulator.data()}};
    constexpr int kRepeats = 20;
    const auto tile = [&] {
      for (int i = 0; i < kRepeats; ++i) {
        table.run_tile(program.view(), {operands, slots.data(), kRows, kColumns});
      }
    };
    const auto product = [&] {
      for (int i = 0; i < kRepeats; ++i) {
        for (int column = 0; column < kColumns; column += gemm.nr) {
          for (int row = 0; row < kRows; row += gemm.mr) {
            GemmTile t;
            t.a = a.data() + row * 544;
            t.a_row_stride = 544 * 4;
            t.b = b.data() + column * 512;
            t.c = static_cast<float*>(program.anchor(slots.data())) + row * program.slot_stride() +
                  column;
            t.c_row_stride = program.slot_stride() * 4;
            t.k_steps = 512;
            gemm.run(std::min(gemm.mr, kRows - row), t);
          }
        }
      }
    };
    const auto best = best_times({tile, product});
    std::printf(
        "  %-20s %7.0f ns a tile of 28x64, %5.3f ns an element, %5.2f %% of its product at K 512\n",
        epilogue.name, best[0] / kRepeats * 1e9, best[0] / kRepeats * 1e9 / (kRows * kColumns),
        100.0 * best[0] / best[1]);
  }
}

}  // namespace

int main() {
  for (IsaLevel level :
       {IsaLevel::kGeneric, IsaLevel::kAvx2, IsaLevel::kAvx512, IsaLevel::kAvx512Bf16}) {
    if (level > detected_isa()) continue;
    const KernelTable& table = kernel_table(level);
    std::printf("%s\n", std::string(isa_name(level)).c_str());
    micro_kernels("float", table.gemm_float, peak_of(level, false));
    micro_kernels("bfloat16", table.gemm_bfloat16, peak_of(level, true));
    micro_kernels("int16", table.gemm_int16, {});
    micro_kernels("double", table.gemm_double, {});
    interpreter(table);
  }
}
