#include "core/telemetry/proc/core_rate.h"

#include <gmock/gmock.h>

#include "core/telemetry/proc/contention.h"

namespace gpubench {
namespace {

using ::testing::AllOf;
using ::testing::Ge;
using ::testing::Le;
using ::testing::Optional;

TEST(CoreRate, OfOneProcessorIsOne) {
  const std::vector<int> processors = allowed_processors();
  ASSERT_FALSE(processors.empty());
  EXPECT_THAT(rate_at_once({processors.front()}), Optional(AllOf(Ge(0.7), Le(1.4))));
}

TEST(CoreRate, AThreadThatAnotherSharesAProcessorWithIsNotCalledSlower) {
  const int processor = allowed_processors().at(0);
  EXPECT_THAT(rate_at_once({processor, processor}), Optional(AllOf(Ge(1.4), Le(2.8))))
      << "the time that each ran counts, not the time that it waited";
}

TEST(CoreRate, IsUnknownOfProcessorsThatAreNotThere) {
  EXPECT_EQ(rate_at_once({}), std::nullopt);
  EXPECT_EQ(rate_at_once({allowed_processors().at(0), 1 << 20}), std::nullopt);
}

}  // namespace
}  // namespace gpubench
