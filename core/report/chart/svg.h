// Adapts gnuplot's SVG to web pages: a real title, colours that follow the page's theme, and identifiers that stay
// unique when a page holds several charts.
#pragma once
#include <string>
#include <string_view>

namespace gpubench {

/// `svg` is gnuplot's output; the result is again a complete SVG document.
std::string adapt_svg(std::string svg, std::string_view title);

/// The <svg> element alone, its identifiers prefixed, for use inside a page.
std::string inline_svg(std::string_view svg, std::string_view prefix);

}  // namespace gpubench
