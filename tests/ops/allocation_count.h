#pragma once
#include <cstdint>

namespace warploom::test {

/// How often operator new was called so far, in the whole program.
int64_t allocation_count();

}  // namespace warploom::test
