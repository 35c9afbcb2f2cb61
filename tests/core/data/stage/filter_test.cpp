#include "core/data/stage/filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/data/stage/batch.h"
#include "core/data/stage/by_position.h"
#include "core/data/stage/ignore_errors.h"
#include "core/data/stage/repeat.h"
#include "core/data/stage/shuffle.h"
#include "tests/core/data/functions.h"
#include "tests/core/data/reading.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using testing::ElementsAre;

std::shared_ptr<Predicate> even(std::int64_t block = 1) {
  return std::make_shared<Predicate>([](std::int64_t number) { return number % 2 == 0; }, block);
}

TEST(Filter, KeepsWhatPasses) {
  for (const DatasetPtr& source : {numbers(200), opaque(numbers(200))}) {
    const DatasetPtr dataset = filter(source, even());
    const std::vector<std::int64_t> found = read(dataset);
    ASSERT_EQ(found.size(), 100U);
    for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(found[i], 2 * static_cast<std::int64_t>(i));
    EXPECT_EQ(read(batch(dataset, 7)), found);
    EXPECT_THAT(read(shuffle(dataset, {.buffer = 200})), testing::UnorderedElementsAreArray(found));
    EXPECT_EQ(dataset->size(), std::nullopt);
  }
}

TEST(Filter, NothingMayPass) {
  const auto none = std::make_shared<Predicate>([](std::int64_t) { return false; });
  EXPECT_THAT(read(filter(numbers(200), none)), ElementsAre());
  EXPECT_THAT(read(filter(opaque(numbers(200)), none)), ElementsAre());
}

TEST(Filter, AsksAboutNeighbouringRowsTogether) {
  const auto predicate = even(50);
  EXPECT_EQ(read(filter(numbers(200), predicate)).size(), 100U);
  EXPECT_LE(predicate->runs(), 8);
  const auto shuffled = even(50);
  EXPECT_EQ(read(filter(shuffle(numbers(200), {.buffer = 200}), shuffled)).size(), 100U);
}

TEST(Filter, AnEndlessSourceIsReadNoFurtherThanNeeded) {
  EXPECT_THAT(read(take(filter(repeat(numbers(3)), even()), 3)), ElementsAre(0, 2, 0));
}

TEST(Filter, ErrorsOfTheFunctionPass) {
  const auto fails = std::make_shared<Predicate>([](std::int64_t number) -> bool {
    if (number == 5) throw Error("number 5");
    return true;
  });
  for (const DatasetPtr& source : {numbers(9), opaque(numbers(9))}) {
    EXPECT_ERROR("number 5 (element 6 of the epoch)", read(filter(source, fails)));
  }
}

TEST(TakeWhile, EndsBeforeTheFirstThatDoesNotPass) {
  const auto below = std::make_shared<Predicate>([](std::int64_t number) { return number % 100 < 70; }, 50);
  for (const DatasetPtr& source : {numbers(200), opaque(numbers(200))}) {
    const DatasetPtr dataset = take_while(source, below);
    EXPECT_EQ(read(dataset), counting(0, 70));
    EXPECT_EQ(read(batch(dataset, 7)), counting(0, 70));
    EXPECT_EQ(dataset->size(), std::nullopt);
    const std::unique_ptr<Cursor> cursor = dataset->open();
    EXPECT_EQ(cursor->skip(1000), 70);
    Element element;
    EXPECT_FALSE(cursor->next(element));
    EXPECT_FALSE(cursor->next(element));
  }
  EXPECT_EQ(read(take_while(repeat(numbers(99)), below)), counting(0, 70));
  const auto none = std::make_shared<Predicate>([](std::int64_t) { return false; });
  EXPECT_THAT(read(take_while(numbers(9), none)), ElementsAre());
}

TEST(TakeWhile, AnErrorOfTheFunctionEndsNothing) {
  const auto fails = std::make_shared<Predicate>(
      [](std::int64_t number) -> bool {
        if (number == 5) throw Error("number 5");
        return number < 8;
      },
      4);
  for (const DatasetPtr& source : {numbers(12), opaque(numbers(12))}) {
    EXPECT_THAT(read(ignore_errors(take_while(source, fails))), ElementsAre(0, 1, 2, 3, 4, 6, 7));
  }
  EXPECT_ERROR(testing::HasSubstr("take_while: the function gives (int64[], float32[2]); one bool[] is needed"),
               take_while(numbers(3), std::make_shared<Identity>()));
}

TEST(Filter, RefusesAFunctionThatGivesNoBool) {
  EXPECT_ERROR(
      "filter: the function gives (int64[], float32[2]); one bool[] is needed, whether to "
      "keep the element",
      filter(numbers(3), std::make_shared<Identity>()));
}

}  // namespace
}  // namespace gpubench
