#include <gmock/gmock.h>

#include "core/base/error.h"
#include "core/telemetry/cupti/activity_tracer.h"

namespace gpubench {
namespace {

TEST(NoCupti, SaysWhatIsMissing) {
  EXPECT_THAT([] { ActivityTracer(); },
              ::testing::ThrowsMessage<Error>("tracing: gpubench was built without CUPTI; install the CUDA toolkit "
                                              "(cupti.h) and build again"));
}

}  // namespace
}  // namespace gpubench
