#include "core/history/cause.h"

#include <gtest/gtest.h>

namespace gpubench {
namespace {

std::string cause(const char* before, const char* after) {
  return cause_between(before, after);
}

TEST(Cause, IsClassifiedByWhatDiffers) {
  EXPECT_EQ(cause(R"({"program.commit":"a"})", R"({"program.commit":"b"})"), "code (program.commit a -> b)");
  EXPECT_EQ(cause(R"({"devices.gpu:0.details.driver":"1"})", R"({"devices.gpu:0.details.driver":"2"})"),
            "environment (devices.gpu:0.details.driver 1 -> 2)");
  EXPECT_EQ(cause(R"({"script.lua":"1"})", R"({"script.lua":"2","options.quick":"true"})"),
            "method (options.quick none -> true, the script was edited)");
  EXPECT_EQ(cause(R"({"machine.kernel":"1","program.commit":"a"})", R"({"program.commit":"b"})"),
            "code (program.commit a -> b); environment (machine.kernel 1 -> none)");
  EXPECT_EQ(cause(R"({"machine.kernel":"1"})", R"({"machine.kernel":"1"})"), "");
}

}  // namespace
}  // namespace gpubench
