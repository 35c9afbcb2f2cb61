#include "core/report/chart/draw.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <functional>
#include <set>
#include <utility>

#include "core/base/error.h"
#include "core/base/units.h"
#include "core/codec/output_file.h"
#include "core/codec/output_folder.h"
#include "core/report/chart/chart_info.h"
#include "core/report/chart/chart_table.h"
#include "core/report/chart/gnuplot.h"
#include "core/report/chart/sample_chart.h"
#include "core/report/chart/svg.h"
#include "core/report/text/text.h"
#include "core/results/append_file.h"
#include "core/results/csv.h"
#include "core/results/mean_over_processes.h"

namespace gpubench {
namespace {

// The page stays small with thousands of points; results.csv has them all.
constexpr std::size_t most_figures = 400;
constexpr std::size_t most_bytes_of_pictures = 2'500'000;

void make_directory(const std::filesystem::path& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) throw Error(fmt::format("cannot make the directory '{}': {}", directory.string(), error.message()));
}

std::string file_name(const std::string& name, std::set<std::string>& taken) {
  constexpr std::size_t longest = 100;
  std::string clean = name.substr(0, longest);
  std::ranges::replace_if(
      clean, [](unsigned char c) { return !std::isalnum(c) && c != '_' && c != '-'; }, '_');
  std::string unique = clean;
  for (int n = 2; !taken.insert(unique).second; ++n) unique = fmt::format("{}-{}", clean, n);
  return unique;
}

// The formats that are asked for and can be drawn; SVG among them, which comes first.
ChartFormats formats_to_draw(const ChartFormats& asked, Drawing& drawing) {
  const ChartFormats drawable = drawable_formats();
  if (drawable.empty()) {
    drawing.notes.emplace_back(
        "gnuplot is not installed, so no charts were drawn; install it (Debian: gnuplot-nox) and "
        "run it on the .gp files");
    return {};
  }
  ChartFormats formats;
  for (const ChartFormat format : {ChartFormat::svg, ChartFormat::png, ChartFormat::pdf}) {
    if (format != ChartFormat::svg && std::ranges::find(asked, format) == asked.end()) continue;
    if (std::ranges::find(drawable, format) != drawable.end()) {
      formats.push_back(format);
      continue;
    }
    drawing.notes.push_back(
        fmt::format("gnuplot has no terminal '{}', so no charts were drawn as {}; install "
                    "a gnuplot that has it (Debian: gnuplot-nox)",
                    terminal_of(format), to_string(format)));
  }
  return formats;
}

// Runs gnuplot; the chart's complete SVG document. gnuplot writes its files piece by piece, so it draws in a folder of
// its own.
std::string draw_files(const std::filesystem::path& script, const Chart& chart, const ChartFormats& formats) {
  const auto file_of = [&](ChartFormat format) {
    return std::filesystem::path(script).replace_extension(std::string(to_string(format)));
  };
  for (const ChartFormat format : formats) refuse_other_than(std::filesystem::file_type::regular, file_of(format));
  try {
    const OutputFolder drawing(script.parent_path() / "drawing");
    run_gnuplot(script, drawing.place());
    std::string svg;
    for (const ChartFormat format : formats) {
      const std::filesystem::path drawn = drawing.place() / file_of(format).filename();
      if (format == ChartFormat::svg) {
        svg = adapt_svg(read_file(drawn), chart.spec.title);
        replace_file(file_of(format), svg);
      } else {
        std::error_code error;
        std::filesystem::rename(drawn, file_of(format), error);
        if (error) fail_to_write(file_of(format), error.value());
      }
    }
    return svg;
  } catch (...) {
    std::error_code none;  // of an earlier chart
    for (const ChartFormat format : formats) std::filesystem::remove(file_of(format), none);
    throw;
  }
}

// Relative to the report: the files of a chart, by their endings.
std::vector<PageLink> links_of(const std::filesystem::path& directory, const std::string& name,
                               const ChartFormats& formats) {
  const std::string folder =
      fmt::format("../../../plots/{}/{}/{}", escape_url(directory.parent_path().filename().string()),
                  escape_url(directory.filename().string()), escape_url(name));
  std::vector<PageLink> links;
  for (const ChartFormat format : formats)
    links.push_back({std::string(to_string(format)), fmt::format("{}.{}", folder, to_string(format))});
  links.push_back({"gnuplot", folder + ".gp"});
  return links;
}

void add_note(const ChartSpec& spec, const Error& error, Drawing& drawing) {
  drawing.notes.push_back(fmt::format(
      "chart {}: {}", spec.name.empty() ? fmt::format("of {} by {}", spec.y, spec.x) : spec.name, error.what()));
}

bool page_has_room(const std::vector<DrawnChart>& charts, const std::string& svg) {
  std::size_t bytes = svg.size();
  for (const DrawnChart& one : charts) bytes += one.svg.size();
  return bytes <= most_bytes_of_pictures;
}

// A chart without its picture still has its figures on the page, and can be drawn later.
std::string picture_of(const Chart& chart, const std::filesystem::path& script, const ChartFormats& formats,
                       Drawing& drawing) {
  std::string svg;
  if (formats.empty()) return svg;
  try {
    svg = draw_files(script, chart, formats);
  } catch (const Error& error) {
    add_note(chart.spec, error, drawing);
    return svg;
  }
  if (page_has_room(drawing.charts, svg)) return svg;
  drawing.notes.push_back(
      fmt::format("chart {}: the report leaves out its picture, which has {}; its figures are there", chart.spec.name,
                  format_bytes(static_cast<double>(svg.size()))));
  return {};
}

DrawnChart on_page(const Chart& chart, std::string svg, std::vector<PageLink> links) {
  return {.title = chart.spec.title,
          .svg = std::move(svg),
          .description = describe(chart),
          .left_out = left_out_text(chart),
          .figures = chart_table(chart, most_figures),
          .all_figures = figure_count(chart),
          .links = std::move(links),
          .has_intervals = has_intervals(chart),
          .has_rings = has_rings(chart)};
}

void draw_chart(const Chart& chart, std::size_t height, const std::filesystem::path& directory,
                const ChartFormats& asked, const ChartFormats& formats, Drawing& drawing) {
  const std::filesystem::path script = directory / (chart.spec.name + ".gp");
  replace_file(script, gnuplot_script(chart, height, formats.empty() ? asked : formats));
  drawing.charts.push_back(
      on_page(chart, picture_of(chart, script, formats, drawing), links_of(directory, chart.spec.name, formats)));
  drawing.info.push_back(chart_info(chart.spec));
}

std::vector<Chart> make_charts(const Run& run, const std::vector<ChartSpec>& specs, Drawing& drawing) {
  const std::vector<Record> rows = mean_over_processes(run.records);
  const std::vector<ChartAxis> axes = chart_axes_in(run.info);
  std::vector<Chart> charts;
  const bool has_samples = std::ranges::any_of(specs, [](const ChartSpec& one) { return is_of_samples(one.kind); });
  const SamplesByPoint samples = has_samples ? read_samples(run.directory) : SamplesByPoint{};
  for (ChartSpec spec : specs) {
    try {
      if (is_of_samples(spec.kind)) {
        const SampleRows made = sample_rows(spec, samples, run.columns, rows, axes);
        charts.push_back(make_chart(spec, made.columns, made.records, axes));
      } else {
        charts.push_back(make_chart(spec, run.columns, rows, axes));
      }
    } catch (const Error& error) {
      add_note(spec, error, drawing);
    }
  }
  assign_styles(charts);
  return charts;
}

void draw_charts(std::vector<Chart> charts, const std::filesystem::path& directory, const ChartFormats& asked,
                 Drawing& drawing) {
  const ChartFormats formats = formats_to_draw(asked, drawing);
  make_directory(directory);
  std::set<std::string> taken;
  std::size_t height = 0;  // of all, so that rows of charts are even
  for (Chart& chart : charts) {
    chart.spec.name = file_name(chart.spec.name, taken);
    height = std::max(height, chart_height(chart));
  }
  for (const Chart& chart : charts) {
    try {
      draw_chart(chart, height, directory, asked, formats, drawing);
    } catch (const Error& error) {
      add_note(chart.spec, error, drawing);
    }
  }
}

// What `work` draws; what keeps it from drawing is a note.
Drawing drawn_by(const std::function<void(Drawing&)>& work) {
  Drawing drawing;
  try {
    work(drawing);
  } catch (const Error& error) {
    drawing.notes.push_back(fmt::format("charts: {}", error.what()));
  }
  return drawing;
}

}  // namespace

