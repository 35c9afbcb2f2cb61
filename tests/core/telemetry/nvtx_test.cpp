#include "core/telemetry/nvtx.h"

#include <gtest/gtest.h>

namespace gpubench {
namespace {

TEST(Nvtx, RangesNestWithoutAProfiler) {
  const NvtxRange step("step");
  EXPECT_NO_THROW(NvtxRange("kernel"));
}

}  // namespace
}  // namespace gpubench
