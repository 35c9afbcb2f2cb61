#include "core/codec/checksum.h"

#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <string_view>
#include <vector>

namespace gpubench {
namespace {

std::vector<std::byte> ascii_bytes(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

// RFC 3720, appendix B.4, and the check value of the catalogue of CRCs.
TEST(Crc32c, HasThePublishedValues) {
  std::vector<std::byte> counting(32);
  for (std::size_t i = 0; i < counting.size(); ++i) counting[i] = static_cast<std::byte>(i);
  const std::vector<std::byte> down(counting.rbegin(), counting.rend());
  for (const auto crc : {&crc32c, &crc32c_by_tables}) {
    EXPECT_EQ(crc(ascii_bytes("123456789")), 0xe3069283U);
    EXPECT_EQ(crc({}), 0U);
    EXPECT_EQ(crc(std::vector(32, std::byte{0})), 0x8a9136aaU);
    EXPECT_EQ(crc(std::vector(32, std::byte{0xff})), 0x62a8ab43U);
    EXPECT_EQ(crc(counting), 0x46dd794eU);
    EXPECT_EQ(crc(down), 0x113fdb5cU);
  }
}

TEST(Crc32c, IsTheSameByTablesAndByTheInstruction) {
  std::mt19937 random(1);
  std::vector<std::byte> bytes(300);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  for (std::size_t first = 0; first < 9; ++first) {
    for (std::size_t count = 0; count + first < bytes.size(); ++count) {
      const auto part = std::span(bytes).subspan(first, count);
      ASSERT_EQ(crc32c(part), crc32c_by_tables(part)) << first << " " << count;
    }
  }
}

}  // namespace
}  // namespace gpubench
