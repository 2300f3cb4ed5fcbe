#pragma once

#include <string>
#include <string_view>

namespace warploom::cpu {

/// Instruction sets that the kernels are compiled for, each including those before it.
enum class IsaLevel { kGeneric, kAvx2, kAvx512, kAvx512Bf16 };

/// "generic", "avx2", "avx512", "avx512bf16".
std::string_view isa_name(IsaLevel level);

/// What the processor and the operating system can run.
IsaLevel detected_isa();

/// Which level is used, and why: the detected one, or a lesser one that the environment variable
/// WARPLOOM_CPU_ISA names. A level that the machine lacks, or an unknown name, gives the detected
/// one, with a reason in `note`.
struct IsaChoice {
  IsaLevel level = IsaLevel::kGeneric;
  std::string note;
};

/// As above, from what the environment variable says (null if unset) and what was detected.
IsaChoice choose_isa(const char* requested, IsaLevel detected);

/// Chosen once, at the first call.
const IsaChoice& active_isa();

}  // namespace warploom::cpu
