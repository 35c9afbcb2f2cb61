#include "core/passes/pass.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"

namespace gpubench {
namespace {

TEST(Passes, AreTimedByName) {
  std::vector<PassTiming> timings;
  apply_passes({}, {}, {}, &timings);
  ASSERT_EQ(timings.size(), all_passes().size());
  EXPECT_EQ(timings[0].name, all_passes()[0].name);
}

TEST(Passes, CanBeSwitchedOffByName) {
  std::vector<PassTiming> timings;
  apply_passes({}, {{"fuse_epilogue"}}, {}, &timings);
  EXPECT_EQ(timings.size(), all_passes().size() - 1);
}

TEST(Passes, UnknownAndRequiredOnesCannot) {
  for (const char* name : {"fuse_everything", "place_copies"}) {
    EXPECT_THAT([&] { apply_passes({}, {{name}}); },
                testing::ThrowsMessage<Error>(
                    testing::HasSubstr(std::string("there is no pass '") + name +
                                       "' to switch off (known: merge_casts, fuse_softmax_cross_entropy, ")));
  }
}

}  // namespace
}  // namespace gpubench
