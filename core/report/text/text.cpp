#include "core/report/text/text.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "core/base/shown_text.h"

namespace gpubench {
namespace {

constexpr char32_t replacement_mark = 0xFFFD;
constexpr std::string_view replacement_text = "\xEF\xBF\xBD";

// Takes one character off the front; replacement_mark for a byte that starts none.
char32_t next_character(std::string_view& text) {
  const Utf8Character character = first_character(text);
  text.remove_prefix(std::max<std::size_t>(character.bytes, 1));
  return character.bytes > 0 ? character.code : replacement_mark;
}

struct Range {
  char32_t first;
  char32_t last;
};

// The larger blocks of Unicode 15's EastAsianWidth (W and F) and of its combining marks; enough for names and titles.
constexpr std::array wide = {Range{0x1100, 0x115F},   Range{0x2E80, 0x303E},   Range{0x3041, 0xA4CF},
                             Range{0xA960, 0xA97F},   Range{0xAC00, 0xD7A3},   Range{0xF900, 0xFAFF},
                             Range{0xFE30, 0xFE6F},   Range{0xFF00, 0xFF60},   Range{0xFFE0, 0xFFE6},
                             Range{0x1F300, 0x1F64F}, Range{0x1F680, 0x1F6FF}, Range{0x1F900, 0x1F9FF},
                             Range{0x20000, 0x3FFFD}};
constexpr std::array zero_width = {
    Range{0x0300, 0x036F}, Range{0x0483, 0x0489}, Range{0x0591, 0x05BD}, Range{0x064B, 0x065F}, Range{0x1AB0, 0x1AFF},
    Range{0x1DC0, 0x1DFF}, Range{0x200B, 0x200F}, Range{0x20D0, 0x20FF}, Range{0xFE00, 0xFE0F}, Range{0xFE20, 0xFE2F}};

template <std::size_t N>
bool within(const std::array<Range, N>& ranges, char32_t code) {
  return std::ranges::any_of(ranges, [=](Range range) { return range.first <= code && code <= range.last; });
}

template <class Replace>
std::string replace_characters(std::string_view text, Replace replacement) {
  std::string result;
  for (const char c : text) {
    const std::string_view other = replacement(c);
    if (other.empty()) {
      result += c;
    } else {
      result += other;
    }
  }
  return result;
}

std::size_t width_of(char32_t code) {
  return within(zero_width, code) ? 0 : within(wide, code) ? 2 : 1;
}

// The characters at the start of the text that take at most `width` columns together.
std::string_view beginning(std::string_view text, std::size_t width) {
  std::string_view rest = text;
  for (std::size_t used = 0; !rest.empty();) {
    const std::string_view before = rest;
    used += width_of(next_character(rest));
    if (used > width) return text.substr(0, text.size() - before.size());
  }
  return text;
}

bool starts_with_mark(std::string_view text) {
  return !text.empty() && width_of(next_character(text)) == 0;
}

}  // namespace

std::string one_line(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::string_view before = text;
    const char32_t code = next_character(text);
    const std::string_view bytes = before.substr(0, before.size() - text.size());
    if (is_unsafe(code)) {
      result += ' ';
    } else if (code == replacement_mark) {
      result += replacement_text;
    } else {
      result += bytes;
    }
  }
  return result;
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) width += width_of(next_character(text));
  return width;
}

