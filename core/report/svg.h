// What gnuplot's SVG lacks for web pages: a real title, colours that follow the page's theme, and names that stay
// unique when several charts stand in one page.
#pragma once
#include <string>
#include <string_view>

namespace gpubench {

/// `svg` as gnuplot writes it; the result is again a whole SVG document.
std::string adapt_svg(std::string svg, std::string_view title);

/// The <svg> element alone, its identifiers prefixed, for use inside a page.
std::string inline_svg(std::string_view svg, std::string_view prefix);

}  // namespace gpubench
