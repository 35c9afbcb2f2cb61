#include "core/results/info.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/input_limits.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using ::testing::HasSubstr;

TEST(Info, ComesBackFromJsonInOrder) {
  Info info;
  info.set("z", 1);
  info.set("a", Info::List{1.5, "text `\"<script>\n", Info(), true});
  info.set("nested", Info::Fields{{"k", std::int64_t{1} << 40}});
  info.set("z", 2);
  EXPECT_EQ(parse_json(to_json(info), "test"), info);
  EXPECT_THAT(to_json(info), ::testing::StartsWith("{\n  \"z\": 2,\n  \"a\""));
  EXPECT_EQ(info.text("z"), "2");
  EXPECT_EQ(info.text("absent"), "");
  EXPECT_EQ(info.find("nested")->find("k")->text("k"), "");
}

TEST(Info, FieldsOfAnotherKindAreNoNumberAndNoList) {
  const Info info(Info::Fields{{"count", 2}, {"text", "two"}, {"list", Info::List{1, 2}}});
  EXPECT_EQ(info.number("count"), 2);
  EXPECT_EQ(info.number("text"), std::nullopt);
  EXPECT_EQ(info.number("absent"), std::nullopt);
  EXPECT_EQ(info.items("list").size(), 2U);
  EXPECT_TRUE(info.items("count").empty());
  EXPECT_TRUE(info.items("absent").empty());
}

TEST(Info, WhatJsonCannotHoldDoesNotLoseTheFile) {
  Info info;
  info.set("ratio", std::nan(""));
  info.set("bytes", std::string("\xff\xfe"));
  const Info back = parse_json(to_json(info), "test");
  EXPECT_EQ(*back.find("ratio"), Info());
  EXPECT_NE(back.text("bytes"), "");
}

TEST(Info, MalformedJsonIsNamed) {
  EXPECT_ERROR(HasSubstr("run.json: not valid JSON: it breaks off or is damaged at byte 7"),
               parse_json("{\"a\": ", "run.json"));
}

TEST(Info, NumbersOfLooseWritersAreReadWhereAsked) {
  const Info read = parse_json_with_nan(R"([NaN, Infinity, -Infinity, nan, -nan, inf, -inf, "NaN", "a\"inf", 1])", "a");
  const Info::List& items = *read.list();
  ASSERT_EQ(items.size(), 10u);
  const auto number = [&](std::size_t index) { return number_in(*items[index].cell()).value_or(0); };
  for (const std::size_t index : {0U, 3U, 4U}) EXPECT_TRUE(std::isnan(number(index))) << index;
  for (const std::size_t index : {1U, 5U}) EXPECT_EQ(number(index), HUGE_VAL) << index;
  for (const std::size_t index : {2U, 6U}) EXPECT_EQ(number(index), -HUGE_VAL) << index;
  EXPECT_EQ(*items[7].cell(), Cell(std::string("NaN")));
  EXPECT_EQ(*items[8].cell(), Cell(std::string("a\"inf")));
  EXPECT_EQ(number(9), 1);
  EXPECT_ERROR(HasSubstr("damaged at byte"), parse_json("[NaN]", "a"));
  EXPECT_ERROR(HasSubstr("damaged at byte 18"), parse_json_with_nan("[NaN, -Infinity, x]", "a"));
  // Texts that look like the stand-ins stay texts.
  EXPECT_EQ(*parse_json_with_nan("[\"\x7F\"]", "a").list()->at(0).cell(), Cell(std::string("\x7F")));
}

TEST(Info, AsManyFieldsAndValuesAsAllowedAreReadInOneGo) {
  std::string object = "{";
  for (std::size_t i = 0; i < most_json_fields; ++i)
    object += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":[{}," + std::to_string(i) + "]";
  object += "}";
  std::string text = "[" + object;
  for (int i = 1; i < 60; ++i) text += "," + object;
  const Info info = parse_json(text + "]", "run.json");
  ASSERT_EQ(info.list()->size(), 60U);
  const Info& last = info.list()->back();
  ASSERT_EQ(last.fields()->size(), most_json_fields);
  EXPECT_EQ(last.fields()->back().second, Info(Info::List{Info::Fields{}, static_cast<int>(most_json_fields) - 1}));
  EXPECT_EQ(parse_json(to_json(info), "again"), info);
  EXPECT_ERROR(testing::HasSubstr("run.json: JSON object with more than 5000 fields at byte "),
               parse_json(object.substr(0, object.size() - 1) + ",\"x\":1}", "run.json"));
}

TEST(Info, IsSafeForTerminals) {
  const Info info(Info::Fields{{"a\u202e", "\x1b[31m\u009b\x7f gr\u00fc\u00df"}});
  EXPECT_EQ(to_json_line(info), "{\"a\\u202e\":\"\\u001b[31m\\u009b\\u007f gr\u00fc\u00df\"}");
  EXPECT_EQ(parse_json(to_json(info), "f"), info);
}

TEST(Info, DeepJsonIsRefusedBeforeItFillsTheStack) {
  const int deep = 1'000'000;
  const std::string text = "{\"title\":" + std::string(deep, '[') + std::string(deep, ']') + "}";
  EXPECT_ERROR("run.json: JSON nested more than 64 deep at byte 72", parse_json(text, "run.json"));
}

}  // namespace
}  // namespace gpubench
