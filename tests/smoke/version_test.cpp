#include <gtest/gtest.h>
#include <warploom/version.h>

TEST(Smoke, LibraryLoads) {
  EXPECT_STREQ(warploom::version(), "0.1.0");
}
