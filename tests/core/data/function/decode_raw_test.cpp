#include "core/data/function/decode_raw.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/data/map/map.h"
#include "core/data/source/from_tensor_slices.h"
#include "tests/core/data/reading.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using testing::ElementsAre;

/// Two elements: 8 bytes that count up, and the number 7 beside them.
DatasetPtr strings() {
  HostTensor bytes(TensorType{{2, 8}, Dtype::u8});
  for (std::size_t i = 0; i < 16; ++i) bytes.values<std::uint8_t>()[i] = static_cast<std::uint8_t>(i);
  const std::vector<std::int64_t> sevens{7, 7};
  return from_tensor_slices({bytes, HostTensor::of<std::int64_t>({2}, sevens)});
}

Element first_of(const DatasetPtr& dataset) {
  Element element;
  EXPECT_TRUE(dataset->open()->next(element));
  return element;
}

TEST(DecodeRaw, MakesNumbersOfBytesAndHandsTheOthersOn) {
  const DatasetPtr dataset = map(strings(), decode_raw({{2, 2}, Dtype::i16}));
  EXPECT_EQ(to_string(dataset->element_types()), "(int16[2, 2], int64[])");
  const Element element = first_of(dataset);
  EXPECT_THAT(element[0].values<std::int16_t>(), ElementsAre(0x0100, 0x0302, 0x0504, 0x0706));
  EXPECT_EQ(element[1].values<std::int64_t>()[0], 7);
}

TEST(DecodeRaw, TakesAsMuchAsThereIs) {
  const DatasetPtr dataset = map(strings(), decode_raw({{varying, 2}, Dtype::i16}));
  EXPECT_EQ(to_string(dataset->element_types()), "(int16[?, 2], int64[])");
  EXPECT_EQ(first_of(dataset)[0].shape(), (Shape{2, 2}));
}

TEST(DecodeRaw, RefusesOtherNumbersOfBytes) {
  EXPECT_ERROR("decode_raw: 8 bytes are no float32[3], of which 12 are needed (element 1 of the epoch)",
               first_of(map(strings(), decode_raw({{3}, Dtype::f32}))));
  EXPECT_ERROR("decode_raw: 8 bytes are no int16[?, 3], of which multiples of 6 are needed (element 1 of the epoch)",
               first_of(map(strings(), decode_raw({{varying, 3}, Dtype::i16}))));
}

TEST(DecodeRaw, RefusesTypesThatCannotBe) {
  EXPECT_ERROR("decode_raw: bytes have no numbers; the first tensor is a string already",
               decode_raw({{}, Dtype::bytes}));
  EXPECT_ERROR("decode_raw: the shape [-1, -1] cannot be; one extent may be -1, for as much as there is",
               decode_raw({{varying, varying}, Dtype::u8}));
  EXPECT_ERROR("decode_raw: the shape [-2] cannot be; one extent may be -1, for as much as there is",
               decode_raw({{-2}, Dtype::u8}));
  EXPECT_ERROR(
      "decode_raw: takes elements that start with a byte string, uint8[?]; these are "
      "(int64[], float32[2])",
      map(numbers(2), decode_raw({{2}, Dtype::u8})));
}

}  // namespace
}  // namespace gpubench
