#include "core/report/text/text.h"

#include <gtest/gtest.h>

namespace gpubench {
namespace {

TEST(Text, ControlCharactersBecomeSpaces) {
  EXPECT_EQ(one_line("a\nb\tc\x1b[31m"), "a b c [31m");
  EXPECT_EQ(one_line("\xE2\x80\xAEreversed"), " reversed");
  EXPECT_EQ(one_line("µs 测试"), "µs 测试");
}

TEST(Text, InvalidUtf8IsReplacedByteByByte) {
  EXPECT_EQ(one_line("a\xff"), "a\xEF\xBF\xBD");
  EXPECT_EQ(one_line("\xC0\xAF"), "\xEF\xBF\xBD\xEF\xBF\xBD");  // an overlong slash
  EXPECT_EQ(one_line("\xE6\xB5"), "\xEF\xBF\xBD\xEF\xBF\xBD");  // cut short
}

TEST(Text, WidthIsThatOfATerminal) {
  EXPECT_EQ(display_width("abc"), 3u);
  EXPECT_EQ(display_width("µs"), 2u);
  EXPECT_EQ(display_width("测试"), 4u);
  EXPECT_EQ(display_width("e\xCC\x81"), 1u);  // e with a combining acute
  EXPECT_EQ(display_width("🚀"), 2u);
}

TEST(Text, HtmlHasNoActiveCharacters) {
  EXPECT_EQ(escape_html("<script>alert(\"x\" & 'y')</script>"),
            "&lt;script&gt;alert(&quot;x&quot; &amp; &#39;y&#39;)&lt;/script&gt;");
}

TEST(Text, MarkdownCellsStayCells) {
  EXPECT_EQ(escape_markdown("a|b\n`c` <i> *d* e_f"), "a\\|b \\`c\\` &lt;i> \\*d\\* e\\_f");
}

TEST(Text, LatexHasNoActiveCharacters) {
  EXPECT_EQ(escape_latex("100 % a_b & c#d ~e ^f \\g {h}\n$i <j> [k] *l 5 µs 7 °C"),
            "100 \\% a\\_b \\& c\\#d \\textasciitilde{}e \\textasciicircum{}f \\textbackslash{}g \\{h\\} \\$i "
            "\\textless{}j\\textgreater{} {[}k{]} {*}l 5 $\\mu$s 7 $^\\circ$C");
}

TEST(Text, GnuplotStringsEndWhereTheyShould) {
  EXPECT_EQ(quote_gnuplot("it's `date` \"x\" \\n\n@m"), "'it’s `date` \"x\" \\n @m'");
  EXPECT_EQ(quote_gnuplot("a]]>b]]]>"), "'a]]\u2060>b]]]\u2060>'");
}

TEST(Text, LinksHaveNoScheme) {
  EXPECT_EQ(escape_url("javascript:alert(1)"), "javascript%3Aalert%281%29");
  EXPECT_EQ(escape_url("a-b_c.d~1"), "a-b_c.d~1");
  EXPECT_EQ(escape_url("\"#?%ü"), "%22%23%3F%25%C3%BC");
}

TEST(Text, IsShortenedByWholeCharacters) {
  EXPECT_EQ(shorten("abcdef", 6), "abcdef");
  EXPECT_EQ(shorten("abcdefg", 6), "abcde…");
  EXPECT_EQ(shorten("测试测试", 6), "测试…");
}

TEST(Text, IsShortenedInTheMiddleByWholeCharacters) {
  EXPECT_EQ(shorten_middle("abcdef", 6), "abcdef");
  EXPECT_EQ(shorten_middle("abcdefg", 6), "abc…fg");
  EXPECT_EQ(shorten_middle("abcdefg", 5), "ab…fg");
  EXPECT_EQ(shorten_middle("测试测试", 6), "测…试");
  EXPECT_EQ(shorten_middle("abc测试def", 8), "abc…def") << "half of a wide character is left out";
  EXPECT_EQ(shorten_middle("测试测试", 4), "测…");
  EXPECT_EQ(shorten_middle("abcde\u0301f", 5), "ab…e\u0301f");
  EXPECT_EQ(shorten_middle("abcde\u0301f", 4), "ab…f") << "no mark without its character";
  EXPECT_EQ(shorten_middle("abc", 2), "a…");
  EXPECT_EQ(shorten_middle("abc", 1), "…");
  EXPECT_EQ(shorten_middle("abc", 0), "");
}

}  // namespace
}  // namespace gpubench
