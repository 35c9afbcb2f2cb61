#include "core/base/json_nesting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "core/base/error.h"

namespace gpubench {
namespace {

TEST(JsonNesting, PassesWhatIsNestedAsDeeplyAsAllowed) {
  const std::string open(deepest_json, '['), close(deepest_json, ']');
  EXPECT_NO_THROW(check_json_nesting(open + close + ", " + open + close, "f"));
}

TEST(JsonNesting, RefusesOneLevelMoreAndNamesThePlace) {
  EXPECT_THAT([] { check_json_nesting(" " + std::string(deepest_json + 1, '{'), "run.json"); },
              testing::ThrowsMessage<Error>("run.json: JSON nested more than 64 deep at byte 65"));
}

TEST(JsonNesting, CountsNoBracketsInStrings) {
  const std::string many(1000, '[');
  EXPECT_NO_THROW(check_json_nesting("\"" + many + "\\\"" + many + "\"", "f"));
  EXPECT_THROW(check_json_nesting("\"" + many + "\\\\\"" + many, "f"), Error) << "the string has ended before them";
}

}  // namespace
}  // namespace gpubench
