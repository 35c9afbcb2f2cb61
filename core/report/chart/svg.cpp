#include "core/report/chart/svg.h"

#include <fmt/format.h>

#include "core/report/embedded_files.h"
#include "core/report/text/text.h"

namespace gpubench {
namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

// Removes every element `<name>...</name>` that starts with `start`.
void remove_elements(std::string& text, std::string_view start, std::string_view end) {
  for (std::size_t at = text.find(start); at != std::string::npos; at = text.find(start, at)) {
    const std::size_t last = text.find(end, at);
    if (last == std::string::npos) return;
    text.erase(at, last + end.size() - at);
  }
}

}  // namespace

std::string adapt_svg(std::string svg, std::string_view title) {
  remove_elements(svg, "<title>gnuplot_plot_", "</title>");
  const std::string label = escape_html(one_line(title));
  replace_all(svg, "<title>Gnuplot</title>",
              fmt::format("<title>{}</title>\n<style>\n{}</style>", label, embedded::chart_style));
  return svg;
}

std::string inline_svg(std::string_view svg, std::string_view prefix) {
  const std::size_t start = svg.find("<svg");
  std::string element(start == std::string_view::npos ? std::string_view{} : svg.substr(start));
  replace_all(element, "url(#gp", fmt::format("url(#{}gp", prefix));
  for (const std::string_view name : {"gp", "gnuplot_", "textbox", "greybox"}) {
    for (const char quote : {'\'', '"'}) {
      replace_all(element, fmt::format(" id={}{}", quote, name), fmt::format(" id={}{}{}", quote, prefix, name));
      replace_all(element, fmt::format("href={}#{}", quote, name), fmt::format("href={}#{}{}", quote, prefix, name));
    }
  }
  return element;
}

}  // namespace gpubench