Drawing draw(const Run& run, const std::vector<ChartSpec>& specs, const std::filesystem::path& directory,
             const ChartFormats& formats) {
  return drawn_by([&](Drawing& drawing) {
    if (specs.empty() || run.records.empty()) return;
    draw_charts(make_charts(run, specs, drawing), directory, formats, drawing);
  });
}

Drawing draw(std::vector<Chart> charts, const std::filesystem::path& directory, const ChartFormats& formats) {
  return drawn_by([&](Drawing& drawing) {
    if (!charts.empty()) draw_charts(std::move(charts), directory, formats, drawing);
  });
}

std::vector<DrawnChart> drawn_before(const Run& run, const std::map<std::string, std::string>& files,
                                     const std::filesystem::path& directory) {
  const Drawing made = drawn_by([&](Drawing& drawing) {
    for (const Chart& chart : make_charts(run, charts_in(run.info), drawing)) {
      const std::string& name = chart.spec.name;
      ChartFormats formats;
      for (const ChartFormat format : {ChartFormat::svg, ChartFormat::png, ChartFormat::pdf})
        if (files.contains(fmt::format("{}.{}", name, to_string(format)))) formats.push_back(format);
      const auto picture = files.find(name + ".svg");
      const bool shown = picture != files.end() && page_has_room(drawing.charts, picture->second);
      drawing.charts.push_back(
          on_page(chart, shown ? picture->second : std::string(), links_of(directory, name, formats)));
    }
  });
  return made.charts;
}

}  // namespace gpubench
