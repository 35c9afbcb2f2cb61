#include "core/data/stage/unique.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/data/map/map.h"
#include "core/data/source/range.h"
#include "core/data/stage/repeat.h"
#include "tests/core/data/functions.h"
#include "tests/core/data/ragged.h"
#include "tests/core/data/reading.h"
#include "tests/core/data/texts.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

TEST(Unique, KeepsTheFirstOfEqualElements) {
  const DatasetPtr dataset = unique(map(range(5, 40), modulo(7)));
  for (int epoch = 0; epoch < 2; ++epoch) {
    std::vector<std::int64_t> found;
    const std::unique_ptr<Cursor> cursor = dataset->open();
    for (Element element; cursor->next(element);) found.push_back(element.front().values<std::int64_t>()[0]);
    EXPECT_THAT(found, testing::ElementsAre(5, 6, 0, 1, 2, 3, 4));
  }
  EXPECT_EQ(dataset->size(), std::nullopt);
}

TEST(Unique, ByteStringsOfOtherLengthsDiffer) {
  EXPECT_EQ(bytes_of(unique(repeat(ragged(6), 2)), 0), bytes_of(ragged(6), 0));
}

TEST(Unique, RefusesWhatCannotBeCompared) {
  EXPECT_ERROR("unique: elements are one tensor of integers or a byte string (uint8[?]), got (int64[], float32[2])",
               unique(numbers(3)));
}

}  // namespace
}  // namespace gpubench
