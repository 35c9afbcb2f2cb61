#include "core/report/chart/chart_format.h"

#include <fmt/format.h>

#include "core/base/enum_names.h"

namespace gpubench {
namespace {

constexpr EnumNames<ChartFormat, 3> format_names{"unknown format of charts", {"svg", "png", "pdf"}};
// Pixels of a page in an inch, and of PNG in a pixel of a page, for screens with many dots.
constexpr double per_inch = 96;
constexpr std::size_t density = 2;

}  // namespace

ChartFormat parse_chart_format(std::string_view name) {
  return format_names.parse(name);
}

std::string_view to_string(ChartFormat format) {
  return format_names[format];
}

std::string_view terminal_of(ChartFormat format) {
  switch (format) {
    case ChartFormat::svg:
      return "svg";
    case ChartFormat::png:
      return "pngcairo";
    case ChartFormat::pdf:
      return "pdfcairo";
  }
  return {};
}

// Letters have the same size in all three: 16 pixels of a page. `noenhanced`: format_names and titles may hold _ ^ { }
// @ & ~.
std::string terminal_command(ChartFormat format, std::size_t height) {
  switch (format) {
    case ChartFormat::svg:
      return fmt::format(
          "set terminal svg size {},{} font 'Helvetica,Arial,sans-serif,16' noenhanced rounded dynamic linewidth 1.2\n",
          chart_width, height);
    case ChartFormat::png:
      return fmt::format(
          "set terminal pngcairo size {},{} font 'sans,12' fontscale {} noenhanced rounded linewidth {} pointscale {} "
          "background '#ffffff'\n",
          density * chart_width, density * height, density, 1.2 * density, density);
    case ChartFormat::pdf:
      return fmt::format(
          "set terminal pdfcairo size {:.3f}in,{:.3f}in font 'sans,12' fontscale 1 noenhanced rounded linewidth 1.2\n",
          chart_width / per_inch, static_cast<double>(height) / per_inch);
  }
  return {};
}

}  // namespace gpubench
