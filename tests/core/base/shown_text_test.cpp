#include "core/base/shown_text.h"

#include <gtest/gtest.h>

namespace gpubench {
namespace {

using namespace std::string_view_literals;

TEST(ShownText, EscapesWhatCannotBeSeen) {
  EXPECT_EQ(shown_text("a b'c\\"), "a b'c\\");
  EXPECT_EQ(shown_text("a\0b\r\n\t\x1b\x7f"sv), "a\\x00b\\r\\n\\t\\x1b\\x7f");
}

TEST(ShownText, KeepsUtf8AndNoOtherBytes) {
  EXPECT_EQ(shown_text("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80"),
            "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80");
  EXPECT_EQ(shown_text("\xfc\xc3 \xe2\x82"), "\\xfc\\xc3 \\xe2\\x82");
  EXPECT_EQ(shown_text("\xc2\x9b"), "\\xc2\\x9b");
  EXPECT_EQ(shown_text("\xe0\x80\xaf"), "\\xe0\\x80\\xaf") << "an overlong form of '/'";
  EXPECT_EQ(shown_text("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "a surrogate";
}

TEST(ShownText, CutsWhatIsLong) {
  EXPECT_EQ(shown_text("abcde", 5), "abcde");
  EXPECT_EQ(shown_text("abcdef", 5), "abcde... (6 bytes)");
  EXPECT_EQ(shown_text("abc\xc3\xbc\xc3\xbc", 4), "abc\xc3\xbc... (7 bytes)");
  EXPECT_EQ(shown_text(std::string(100000, 'x')), std::string(80, 'x') + "... (100000 bytes)");
}

TEST(ShownText, EscapesWhatReordersALine) {
  EXPECT_EQ(shown_text("a\u202eb\u2066\u200f\u061c\u2028"),
            "a\\xe2\\x80\\xaeb\\xe2\\x81\\xa6\\xe2\\x80\\x8f\\xd8\\x9c\\xe2\\x80\\xa8");
}

TEST(ShownMessage, KeepsItsLinesAndForgesNone) {
  EXPECT_EQ(shown_message("a\x1b]0;x\x07\xc2\x9b"
                          "1m\r"),
            "a\\x1b]0;x\\x07\\xc2\\x9b1m\\r");
  EXPECT_EQ(shown_message("stack traceback:\n\t[C]: in ?\n  own"), "stack traceback:\n\t[C]: in ?\n  own");
  EXPECT_EQ(shown_message("unit 'x\ngpubench: all is well'\n"), "unit 'x\n  gpubench: all is well'\n");
}

TEST(ShownMessage, LosesItsMiddleWhereItIsLong) {
  const std::string shown = shown_message("begin" + std::string(1'000'000, 'x') + "end");
  EXPECT_TRUE(shown.starts_with("beginxxx") && shown.ends_with("xxxend")) << shown.size();
  EXPECT_NE(shown.find("x... (991816 bytes left out) ...x"), std::string::npos);
  EXPECT_LT(shown.size(), 8300U);
}

TEST(ShownLines, KeepsLineEnds) {
  EXPECT_EQ(shown_lines("a,\x1b[31m\r\n\tb\n"), "a,\\x1b[31m\r\n\tb\n");
}

TEST(ShownJson, IsTheSameJson) {
  EXPECT_EQ(shown_json("{\"a\":\"gr\xc3\xbc\xc3\x9f \xc2\x9b\x7f\xe2\x80\xae\"}\n"),
            "{\"a\":\"gr\xc3\xbc\xc3\x9f \\u009b\\u007f\\u202e\"}\n");
  EXPECT_EQ(shown_json("\"\xff\""), "\"\xff\"") << "invalid UTF-8 is not its business";
}

}  // namespace
}  // namespace gpubench
