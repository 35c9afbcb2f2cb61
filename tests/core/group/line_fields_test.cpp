#include "core/group/line_fields.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using testing::HasSubstr;

TEST(LineFields, AreReadAsTheyWereWritten) {
  LineFields fields(to_line("beat", 7, true, 0.1, std::string("a\tb\\n\nc"), std::vector<std::int64_t>{3, -4}, "",
                            std::vector<std::string>{}));
  std::string kind, text, empty = "not empty";
  int count = 0;
  bool flag = false;
  double number = 0;
  std::vector<std::int64_t> list;
  std::vector<std::string> none{"one"};
  fields.read(kind, count);
  fields.read(flag, number, text, list, empty, none);
  EXPECT_EQ(kind, "beat");
  EXPECT_EQ(count, 7);
  EXPECT_TRUE(flag);
  EXPECT_EQ(number, 0.1);
  EXPECT_EQ(text, "a\tb\\n\nc");
  EXPECT_THAT(list, testing::ElementsAre(3, -4));
  EXPECT_EQ(empty, "");
  EXPECT_TRUE(none.empty());
  EXPECT_ERROR(HasSubstr("a text expected"), fields.read(text));
}

TEST(LineFields, NumbersKeepEveryBit) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const double sent : {1.0 / 3, -0.0, 5e-324, 1.7976931348623157e308, infinity, -infinity}) {
    double number = 1;
    LineFields(to_line(sent)).read(number);
    EXPECT_EQ(number, sent);
    EXPECT_EQ(std::signbit(number), std::signbit(sent));
  }
  double number = 1;
  std::int64_t least = 0;
  LineFields(to_line(std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<std::int64_t>::min()))
      .read(number, least);
  EXPECT_TRUE(std::isnan(number));
  EXPECT_EQ(least, std::numeric_limits<std::int64_t>::min());
}

TEST(LineFields, TextsAreAnyBytesInOneLine) {
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) bytes += static_cast<char>(byte);
  const std::string line = to_line(to_line(bytes));
  EXPECT_EQ(line.find('\n'), std::string::npos);
  std::string inner, text;
  LineFields(line).read(inner);
  LineFields(inner).read(text);
  EXPECT_EQ(text, bytes);
}

TEST(LineFields, WhatIsNoMessageIsRefused) {
  std::string text;
  std::int64_t integer = 0;
  double number = 0;
  bool flag = false;
  EXPECT_ERROR(
      "a process sent 'GET / HTTP/1.1', which is not a message of this gpubench: a text "
      "expected before byte 0",
      LineFields("GET / HTTP/1.1").read(text));
  EXPECT_ERROR(HasSubstr("an integer expected"), LineFields("1x\t").read(integer));
  EXPECT_ERROR(HasSubstr("a number expected"), LineFields("\t").read(number));
  EXPECT_ERROR(HasSubstr("0 or 1 expected"), LineFields("2\t").read(flag));
  EXPECT_ERROR(HasSubstr("a text expected"), LineFields("a\\\t").read(text));
  EXPECT_ERROR(HasSubstr("before byte 2"), LineFields(to_line(1)).read(integer, integer));
}

}  // namespace
}  // namespace gpubench
