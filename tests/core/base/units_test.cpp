#include "core/base/units.h"

#include <gtest/gtest.h>

namespace gpubench {
namespace {

TEST(Units, BytesTakeBinaryPrefixes) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1536), "1.5 KiB");
  EXPECT_EQ(format_bytes(80.0 * (1 << 20)), "80 MiB");
}

TEST(Units, SecondsKeepThreeDigits) {
  EXPECT_EQ(format_seconds(0), "0 s");
  EXPECT_EQ(format_seconds(1.234e-5), "12.3 µs");
  EXPECT_EQ(format_seconds(0.25), "250 ms");
  EXPECT_EQ(format_seconds(90), "1.5 min");
}

TEST(Units, HugeNumbersAreShort) {
  EXPECT_EQ(format_seconds(1e308), "2.78e+304 h");
  EXPECT_EQ(format_seconds(-1e308), "-2.78e+304 h");
  EXPECT_EQ(format_bytes(1e308), "8.88e+292 PiB");
  EXPECT_EQ(format_si(1e300), "1e+285 P");
}

TEST(Units, CountsAreGrouped) {
  EXPECT_EQ(format_count(7), "7");
  EXPECT_EQ(format_count(-1234567), "-1 234 567");
  EXPECT_EQ(format_si(4.35e11), "435 G");
  EXPECT_EQ(format_si(12), "12");
}

}  // namespace
}  // namespace gpubench
