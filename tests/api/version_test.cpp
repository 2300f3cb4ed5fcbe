#include <gtest/gtest.h>
#include <warploom/version.h>

TEST(Version, IsThatOfTheHeader) {
  EXPECT_STREQ(warploom::version(), "0.1.0");
}
