#include "core/codec/example.h"

#include <array>
#include <gmock/gmock.h>

#include "core/base/error.h"
#include "tests/core/codec/damage.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

// Serialized by TensorFlow 2.20 from a = [b"one"], b = [3, -1, 300], c = [1.5, -2.0].
const std::string from_tensorflow{
    "\x0a\x39\x0a\x0c\x0a\x01\x61\x12\x07\x0a\x05\x0a\x03\x6f\x6e\x65\x0a\x16\x0a\x01\x62\x12\x11\x1a\x0f"
    "\x0a\x0d\x03\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\xac\x02\x0a\x11\x0a\x01\x63\x12\x0c\x12\x0a\x0a\x08\x00\x00"
    "\xc0\x3f\x00\x00\x00\xc0",
    59};

TEST(Example, IsWrittenAsTensorFlowWritesIt) {
  EXPECT_EQ(encode_example({{"a", std::vector<std::string>{"one"}},
                            {"c", std::vector{1.5F, -2.0F}},
                            {"b", std::vector<std::int64_t>{3, -1, 300}}}),
            from_tensorflow);
}

TEST(Example, IsReadByName) {
  ExampleReader reader({"c", "none", "b", "a"});
  for (int round = 0; round < 2; ++round) {
    const auto features = reader.read(bytes_of(from_tensorflow));
    std::array<float, 3> floats{};
    EXPECT_EQ(features[0].read(floats), 2U);
    EXPECT_THAT(floats, ElementsAre(1.5F, -2.0F, 0.0F));
    EXPECT_TRUE(features[1].missing());
    std::array<std::int64_t, 2> ints{};
    EXPECT_EQ(features[2].read(ints), 3U);
    EXPECT_THAT(ints, ElementsAre(3, -1));
    std::span<const std::byte> name;
    EXPECT_EQ(features[3].read(std::span(&name, 1)), 1U);
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(name.data()), name.size()), "one");
  }
}

TEST(Example, TakesNumbersThatAreNotPacked) {
  const std::string floats("\x0a\x12\x0a\x10\x0a\x01\x78\x12\x0b\x12\x09\x0a\x00\x0d\x00\x00\xc0\x3f\x0a\x00", 20);
  std::array<float, 1> value{};
  EXPECT_EQ(ExampleReader({"x"}).read(bytes_of(floats))[0].read(value), 1U);
  EXPECT_EQ(value[0], 1.5F);
  const std::string ints("\x0a\x10\x0a\x0e\x0a\x01\x78\x12\x09\x1a\x07\x08\x05\x08\xac\x02\x0a\x00", 18);
  std::array<std::int64_t, 2> values{};
  EXPECT_EQ(ExampleReader({"x"}).read(bytes_of(ints))[0].read(values), 2U);
  EXPECT_THAT(values, ElementsAre(5, 300));
}

TEST(Example, SaysOfWhichKindAFeatureIs) {
  const FeatureView feature = ExampleReader({"b"}).read(bytes_of(from_tensorflow))[0];
  EXPECT_ERROR("holds int64 values, float32 was asked for", feature.read(std::span<float>{}));
}

TEST(Example, NamesTheByteThatIsDamaged) {
  const auto message = [](const std::string& bytes, const std::string& text) {
    EXPECT_ERROR(HasSubstr("no valid tf.train.Example: at byte " + text), ExampleReader({"x"}).read(bytes_of(bytes)));
  };
  message("\x0a\x05xx", "2: a field needs 5 bytes, 2 are left");
  message("\x0a", "1: a number does not end");
  message(std::string(11, '\xff'), "0: a number is longer than 64 bits");
  message("\x0b", "0: a field of kind 3");
  message("\x08\x01", "2: field 1 is no string or message");
  message("\x0d\x01", "1: a number needs 4 bytes, 1 are left");
  const std::string odd("\x0a\x0c\x0a\x0a\x0a\x01\x78\x12\x05\x12\x03\x0a\x01\x78", 14);
  EXPECT_ERROR(HasSubstr("at byte 13: packed floats end within a number"),
               ExampleReader({"x"}).read(bytes_of(odd))[0].read(std::span<float>{}));
}

TEST(Example, SurvivesAnyDamage) {
  std::mt19937 random(1);
  ExampleReader reader({"c", "b", "a"});
  for (int i = 0; i < 20000; ++i) {
    std::string bytes = from_tensorflow.substr(0, i % 4 == 0 ? random() % from_tensorflow.size() : std::string::npos);
    for (int count = 0; !bytes.empty() && count <= i % 3; ++count) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    try {
      const auto features = reader.read(bytes_of(bytes));
      std::array<float, 2> floats{};
      if (features[0].kind() == "float32") features[0].read(floats);
      std::array<std::int64_t, 3> ints{};
      if (features[1].kind() == "int64") features[1].read(ints);
      std::array<std::span<const std::byte>, 1> texts{};
      if (features[2].kind() == "bytes") features[2].read(texts);
    } catch (const Error&) {
      continue;
    }
  }
}

}  // namespace
}  // namespace gpubench
