#include "core/results/info.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"

namespace gpubench {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

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
  EXPECT_THAT([] { parse_json("{\"a\": ", "run.json"); },
              ThrowsMessage<Error>(HasSubstr("run.json: not valid JSON: it breaks off or is damaged at byte 7")));
}

TEST(Info, AnyNumberOfFieldsIsReadInOneGo) {
  constexpr int count = 300'000;
  std::string text = "{";
  for (int i = 0; i < count; ++i)
    text += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":[{}," + std::to_string(i) + "]";
  const Info info = parse_json(text + "}", "run.json");
  ASSERT_EQ(info.fields()->size(), std::size_t{count});
  EXPECT_EQ(info.fields()->back().second, Info(Info::List{Info::Fields{}, count - 1}));
  EXPECT_EQ(parse_json(to_json(info), "again"), info);
}

TEST(Info, DeepJsonIsRefusedBeforeItFillsTheStack) {
  const int deep = 1'000'000;
  const std::string text = "{\"title\":" + std::string(deep, '[') + std::string(deep, ']') + "}";
  EXPECT_THAT([&] { parse_json(text, "run.json"); },
              ThrowsMessage<Error>("run.json: JSON nested more than 64 deep at byte 72"));
}

}  // namespace
}  // namespace gpubench
