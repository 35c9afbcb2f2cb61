#include "core/data/stage/zip.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/data/stage/by_position.h"
#include "tests/core/data/reading.h"

namespace gpubench {
namespace {

TEST(Zip, JoinsElementsUpToTheShortest) {
  const DatasetPtr dataset = zip({numbers(5), take(numbers(9), 3)});
  EXPECT_EQ(dataset->size(), 3);
  EXPECT_EQ(to_string(dataset->element_types()), "(int64[], float32[2], int64[], float32[2])");
  EXPECT_EQ(read(dataset), counting(0, 3));
  EXPECT_EQ(describe(*dataset), "(from_tensor_slices, from_tensor_slices > take(count=3)) > zip");
}

TEST(Zip, RefusesNoSources) {
  EXPECT_THAT([] { zip({}); }, testing::ThrowsMessage<Error>("zip: no datasets given; at least one is needed"));
}

}  // namespace
}  // namespace gpubench
