#include "core/codec/idx.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "tests/core/codec/damage.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Idx : public TemporaryFolder {
 protected:
  static std::string header(std::uint32_t code, const std::vector<std::uint32_t>& extents) {
    std::string bytes = big((code << 8) | static_cast<std::uint32_t>(extents.size()));
    for (const std::uint32_t extent : extents) bytes += big(extent);
    return bytes;
  }
  /// uint8[2, 3] of 1 to 6.
  static std::string small() { return header(0x08, {2, 3}) + "\1\2\3\4\5\6"; }
};

TEST_F(Idx, ReadsPlainAndGzip) {
  for (const bool gzip : {false, true}) {
    const HostTensor tensor = read_idx(write("small", gzip ? compressed(small()) : small()));
    EXPECT_EQ(to_string(tensor.type()), "uint8[2, 3]");
    EXPECT_THAT(tensor.values<std::uint8_t>(), ElementsAre(1, 2, 3, 4, 5, 6));
  }
}

TEST_F(Idx, TurnsBigEndianElements) {
  EXPECT_THAT(
      read_idx(write("i16", header(0x0b, {2}) + big<std::int16_t>(-2) + big<std::int16_t>(300))).values<std::int16_t>(),
      ElementsAre(-2, 300));
  EXPECT_THAT(read_idx(write("i32", header(0x0c, {1}) + big<std::int32_t>(-70000))).values<std::int32_t>(),
              ElementsAre(-70000));
  EXPECT_THAT(read_idx(write("f32", header(0x0d, {1}) + big(1.5F))).values<float>(), ElementsAre(1.5F));
}

TEST_F(Idx, ReadsAnEmptyArray) {
  EXPECT_EQ(to_string(read_idx(write("none", header(0x08, {0, 28}))).type()), "uint8[0, 28]");
}

TEST_F(Idx, NamesAMissingFile) {
  EXPECT_ERROR(file("absent").string() + ": cannot be opened: No such file or directory", read_idx(file("absent")));
  EXPECT_ERROR(HasSubstr("is not a regular file"), read_idx(file("")));
  ASSERT_EQ(::mkfifo(file("pipe").c_str(), 0600), 0);
  EXPECT_ERROR(HasSubstr("is not a regular file"), read_idx(file("pipe")));
}

TEST_F(Idx, NamesWhatIsCutShort) {
  const std::filesystem::path path = write("short", small().substr(0, 15));
  EXPECT_ERROR(path.string() +
                   ": the file is cut short: uint8[2, 3] needs 6 bytes, the file has 3 at "
                   "most after byte 12",
               read_idx(path));
  EXPECT_ERROR(HasSubstr("the file is cut short: extent 1 of 2 needs 4 bytes, 2 of them are missing "
                         "after byte 6"),
               read_idx(write("header", small().substr(0, 6))));
  EXPECT_ERROR(HasSubstr("an IDX header needs 4 bytes"), read_idx(write("empty", "")));
  const std::string packed = compressed(small());
  EXPECT_ERROR(HasSubstr("short.gz: the compressed data is cut short"),
               read_idx(write("short.gz", packed.substr(0, packed.size() - 9))));
}

TEST_F(Idx, NamesWhatIsDamaged) {
  EXPECT_ERROR(HasSubstr("text: no IDX file: it starts with 0x68656c6c"), read_idx(write("text", "hello, world")));
  EXPECT_ERROR(HasSubstr("f64: IDX element type 0x0e is not supported (known: 0x08 uint8"),
               read_idx(write("f64", header(0x0e, {1}) + big(1.0))));
  std::string packed = compressed(small());
  packed[packed.size() - 6] = static_cast<char>(packed[packed.size() - 6] ^ 1);  // in the CRC
  EXPECT_ERROR(HasSubstr("crc.gz: the compressed data is damaged: incorrect data check"),
               read_idx(write("crc.gz", packed)));
}

TEST_F(Idx, RefusesBytesAfterTheEnd) {
  EXPECT_ERROR(HasSubstr("long: bytes follow after uint8[2, 3], which ends at byte 18"),
               read_idx(write("long", small() + "x")));
  EXPECT_ERROR(HasSubstr("bytes follow after uint8[2, 3]"), read_idx(write("long.gz", compressed(small() + "x"))));
  EXPECT_ERROR(HasSubstr("bytes follow after the end of the compressed data"),
               read_idx(write("garbage.gz", compressed(small()) + "x")));
}

TEST_F(Idx, RefusesSizesThatNoFileHolds) {
  EXPECT_ERROR(HasSubstr("is too large for any memory"),
               read_idx(write("huge", header(0x08, {0xffffffff, 0xffffffff, 0xffffffff}))));
  EXPECT_ERROR(HasSubstr("the file is cut short: uint8[4294967295, 1000] needs"),
               read_idx(write("huge.gz", compressed(header(0x08, {0xffffffff, 1000})))));
}

TEST_F(Idx, RefusesToUnpackFarMoreThanTheFileHolds) {
  std::string noise(std::size_t{2} << 20, '\0');
  std::uint32_t state = 1;
  for (char& byte : noise) byte = static_cast<char>((state = state * 1664525 + 1013904223) >> 24U);
  const std::string packed = compressed(header(0x08, {1500, 1'000'000}) + noise);
  EXPECT_ERROR(HasSubstr("bomb.gz: uint8[1500, 1000000] of 1500000000 bytes is unpacked from a file "
                         "that is far smaller; at most 1073741824 bytes are"),
               read_idx(write("bomb.gz", packed)));
}

TEST_F(Idx, ChecksTheExpectedType) {
  const std::filesystem::path path = write("small", small());
  EXPECT_EQ(read_idx(path, {{-1, 3}, Dtype::u8}).shape()[0], 2);
  EXPECT_ERROR(path.string() + ": holds uint8[2, 3]; uint8[any, 28, 28] is expected",
               read_idx(path, {{-1, 28, 28}, Dtype::u8}));
}

TEST_F(Idx, SeveralGzipMembersAreOneFile) {
  const std::string bytes = small();
  const std::string packed = compressed(bytes.substr(0, 5)) + compressed(bytes.substr(5));
  EXPECT_THAT(read_idx(write("two.gz", packed)).values<std::uint8_t>(), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST_F(Idx, SurvivesAnyDamage) {
  const auto decode = [](const std::string& bytes) {
    ByteSpanSource source("memory", std::as_bytes(std::span(bytes)));
    decode_idx(source);
  };
  expect_error_or_success_when_damaged(small(), decode);
  const auto decode_gzip = [](const std::string& bytes) {
    InflateSource source(std::make_unique<ByteSpanSource>("memory", std::as_bytes(std::span(bytes))));
    decode_idx(source);
  };
  expect_error_or_success_when_damaged(compressed(small()), decode_gzip);
}

}  // namespace
}  // namespace gpubench
