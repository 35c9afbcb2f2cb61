// Text made harmless for where it is going. Titles and error messages come from scripts and from the system, so any
// character may be in them.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace gpubench {

/// One line for a terminal: line breaks and other control characters become spaces, invalid UTF-8 becomes U+FFFD.
std::string one_line(std::string_view text);
/// Columns that a terminal needs for a line of UTF-8: 2 for wide East Asian characters and emoji, 0 for combining
/// marks.
std::size_t display_width(std::string_view text);

/// For element content and quoted attributes.
std::string escape_html(std::string_view text);
/// One line in a cell of a Markdown table.
std::string escape_markdown(std::string_view text);
/// At most `width` columns wide, with an ellipsis where text is missing.
std::string shorten(std::string_view text, std::size_t width);
/// With its quotes: a single-quoted string, in which gnuplot runs no backquotes and knows no backslash. An apostrophe
/// becomes U+2019, since gnuplot 5.4 takes a doubled quote at the start for an empty string.
std::string quote_gnuplot(std::string_view text);

}  // namespace gpubench
