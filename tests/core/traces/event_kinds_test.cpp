#include "core/traces/event_kinds.h"

#include <gtest/gtest.h>

namespace gpubench {
namespace {

TEST(CopyPaths, HaveTheNamesOfAllProfilers) {
  EXPECT_EQ(path_of_copy("MemcpyH2D"), CopyPath::host_to_device);
  EXPECT_EQ(path_of_copy("CopyHostToDevice"), CopyPath::host_to_device);
  EXPECT_EQ(path_of_copy("CopyDeviceToHost"), CopyPath::device_to_host);
  EXPECT_EQ(path_of_copy("CopyDeviceToDevice"), CopyPath::within_device);
  EXPECT_EQ(path_of_copy("gemm"), CopyPath::unknown);
}

}  // namespace
}  // namespace gpubench
