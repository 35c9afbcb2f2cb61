// The file formats of charts, each with the terminal of gnuplot that writes it. A report embeds SVG; papers and chats
// take the others.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gpubench {

enum class ChartFormat { svg, png, pdf };

/// "svg", "png" or "pdf"; throws Error otherwise.
ChartFormat parse_chart_format(std::string_view name);
/// Also the ending of its files.
std::string_view to_string(ChartFormat format);
/// "svg", "pngcairo", "pdfcairo".
std::string_view terminal_of(ChartFormat format);
/// The command that chooses the terminal for a chart that is `height` pixels high on a page; the width is chart_width.
std::string terminal_command(ChartFormat format, std::size_t height);

/// Pixels on a page.
inline constexpr std::size_t chart_width = 600;

using ChartFormats = std::vector<ChartFormat>;

}  // namespace gpubench
