#include "core/results/disk_reserve.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "tests/core/results/file_size_limit.h"
#include "tests/support/files.h"

namespace gpubench {
namespace {

TEST(DiskReserve, HasNoName) {
  const TemporaryDirectory directory;
  DiskReserve reserve(directory.path());
  EXPECT_EQ(reserve.hold(1 << 16), 0);
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
  reserve.release();
  EXPECT_EQ(reserve.hold(1 << 12), 0);
}

TEST(DiskReserve, HoldsNoMoreThanAFileMayHave) {
  const TemporaryDirectory directory;
  DiskReserve reserve(directory.path());
  const FileSizeLimit limit(1 << 13);
  EXPECT_EQ(reserve.hold(1 << 16), 0) << "more would be SIGXFSZ";
}

TEST(DiskReserve, NamesAFolderThatTakesNoFile) {
  EXPECT_THROW(DiskReserve("/nowhere"), Error);
}

}  // namespace
}  // namespace gpubench
