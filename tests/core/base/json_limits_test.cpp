#include "core/base/json_limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "core/base/error.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

std::string repeated(std::string_view text, std::size_t count) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += text;
  return all;
}

TEST(JsonLimits, PassWhatIsNestedAsDeeplyAsAllowed) {
  const std::string open(deepest_json, '['), close(deepest_json, ']');
  EXPECT_NO_THROW(check_json_limits(open + close + ", " + open + close, "f"));
}

TEST(JsonLimits, RefuseOneLevelMoreAndNameThePlace) {
  EXPECT_ERROR("run.json: JSON nested more than 64 deep at byte 65",
               check_json_limits(" " + std::string(deepest_json + 1, '{'), "run.json"));
}

TEST(JsonLimits, CountNothingInStrings) {
  const std::string many(1000, '[');
  EXPECT_NO_THROW(check_json_limits("\"" + many + "\\\"" + many + "\"", "f"));
  EXPECT_THROW(check_json_limits("\"" + many + "\\\\\"" + many, "f"), Error) << "the string has ended before them";
  EXPECT_NO_THROW(check_json_limits("{\"" + std::string(most_json_fields, ',') + "\":1}", "f"));
  EXPECT_NO_THROW(check_json_limits("\"\\", "f")) << "cut behind the backslash";
}

TEST(JsonLimits, RefuseOneFieldMoreInOneObject) {
  const auto object = [](std::size_t fields) { return "{" + repeated(R"("a":1,)", fields - 1) + R"("a":1})"; };
  EXPECT_NO_THROW(check_json_limits("[" + object(most_json_fields) + "," + object(most_json_fields) + "]", "f"));
  EXPECT_ERROR(testing::HasSubstr("run.json: JSON object with more than 5000 fields at byte "),
               check_json_limits(object(most_json_fields + 1), "run.json"));
  EXPECT_NO_THROW(check_json_limits(object(most_json_fields + 1), "f", most_json_fields + 1));
  EXPECT_NO_THROW(check_json_limits("[" + repeated("1,", most_json_fields) + "1]", "f")) << "a list";
}

TEST(JsonLimits, RefuseMoreValuesAndBytes) {
  EXPECT_NO_THROW(check_json_limits("[" + repeated("1,", most_json_values - 2) + "1]", "f"));
  EXPECT_ERROR(testing::HasSubstr("f: JSON with more than 4000000 values at byte "),
               check_json_limits("[" + repeated("1,", most_json_values) + "1]", "f"));
  EXPECT_ERROR("f: JSON of 67108865 bytes; at most 67108864 are read",
               check_json_limits(std::string(largest_text + 1, ' '), "f"));
}

}  // namespace
}  // namespace gpubench
