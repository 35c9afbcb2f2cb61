
#include "core/telemetry/cupti/activity_tracer.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

TEST(NoCupti, SaysWhatIsMissing) {
  EXPECT_ERROR(
      "tracing: gpubench was built without CUPTI; install the CUDA toolkit "
      "(cupti.h) and build again",
      ActivityTracer());
}

}  // namespace
}  // namespace gpubench
