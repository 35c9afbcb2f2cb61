#include "core/data/stage/scan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/data/map/map.h"
#include "core/data/source/range.h"
#include "core/data/stage/by_position.h"
#include "core/data/stage/ignore_errors.h"
#include "core/data/stage/repeat.h"
#include "tests/core/data/functions.h"
#include "tests/core/data/reading.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using testing::ElementsAre;

Element number_state(std::int64_t number) {
  return {HostTensor::scalar(number)};
}

std::vector<std::int64_t> numbers_of(const DatasetPtr& dataset) {
  std::vector<std::int64_t> found;
  const std::unique_ptr<Cursor> cursor = dataset->open();
  for (Element element; cursor->next(element);) found.push_back(element.front().values<std::int64_t>()[0]);
  return found;
}

TEST(Scan, PassesTheStateOn) {
  const DatasetPtr sums = scan(range(1, 6), number_state(100), running_sum());
  EXPECT_THAT(numbers_of(sums), ElementsAre(101, 103, 106, 110, 115));
  EXPECT_THAT(numbers_of(sums), ElementsAre(101, 103, 106, 110, 115));  // every epoch begins anew
  EXPECT_EQ(sums->size(), 5);
  EXPECT_THAT(numbers_of(repeat(scan(range(1, 3), number_state(0), running_sum()), 2)), ElementsAre(1, 3, 1, 3));
  EXPECT_THAT(numbers_of(skip(sums, 3)), ElementsAre(110, 115));
  EXPECT_THAT(numbers_of(scan(range(0, 0), number_state(0), running_sum())), ElementsAre());
}

TEST(Scan, AnElementThatFailsLeavesTheState) {
  const DatasetPtr sums = scan(range(12, 15), number_state(0), running_sum(false, 13));
  EXPECT_ERROR("13 is not added (element 2 of the epoch)", numbers_of(sums));
  EXPECT_THAT(numbers_of(ignore_errors(sums)), ElementsAre(12, 26));
}

TEST(Scan, RefusesFunctionsThatKeepNoState) {
  EXPECT_ERROR(
      "scan: the function gives (int64[], int64[]); it gives the new state first, which is of (float32[]) as the "
      "initial one",
      scan(range(0, 3), {HostTensor::scalar(0.0F)}, running_sum()));
  EXPECT_ERROR("scan: the function gives the new state alone; it gives the new element's tensors behind it",
               scan(range(0, 3), number_state(0), running_sum(true)));
}

TEST(Reduce, GivesTheStateBehindTheLastElement) {
  const auto reduced = [](const DatasetPtr& source) {
    return reduce(*source, number_state(1), running_sum(true, 13)).front().values<std::int64_t>()[0];
  };
  EXPECT_EQ(reduced(range(0, 5)), 11);
  EXPECT_EQ(reduced(range(0, 0)), 1);
  EXPECT_EQ(reduced(map(range(0, 100), modulo(2), {.workers = 2})), 51);
  EXPECT_ERROR("13 is not added (element 14 of the epoch)", reduced(range(0, 20)));
}

TEST(Reduce, RefusesWhatNeverEndsAndOtherFunctions) {
  EXPECT_ERROR("reduce: the dataset never ends; use take",
               reduce(*range(0, endless), number_state(0), running_sum(true)));
  EXPECT_ERROR("reduce: the function gives (int64[], int64[]); it gives the new state alone, which is of (int64[])",
               reduce(*range(0, 3), number_state(0), running_sum()));
}

}  // namespace
}  // namespace gpubench
