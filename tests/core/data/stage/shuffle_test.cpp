#include "core/data/stage/shuffle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/data/stage/by_position.h"
#include "core/data/stage/repeat.h"
#include "tests/core/data/reading.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using testing::UnorderedElementsAreArray;

class Shuffle : public testing::TestWithParam<bool> {
 protected:
  /// Both ways: over row numbers and over elements.
  static DatasetPtr source(std::int64_t count) { return GetParam() ? numbers(count) : opaque(numbers(count)); }
};
INSTANTIATE_TEST_SUITE_P(Ways, Shuffle, testing::Bool(),
                         [](const auto& way) { return way.param ? "Rows" : "Elements"; });

TEST_P(Shuffle, GivesEveryElementOnce) {
  for (const std::int64_t buffer : {1, 2, 7, 100, 1000, 5000}) {
    const std::vector<std::int64_t> order = read(shuffle(source(1000), {.buffer = buffer, .seed = 3}));
    EXPECT_THAT(order, UnorderedElementsAreArray(counting(0, 1000))) << "buffer " << buffer;
    EXPECT_EQ(order == counting(0, 1000), buffer == 1) << "buffer " << buffer;
  }
}

TEST_P(Shuffle, NoElementComesEarlierThanTheBufferAllows) {
  const std::vector<std::int64_t> order = read(shuffle(source(500), {.buffer = 10, .seed = 3}));
  for (std::size_t i = 0; i < order.size(); ++i) EXPECT_LT(order[i], static_cast<std::int64_t>(i) + 10);
}

TEST_P(Shuffle, SameSeedSameOrder) {
  const DatasetPtr dataset = shuffle(source(300), {.buffer = 50, .seed = 7});
  EXPECT_EQ(read(dataset, 4), read(dataset, 4));
  EXPECT_EQ(read(dataset, 4), read(shuffle(source(300), {.buffer = 50, .seed = 7}), 4));
  EXPECT_NE(read(dataset, 4), read(shuffle(source(300), {.buffer = 50, .seed = 8}), 4));
}

TEST_P(Shuffle, ReshufflesEachEpochUnlessToldNotTo) {
  const DatasetPtr reshuffled = shuffle(source(300), {.buffer = 300, .seed = 7});
  EXPECT_NE(read(reshuffled, 0), read(reshuffled, 1));
  const DatasetPtr fixed = shuffle(source(300), {.buffer = 300, .seed = 7, .reshuffle_each_iteration = false});
  EXPECT_EQ(read(fixed, 0), read(fixed, 1));
  EXPECT_EQ(read(fixed, 0), read(reshuffled, 0));
}

TEST_P(Shuffle, RepeatDrawsANewOrderEachTime) {
  const std::vector<std::int64_t> order = read(repeat(shuffle(source(100), {.buffer = 100, .seed = 1}), 2));
  const std::vector<std::int64_t> first(order.begin(), order.begin() + 100);
  const std::vector<std::int64_t> second(order.begin() + 100, order.end());
  EXPECT_THAT(first, UnorderedElementsAreArray(second));
  EXPECT_NE(first, second);
}

TEST_P(Shuffle, TellsHowFullItsWindowIs) {
  const std::unique_ptr<Cursor> cursor = shuffle(source(12), {.buffer = 10, .seed = 1})->open();
  Element element;
  cursor->next(element);
  EXPECT_EQ(cursor->statistics().back().buffered, 10);
  EXPECT_EQ(cursor->statistics().back().capacity, 10);
  for (int i = 0; i < 6; ++i) cursor->next(element);
  EXPECT_EQ(cursor->statistics().back().buffered, 5);
}

TEST(ShuffleWays, GiveTheSameOrder) {
  const ShuffleOptions options{.buffer = 40, .seed = 5};
  EXPECT_EQ(read(shuffle(numbers(300), options)), read(shuffle(opaque(numbers(300)), options)));
}

TEST(ShuffleDraws, AreUniform) {
  constexpr std::int64_t elements = 8;
  constexpr int epochs = 8000;
  std::vector<int> first_is(elements);
  const DatasetPtr dataset = take(shuffle(numbers(elements), {.buffer = elements, .seed = 11}), 1);
  for (int epoch = 0; epoch < epochs; ++epoch) ++first_is[static_cast<std::size_t>(read(dataset, epoch).front())];
  // 1000 each are expected; 5 standard deviations are 148.
  for (const int count : first_is) EXPECT_NEAR(count, epochs / elements, 148);
}

TEST(ShuffleOptionsCheck, RefusesAnEmptyBuffer) {
  EXPECT_ERROR("shuffle: a buffer of 0 elements; at least 1 is needed", shuffle(numbers(3), {.buffer = 0}));
}

}  // namespace
}  // namespace gpubench
