#pragma once

#include <gtest/gtest.h>

#include <iostream>
#include <string>
#include <vector>

#include "engines/cpu/isa/isa.h"
#include "engines/cpu/kernels/kernel_table.h"

namespace warploom::cpu {

/// The levels that this machine can run; the one that WARPLOOM_CPU_ISA names, if it is set.
inline std::vector<IsaLevel> find_runnable_levels() {
  std::vector<IsaLevel> levels;
  const char* requested = std::getenv("WARPLOOM_CPU_ISA");
  for (IsaLevel level :
       {IsaLevel::kGeneric, IsaLevel::kAvx2, IsaLevel::kAvx512, IsaLevel::kAvx512Bf16}) {
    if (requested != nullptr && isa_name(level) != requested) continue;
    if (level <= detected_isa()) {
      levels.push_back(level);
    } else {
      std::cout << "This machine cannot run " << isa_name(level) << ": not tested\n";
    }
  }
  return levels;
}

inline const std::vector<IsaLevel>& runnable_levels() {
  static const std::vector<IsaLevel> levels = find_runnable_levels();
  return levels;
}

/// One test for each level: TEST_P(Fixture, Name) with `table()`.
class KernelTest : public testing::TestWithParam<IsaLevel> {
 protected:
  const KernelTable& table() const { return kernel_table(GetParam()); }
};

inline std::string level_test_name(const testing::TestParamInfo<IsaLevel>& info) {
  return std::string(isa_name(info.param));
}

#define WARPLOOM_KERNEL_TESTS(Fixture)                    \
  GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Fixture); \
  INSTANTIATE_TEST_SUITE_P(Levels, Fixture, testing::ValuesIn(runnable_levels()), level_test_name)

}  // namespace warploom::cpu
