// Makes text safe for its destination. Titles and error messages come from scripts and from the system, so they may
// contain any character.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace gpubench {

/// One line for a terminal: line breaks and other unsafe characters (core/base/shown_text.h) become spaces, invalid
/// UTF-8 becomes U+FFFD.
std::string one_line(std::string_view text);
/// Columns that a line of UTF-8 takes in a terminal: 2 for wide East Asian characters and emoji, 0 for combining marks.
std::size_t display_width(std::string_view text);

/// One line as several that end at `width` columns where words allow it, each with its line break. The first begins at
/// column `first_indent`, which is not written; the others get `indent` blanks. 0: any width.
std::string wrap_words(std::string_view text, std::size_t first_indent, std::size_t indent, std::size_t width);

/// For element content and quoted attributes.
std::string escape_html(std::string_view text);
/// A part of a relative link: no character of it is special in a URL.
std::string escape_url(std::string_view text);
/// One line of LaTeX's text, in cells too, that needs no package.
std::string escape_latex(std::string_view text);
/// One line in a cell of a Markdown table.
std::string escape_markdown(std::string_view text);
/// At most `width` columns wide, with an ellipsis if text is cut.
std::string shorten(std::string_view text, std::size_t width);
/// The same, but cut in the middle: beginning and end of a text that ends with what matters are both kept.
std::string shorten_middle(std::string_view text, std::size_t width);
/// A single-quoted string, quotes included, in which gnuplot evaluates neither backquotes nor backslashes. Apostrophes
/// become U+2019, because gnuplot 5.4 reads a doubled quote at the start as an empty string. The `>` of "]]>" is set
/// apart by U+2060, which nobody sees: gnuplot writes text into SVG as CDATA, which "]]>" would end.
std::string quote_gnuplot(std::string_view text);

}  // namespace gpubench
