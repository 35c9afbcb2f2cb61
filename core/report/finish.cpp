#include "core/report/finish.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <iterator>
#include <set>

#include "core/base/error.h"
#include "core/report/embedded_files.h"
#include "core/report/gnuplot.h"
#include "core/report/page.h"
#include "core/report/svg.h"
#include "core/results/append_file.h"
#include "core/results/mean_over_processes.h"
#include "core/results/run_directory.h"
#include "core/results/run_reader.h"

namespace gpubench {
namespace {

struct Drawing {
  std::vector<DrawnChart> charts;
  std::vector<std::filesystem::path> paths;
  std::vector<std::string> notes;
  Info::List info;
};

void make_directory(const std::filesystem::path& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) throw Error(fmt::format("cannot make the directory '{}': {}", directory.string(), error.message()));
}

// Scripts load the style by a relative path, so it stands once beside all charts; one that is there is kept.
void place_style(const std::filesystem::path& out) {
  const std::filesystem::path style = plots_root(out) / "style.gp";
  if (!std::filesystem::exists(style)) replace_file(style, embedded::gnuplot_style);
}

std::string file_name(const std::string& name, std::set<std::string>& taken) {
  std::string clean = name;
  std::ranges::replace_if(
      clean, [](unsigned char c) { return !std::isalnum(c) && c != '_' && c != '-'; }, '_');
  std::string unique = clean;
  for (int n = 2; !taken.insert(unique).second; ++n) unique = fmt::format("{}-{}", clean, n);
  return unique;
}

void draw_chart(Chart chart, const std::filesystem::path& directory, bool can_draw, Drawing& drawing) {
  const std::filesystem::path script = directory / (chart.spec.name + ".gp");
  replace_file(script, gnuplot_script(chart));
  drawing.paths.push_back(script);
  Info::Fields info{{"name", chart.spec.name}, {"title", chart.spec.title}};
  if (can_draw) {
    const std::filesystem::path picture = directory / (chart.spec.name + ".svg");
    std::string svg;
    try {
      run_gnuplot(script);
      svg = adapt_svg(read_file(picture), chart.spec.title);
      replace_file(picture, svg);
    } catch (...) {
      std::error_code none_made;
      std::filesystem::remove(picture, none_made);
      throw;
    }
    drawing.paths.back() = picture;
    drawing.charts.push_back({chart.spec.title, svg});
  }
  drawing.info.emplace_back(std::move(info));
}

void draw_charts(const RunWriter& writer, const std::vector<ChartSpec>& specs, Drawing& drawing) {
  const bool can_draw = gnuplot_is_installed();
  if (!can_draw) {
    drawing.notes.emplace_back(
        "gnuplot is not installed, so no charts were drawn; install it (Debian: gnuplot-nox) and "
        "run it on the .gp files");
  }
  const std::filesystem::path directory = writer.chart_directory();
  make_directory(directory);
  place_style(writer.plan().out);
  const std::vector<Record> rows = mean_over_processes(writer.records());
  std::set<std::string> taken;
  for (const ChartSpec& spec : specs) {
    try {
      Chart chart = make_chart(spec, writer.columns(), rows, writer.plan().axes);
      chart.spec.name = file_name(chart.spec.name, taken);
      draw_chart(std::move(chart), directory, can_draw, drawing);
    } catch (const Error& error) {
      drawing.notes.push_back(fmt::format(
          "chart {}: {}", spec.name.empty() ? fmt::format("of {} by {}", spec.y, spec.x) : spec.name, error.what()));
    }
  }
}

Info expectations_info(const std::vector<Expectation>& expectations) {
  Info::List list;
  for (const Expectation& expectation : expectations) {
    list.emplace_back(
        Info::Fields{{"claim", expectation.claim}, {"verdict", expectation.verdict}, {"reason", expectation.reason}});
  }
  return list;
}

}  // namespace

FinishedRun finish_run(RunWriter& writer, const Finish& finish) {
  Drawing drawing;
  try {
    if (!finish.charts.empty() && !writer.records().empty()) draw_charts(writer, finish.charts, drawing);
  } catch (const Error& error) {
    drawing.notes.push_back(fmt::format("charts: {}", error.what()));
  }
  Info::Fields fields{{"charts", drawing.info}, {"expectations", expectations_info(finish.expectations)}};
  fields.emplace_back("notes", Info::List(drawing.notes.begin(), drawing.notes.end()));
  writer.set_info(fields);
  writer.finish(finish.status);

  const Run run{writer.directory(), writer.columns(), writer.records(), writer.info()};
  const std::filesystem::path page = run.directory / "report.html";
  replace_file(page, report_page(run, drawing.charts));

  FinishedRun finished;
  finished.paths = {run.directory / "results.csv", run.directory / "samples.csv", run.directory / "run.json", page};
  std::ranges::copy(drawing.paths, std::back_inserter(finished.paths));
  finished.paths.push_back(write_index(writer.plan().out));
  finished.notes = std::move(drawing.notes);
  return finished;
}

std::filesystem::path write_index(const std::filesystem::path& out) {
  const std::filesystem::path index = results_root(out) / "index.html";
  replace_file(index, index_page(list_runs(out)));
  return index;
}

}  // namespace gpubench
