#include "core/report/page/side_sections.h"

#include <fmt/format.h>
#include <string>
#include <system_error>

#include "core/base/units.h"
#include "core/report/chart/chart_info.h"
#include "core/report/page/embedded_charts.h"
#include "core/report/page/side_rows.h"
#include "core/report/text/text.h"

namespace gpubench {
namespace {

namespace fs = std::filesystem;

// A side of more processes names only its first ones.
constexpr std::size_t most_links = 50;

std::string relative_link(const fs::path& file, const fs::path& folder) {
  std::error_code error;
  const fs::path from = fs::weakly_canonical(folder.empty() ? fs::path(".") : folder, error);
  const fs::path relative = fs::proximate(file, from, error);
  std::string link;
  for (const fs::path& part : error ? file : relative) {
    if (part == "/") continue;
    link += (link.empty() && relative.is_relative() ? "" : "/") + escape_url(part.string());
  }
  return link;
}

/// The page of a run, or where there is none its table, or the file that others made.
fs::path best_file(const MeasuringProcess& process) {
  std::error_code error;
  if (!fs::is_directory(process.source, error)) return process.source;
  const fs::path report = process.source / "report.html";
  return fs::exists(report, error) ? report : process.source / "results.csv";
}

}  // namespace

std::vector<PageSection> experiment_sections(std::span<const Side> sides) {
  std::vector<PageSection> sections;
  for (const Run& run : runs_of_sides(sides)) {
    const std::string experiment = run.info.text("experiment"), title = run.info.text("title");
    Drawing drawing = draw_embedded(run, charts_in(run.info));
    PageSection section{.id = fmt::format("experiment{}", sections.size() + 1),
                        .heading = experiment.empty() ? "Charts" : experiment,
                        .charts = std::move(drawing.charts)};
    for (const std::string& note : drawing.notes) section.items.push_back({note});
    if (section.charts.empty() && section.items.empty()) continue;
    if (!title.empty()) section.lines.push_back(title);
    section.note =
        "Points are medians over the processes. Bars at them are 95 % intervals. A ring marks a point that is "
        "unreliable in most processes.";
    sections.push_back(std::move(section));
  }
  return sections;
}

PageSection runs_section(std::span<const Side> sides, const fs::path& folder) {
  PageSection section{.id = "runs", .heading = "Runs"};
  for (const Side& side : sides) {
    const std::size_t count = side.processes.size();
    PageItem item{fmt::format("{}, {}:", side.name, format_count(count, "process"))};
    if (count > most_links) item.text += fmt::format(" the first {}:", most_links);
    for (std::size_t i = 0; i < std::min(count, most_links); ++i)
      item.links.push_back({side.processes[i].name, relative_link(best_file(side.processes[i]), folder)});
    section.items.push_back(std::move(item));
  }
  return section;
}

}  // namespace gpubench