std::string wrap_words(std::string_view text, std::size_t first_indent, std::size_t indent, std::size_t width) {
  const std::string line = one_line(text);
  std::string result;
  std::size_t column = first_indent;
  for (std::size_t begin = 0; begin < line.size();) {
    const std::size_t end = std::min(line.find(' ', begin), line.size());
    const std::string_view word = std::string_view(line).substr(begin, end - begin);
    const std::size_t word_width = display_width(word);
    const bool is_first = begin == 0;
    if (!is_first && width > 0 && column + 1 + word_width > width) {
      result += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (!is_first) {
      result += ' ';
      ++column;
    }
    result += word;
    column += word_width;
    begin = end + 1;
  }
  return result + "\n";
}

std::string escape_html(std::string_view text) {
  return replace_characters(text, [](char c) -> std::string_view {
    switch (c) {
      case '&':
        return "&amp;";
      case '<':
        return "&lt;";
      case '>':
        return "&gt;";
      case '"':
        return "&quot;";
      case '\'':
        return "&#39;";
      default:
        return {};
    }
  });
}

std::string escape_markdown(std::string_view text) {
  return replace_characters(one_line(text), [](char c) -> std::string_view {
    switch (c) {
      case '\\':
        return "\\\\";
      case '|':
        return "\\|";
      case '`':
        return "\\`";
      case '*':
        return "\\*";
      case '_':
        return "\\_";
      case '[':
        return "\\[";
      case '<':
        return "&lt;";
      case '&':
        return "&amp;";
      default:
        return {};
    }
  });
}

std::string escape_latex(std::string_view text) {
  struct Escape {
    std::string_view letters, latex;
  };
  // Behind the end of a row, LaTeX reads [ and * as an option of it.
  static constexpr Escape escapes[] = {{"\\", "\\textbackslash{}"},
                                       {"{", "\\{"},
                                       {"}", "\\}"},
                                       {"%", "\\%"},
                                       {"_", "\\_"},
                                       {"&", "\\&"},
                                       {"#", "\\#"},
                                       {"$", "\\$"},
                                       {"~", "\\textasciitilde{}"},
                                       {"^", "\\textasciicircum{}"},
                                       {"<", "\\textless{}"},
                                       {">", "\\textgreater{}"},
                                       {"|", "\\textbar{}"},
                                       {"[", "{[}"},
                                       {"]", "{]}"},
                                       {"*", "{*}"},
                                       {"µ", "$\\mu$"},
                                       {"°", "$^\\circ$"},
                                       {"±", "$\\pm$"},
                                       {"×", "$\\times$"},
                                       {"−", "$-$"}};
  const std::string line = one_line(text);
  std::string escaped;
  for (std::string_view rest = line; !rest.empty();) {
    const auto* const found =
        std::ranges::find_if(escapes, [&](const Escape& one) { return rest.starts_with(one.letters); });
    const bool is_plain = found == std::end(escapes);
    escaped += is_plain ? rest.substr(0, 1) : found->latex;
    rest.remove_prefix(is_plain ? 1 : found->letters.size());
  }
  return escaped;
}

std::string escape_url(std::string_view text) {
  std::string escaped;
  for (const unsigned char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                       c == '_' || c == '.' || c == '~';
    escaped += plain ? std::string(1, static_cast<char>(c)) : fmt::format("%{:02X}", c);
  }
  return escaped;
}

std::string quote_gnuplot(std::string_view text) {
  std::string inner =
      replace_characters(one_line(text), [](char c) -> std::string_view { return c == '\'' ? "’" : ""; });
  constexpr std::string_view end_of_cdata = "]]>";
  for (std::size_t at = inner.find(end_of_cdata); at != std::string::npos; at = inner.find(end_of_cdata, at)) {
    inner.insert(at + 2, "\u2060");
  }
  return "'" + inner + "'";
}

std::string shorten(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  return std::string(beginning(text, width > 0 ? width - 1 : 0)) + "…";
}

std::string shorten_middle(std::string_view text, std::size_t width) {
  const std::size_t whole = display_width(text);
  if (whole <= width) return std::string(text);
  if (width == 0) return "";
  const std::size_t last = (width - 1) / 2;
  std::string_view end = text.substr(beginning(text, whole - last).size());
  // The cut may lie within a wide character, or before marks that belong to the character in front of it.
  while (display_width(end) > last || starts_with_mark(end)) next_character(end);
  return std::string(beginning(text, width - 1 - last)) + "…" + std::string(end);
}

}  // namespace gpubench
