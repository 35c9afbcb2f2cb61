#include "core/data/stage/unbatch.h"

#include <gtest/gtest.h>

#include "core/data/source/range.h"
#include "core/data/stage/batch.h"
#include "core/data/stage/combine.h"
#include "tests/core/data/ragged.h"
#include "tests/core/data/reading.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

TEST(Unbatch, UndoesABatch) {
  for (const DatasetPtr& source : {numbers(10), opaque(numbers(10))}) {
    EXPECT_EQ(read(unbatch(batch(source, 4))), counting(0, 10));
    EXPECT_EQ(read(batch(unbatch(batch(source, 4)), 3)), counting(0, 10));
  }
  EXPECT_EQ(unbatch(batch(numbers(10), 5))->size(), 10);
  EXPECT_EQ(unbatch(batch(numbers(10), 4))->size(), std::nullopt);
  EXPECT_EQ(to_string(unbatch(batch(numbers(10), 4))->element_types()), "(int64[], float32[2])");
}

TEST(Unbatch, ElementsAreViewsOfTheBatch) {
  const std::unique_ptr<Cursor> cursor = unbatch(batch(numbers(4), 4))->open();
  Element a, b;
  ASSERT_TRUE(cursor->next(a) && cursor->next(b));
  EXPECT_EQ(a[1].data() + a[1].bytes(), b[1].data());
}

TEST(Unbatch, PassesOverWholeBatches) {
  const std::unique_ptr<Cursor> cursor = unbatch(batch(numbers(12), 4))->open();
  EXPECT_EQ(cursor->skip(9), 9);
  EXPECT_EQ(read(*cursor), counting(9, 12));
  EXPECT_EQ(unbatch(batch(numbers(10), 4))->open()->skip(100), 10);
}

TEST(Unbatch, RefusesWhatHasNoRows) {
  EXPECT_ERROR("unbatch: int64[] is a scalar and has no rows", unbatch(numbers(3)));
  EXPECT_ERROR("unbatch: first extents differ: (int64[2], int64[4])",
               unbatch(zip({batch(range(0, 4), 2), batch(range(0, 4), 4)})));
  const DatasetPtr uneven = unbatch(zip({ragged(3), batch(range(0, 9), 2)}));
  EXPECT_ERROR("unbatch: an element has uint8[1] with 1 rows and int64[2] with 2", read(uneven));
}

}  // namespace
}  // namespace gpubench
