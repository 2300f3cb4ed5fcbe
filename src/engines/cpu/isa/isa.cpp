#include "engines/cpu/isa/isa.h"

#include <cstdint>
#include <cstdlib>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "base/log.h"

namespace warploom::cpu {
namespace {

constexpr IsaLevel kLevels[] = {IsaLevel::kGeneric, IsaLevel::kAvx2, IsaLevel::kAvx512,
                                IsaLevel::kAvx512Bf16};

#if defined(__x86_64__)
struct CpuidLeaf {
  uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
};

// Zero where the processor has no such leaf.
CpuidLeaf cpuid(uint32_t leaf, uint32_t subleaf = 0) {
  CpuidLeaf result;
  if (!__get_cpuid_count(leaf, subleaf, &result.eax, &result.ebx, &result.ecx, &result.edx)) {
    return {};
  }
  return result;
}

bool bit(uint32_t word, int index) {
  return (word >> index & 1) != 0;
}

// The register state that the operating system saves (XCR0).
uint64_t saved_state() {
  uint32_t low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return static_cast<uint64_t>(high) << 32 | low;
}

// Read by hand: compilers differ in the feature names that __builtin_cpu_supports knows.
IsaLevel detect() {
  const CpuidLeaf one = cpuid(1);
  const bool fma = bit(one.ecx, 12), osxsave = bit(one.ecx, 27), avx = bit(one.ecx, 28);
  const bool f16c = bit(one.ecx, 29);
  if (!osxsave || !avx) return IsaLevel::kGeneric;
  const uint64_t state = saved_state();
  constexpr uint64_t kYmm = 0x6, kZmm = 0xe6;  // SSE, AVX; and opmask, upper halves, zmm16-31
  const CpuidLeaf seven = cpuid(7);
  const bool avx2 = bit(seven.ebx, 5);
  if ((state & kYmm) != kYmm || !fma || !f16c || !avx2) return IsaLevel::kGeneric;
  const bool avx512 = bit(seven.ebx, 16) && bit(seven.ebx, 17) && bit(seven.ebx, 30) &&
                      bit(seven.ebx, 31);  // F, DQ, BW, VL
  if ((state & kZmm) != kZmm || !avx512) return IsaLevel::kAvx2;
  return bit(cpuid(7, 1).eax, 5) ? IsaLevel::kAvx512Bf16 : IsaLevel::kAvx512;
}
#else
IsaLevel detect() {
  return IsaLevel::kGeneric;
}
#endif

}  // namespace

std::string_view isa_name(IsaLevel level) {
  switch (level) {
    case IsaLevel::kGeneric:
      return "generic";
    case IsaLevel::kAvx2:
      return "avx2";
    case IsaLevel::kAvx512:
      return "avx512";
    case IsaLevel::kAvx512Bf16:
      return "avx512bf16";
  }
  return "unknown";
}

IsaLevel detected_isa() {
  static const IsaLevel level = detect();
  return level;
}

IsaChoice choose_isa(const char* requested, IsaLevel detected) {
  const std::string best(isa_name(detected));
  if (requested == nullptr || *requested == '\0') return {detected, "detected " + best};
  const std::string setting = "WARPLOOM_CPU_ISA=" + std::string(requested);
  for (IsaLevel level : kLevels) {
    if (isa_name(level) != requested) continue;
    if (level <= detected) return {level, setting};
    return {detected, setting + ": this machine has no " + requested + ", using " + best};
  }
  return {detected, setting + ": unknown level (generic, avx2, avx512, avx512bf16), using " + best};
}

const IsaChoice& active_isa() {
  static const IsaChoice choice = [] {
    IsaChoice chosen = choose_isa(std::getenv("WARPLOOM_CPU_ISA"), detected_isa());
    base::log("CPU instruction set " + std::string(isa_name(chosen.level)) + " (" + chosen.note +
              ")");
    return chosen;
  }();
  return choice;
}

}  // namespace warploom::cpu
