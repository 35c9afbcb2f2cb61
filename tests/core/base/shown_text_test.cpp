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

}  // namespace
}  // namespace gpubench
