#include <gtest/gtest.h>

#include <cstdlib>

#include "stores/worker_tasks.h"

int main(int argc, char** argv) {
  if (const char* task = std::getenv("WARPLOOM_STORE_WORKER")) return warploom::test::do_task(task);
  // Workers have stores of their own; this process has none, whoever runs it.
  ::setenv("WARPLOOM_CACHE", "off", 1);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
