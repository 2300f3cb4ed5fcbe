#include <gtest/gtest.h>

#include "engines/cpu/isa/isa.h"
#include "engines/cpu/kernels/kernel_table.h"

namespace warploom::cpu {
namespace {

TEST(IsaTest, UsesWhatWasDetected) {
  for (const char* unset : {static_cast<const char*>(nullptr), ""}) {
    EXPECT_EQ(choose_isa(unset, IsaLevel::kAvx2).level, IsaLevel::kAvx2);
  }
}

TEST(IsaTest, EnvironmentForcesALesserLevel) {
  EXPECT_EQ(choose_isa("generic", IsaLevel::kAvx512Bf16).level, IsaLevel::kGeneric);
  EXPECT_EQ(choose_isa("avx2", IsaLevel::kAvx512).level, IsaLevel::kAvx2);
  EXPECT_EQ(choose_isa("avx512bf16", IsaLevel::kAvx512Bf16).level, IsaLevel::kAvx512Bf16);
}

TEST(IsaTest, LevelThatTheMachineLacksFallsBackWithAReason) {
  const IsaChoice choice = choose_isa("avx512", IsaLevel::kAvx2);
  EXPECT_EQ(choice.level, IsaLevel::kAvx2);
  EXPECT_NE(choice.note.find("no avx512"), std::string::npos) << choice.note;
  const IsaChoice unknown = choose_isa("sse9", IsaLevel::kAvx2);
  EXPECT_EQ(unknown.level, IsaLevel::kAvx2);
  EXPECT_NE(unknown.note.find("unknown level"), std::string::npos) << unknown.note;
}

TEST(IsaTest, DetectionAgreesWithTheCompiler) {
#if defined(__x86_64__)
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  EXPECT_EQ(detected_isa() >= IsaLevel::kAvx2, avx2);
  EXPECT_EQ(detected_isa() >= IsaLevel::kAvx512,
            avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"));
#endif
}

TEST(IsaTest, TablesAreComplete) {
  for (IsaLevel level :
       {IsaLevel::kGeneric, IsaLevel::kAvx2, IsaLevel::kAvx512, IsaLevel::kAvx512Bf16}) {
    if (level > detected_isa()) continue;
    const KernelTable& table = kernel_table(level);
    EXPECT_EQ(table.level, level);
    EXPECT_TRUE(table.gemm_float && table.gemm_int16 && table.gemm_double);
    EXPECT_EQ(static_cast<bool>(table.gemm_bfloat16), level == IsaLevel::kAvx512Bf16);
    EXPECT_NE(table.run_tile, nullptr);
    EXPECT_NE(table.convert, nullptr);
  }
}

}  // namespace
}  // namespace warploom::cpu
