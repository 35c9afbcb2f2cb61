#include "core/data/source/synthetic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

#include "core/data/stage/batch.h"
#include "core/data/stage/by_position.h"
#include "tests/core/data/reading.h"
#include "tests/core/data/texts.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using testing::Each;

DatasetPtr images(bool resident, std::int64_t count = 10) {
  return synthetic(
      {.types = {{{3, 5}, Dtype::f32}, {{}, Dtype::i64}}, .count = count, .resident = resident, .seed = 7});
}

TEST(Synthetic, DrawsEveryElementAnewAndTheSameForTheSameEpoch) {
  const DatasetPtr dataset = images(false);
  const std::vector<std::string> first = bytes_of(dataset, 0);
  EXPECT_EQ(first.size(), 10U);
  EXPECT_EQ(std::set(first.begin(), first.end()).size(), 10U);
  EXPECT_EQ(bytes_of(dataset, 0), first);
  EXPECT_NE(bytes_of(dataset, 1), first);
  EXPECT_EQ(bytes_of(batch(dataset, 1), 0), first);
}

TEST(Synthetic, HandsResidentElementsOutAgain) {
  const DatasetPtr dataset = images(true);
  EXPECT_FALSE(dataset->open()->tables().empty());
  const std::vector<std::string> first = bytes_of(dataset, 0);
  EXPECT_EQ(bytes_of(dataset, 1), first);
  EXPECT_EQ(bytes_of(batch(dataset, 1), 0), first);
  EXPECT_EQ(images(true, endless)->size(), endless);
}

TEST(Synthetic, KeepsNoMoreThanItsLimitResident) {
  const DatasetPtr dataset = synthetic({.types = {{{1 << 20, 10}, Dtype::f32}}});
  const std::unique_ptr<Cursor> cursor = dataset->open();
  EXPECT_EQ(cursor->tables()[0].shape()[0], 1);
  Element a, b;
  ASSERT_TRUE(cursor->next(a) && cursor->next(b));
  EXPECT_EQ(a[0].data(), b[0].data());
}

TEST(Synthetic, ValuesAreInTheirRanges) {
  const DatasetPtr dataset = synthetic({.types = {{{1001}, Dtype::f32},
                                                  {{1001}, Dtype::f16},
                                                  {{1001}, Dtype::bf16},
                                                  {{1001}, Dtype::i64},
                                                  {{1001}, Dtype::i32},
                                                  {{1001}, Dtype::i16},
                                                  {{1001}, Dtype::i8},
                                                  {{1001}, Dtype::u8},
                                                  {{1001}, Dtype::boolean}},
                                        .count = 1,
                                        .resident = false,
                                        .classes = 3});
  const std::unique_ptr<Cursor> cursor = dataset->open();
  Element element;
  ASSERT_TRUE(cursor->next(element));
  EXPECT_THAT(element[0].values<float>(), Each(testing::AllOf(testing::Ge(0.0F), testing::Lt(1.0F))));
  EXPECT_THAT(element[3].values<std::int64_t>(), Each(testing::AnyOf(0, 1, 2)));
  EXPECT_THAT(element[6].values<std::int8_t>(), Each(testing::AnyOf(0, 1, 2)));
  const auto labels = element[4].values<std::int32_t>();
  EXPECT_EQ(std::set(labels.begin(), labels.end()).size(), 3U);
  const auto bytes = element[7].values<std::uint8_t>();
  EXPECT_GT(std::set(bytes.begin(), bytes.end()).size(), 200U);
  for (std::size_t i = 0; i < 1001; ++i) EXPECT_LE(static_cast<int>(element[8].data()[i]), 1);
}

TEST(Synthetic, RefusesWhatCannotBeDrawn) {
  EXPECT_ERROR("synthetic: no types given; at least one is needed", synthetic({}));
  EXPECT_ERROR("synthetic: (float32[?]) has an extent that varies; give it a number",
               synthetic({.types = {{{varying}, Dtype::f32}}}));
  EXPECT_ERROR("synthetic: a count of 0; at least 1 is needed", synthetic({.types = {{{1}, Dtype::f32}}, .count = 0}));
  EXPECT_ERROR("synthetic: 0 classes; 1 to 2147483647 are possible",
               synthetic({.types = {{{1}, Dtype::i64}}, .classes = 0}));
  EXPECT_ERROR("synthetic: no random values of bytes", synthetic({.types = {{{1}, Dtype::bytes}}}));
}

}  // namespace
}  // namespace gpubench
