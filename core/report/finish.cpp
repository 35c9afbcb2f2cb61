#include "core/report/finish.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <fmt/format.h>
#include <iterator>
#include <set>
#include <sys/file.h>
#include <thread>
#include <unistd.h>

#include "core/base/error.h"
#include "core/report/chart_info.h"
#include "core/report/gnuplot.h"
#include "core/report/page.h"
#include "core/report/render.h"
#include "core/report/svg.h"
#include "core/results/append_file.h"
#include "core/results/csv.h"
#include "core/results/mean_over_processes.h"
#include "core/results/run_directory.h"
#include "core/results/run_reader.h"

namespace gpubench {
namespace {

constexpr std::string_view not_judged = "the run ended before its claims were judged";

struct Drawing {
  std::vector<DrawnChart> charts;
  std::vector<std::string> notes;
  Info::List info;
};

void make_directory(const std::filesystem::path& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) throw Error(fmt::format("cannot make the directory '{}': {}", directory.string(), error.message()));
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
  Info info = chart_info(chart.spec);
  if (can_draw) {
    const std::filesystem::path picture = directory / (chart.spec.name + ".svg");
    std::error_code none_made;
    std::filesystem::remove(picture, none_made);  // gnuplot would write through a link
    std::string svg;
    try {
      run_gnuplot(script);
      svg = adapt_svg(read_file(picture), chart.spec.title);
      replace_file(picture, svg);
    } catch (...) {
      std::filesystem::remove(picture, none_made);
      throw;
    }
    drawing.charts.push_back({chart.spec.title, svg});
  }
  drawing.info.push_back(std::move(info));
}

void draw_charts(const Run& run, const std::vector<ChartSpec>& specs, const std::filesystem::path& directory,
                 Drawing& drawing) {
  const bool can_draw = gnuplot_is_installed();
  if (!can_draw) {
    drawing.notes.emplace_back(
        "gnuplot is not installed, so no charts were drawn; install it (Debian: gnuplot-nox) and "
        "run it on the .gp files");
  }
  make_directory(directory);
  const std::vector<Record> rows = mean_over_processes(run.records);
  const std::vector<std::string> axes = axis_names(run);
  std::set<std::string> taken;
  for (const ChartSpec& spec : specs) {
    try {
      Chart chart = make_chart(spec, run.columns, rows, axes);
      chart.spec.name = file_name(chart.spec.name, taken);
      draw_chart(std::move(chart), directory, can_draw, drawing);
    } catch (const Error& error) {
      drawing.notes.push_back(fmt::format(
          "chart {}: {}", spec.name.empty() ? fmt::format("of {} by {}", spec.y, spec.x) : spec.name, error.what()));
    }
  }
}

Drawing draw(const Run& run, const std::vector<ChartSpec>& specs, const std::filesystem::path& directory) {
  Drawing drawing;
  try {
    if (!specs.empty() && !run.records.empty()) draw_charts(run, specs, directory, drawing);
  } catch (const Error& error) {
    drawing.notes.push_back(fmt::format("charts: {}", error.what()));
  }
  return drawing;
}

// What run.json has of a run that died may be anything.
Drawing draw_announced(const Run& run, const std::filesystem::path& directory) {
  std::vector<ChartSpec> specs;
  std::vector<std::string> notes;
  try {
    specs = charts_in(run.info);
  } catch (const Error& error) {
    notes.emplace_back(error.what());
  }
  Drawing drawing = draw(run, specs, directory);
  drawing.notes.insert(drawing.notes.begin(), notes.begin(), notes.end());
  return drawing;
}

Info expectations_info(const std::vector<Expectation>& expectations) {
  Info::List list;
  for (const Expectation& expectation : expectations) {
    list.emplace_back(Info::Fields{{"id", expectation.id},
                                   {"claim", expectation.claim},
                                   {"verdict", expectation.verdict},
                                   {"reason", expectation.reason},
                                   {"answer", expectation.answer}});
  }
  return list;
}

Run run_of(const RunWriter& writer) {
  return {writer.directory(), writer.columns(), writer.records(), writer.info()};
}

Info::Fields drawn_info(const Drawing& drawing) {
  return {{"charts", drawing.info}, {"notes", Info::List(drawing.notes.begin(), drawing.notes.end())}};
}

// The pages of a run whose other files are written.
FinishedRun write_pages(const Run& run, Drawing drawing, const std::filesystem::path& out) {
  const std::filesystem::path page = run.directory / "report.html";
  replace_file(page, report_page(run, drawing.charts));
  write_index(out);
  return {page, std::move(drawing.notes)};
}

FinishedRun finish_with(RunWriter& writer, Drawing drawing, const std::string& status) {
  writer.set_info(drawn_info(drawing));
  writer.finish(status);
  return write_pages(run_of(writer), std::move(drawing), writer.plan().out);
}

void cut_torn_line(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) return;
  const std::string text = read_file(path);
  const std::size_t whole = whole_csv_lines(text).size();
  if (whole < text.size()) AppendFile(path).truncate(static_cast<std::int64_t>(whole));
}

// One process at a time reads which runs there are and writes that down, so that the last page names them all. Where
// the file system has no locks, or another process keeps it for long, the page is written all the same.
class FolderLock {
 public:
  explicit FolderLock(const std::filesystem::path& folder)
      : descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    constexpr std::chrono::milliseconds longest{1000}, pause{10};
    for (auto waited = pause; ::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK && waited < longest;
         waited += pause) {
      std::this_thread::sleep_for(pause);
    }
  }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  ~FolderLock() { ::close(descriptor_); }

 private:
  int descriptor_;
};

}  // namespace

void announce(RunWriter& writer, const std::vector<ChartSpec>& charts, std::vector<Expectation> claims) {
  Info::List specs;
  for (const ChartSpec& chart : charts) specs.push_back(chart_info(chart));
  for (Expectation& claim : claims) {
    claim.verdict = "inconclusive";
    claim.reason = not_judged;
  }
  writer.set_info(Info::Fields{{"charts", std::move(specs)}, {"expectations", expectations_info(claims)}});
}

FinishedRun finish_run(RunWriter& writer, const Finish& finish) {
  Drawing drawing = draw(run_of(writer), finish.charts, writer.chart_directory());
  writer.set_info(Info::Fields{{"expectations", expectations_info(finish.expectations)}});
  return finish_with(writer, std::move(drawing), finish.status);
}

FinishedRun finish_unjudged(RunWriter& writer, const std::string& status) {
  return finish_with(writer, draw_announced(run_of(writer), writer.chart_directory()), status);
}

std::optional<FinishedRun> finish_stored(const std::filesystem::path& directory) {
  if (is_archive(directory)) {
    throw Error(
        fmt::format("finish: '{}' is an archive, which is not changed: unpack it with tar -xzf, and give the "
                    "folder",
                    directory.string()));
  }
  const std::filesystem::path samples = directory / "samples.csv";
  Run run = read_run(directory);
  const bool ended = !run.info.text("finished").empty();
  if (ended && std::filesystem::exists(directory / "report.html")) return std::nullopt;
  if (lock_of(samples) == Lock::held) {
    throw Error(
        fmt::format("finish: a process still writes '{}'; end it first, or wait for its end", directory.string()));
  }
  const RunPlace place = place_of_run(directory, "finish");
  if (!ended) {
    for (const auto& file : {directory / "results.csv", samples}) cut_torn_line(file);
    run.info.set("status", std::string(died_status));
    const auto last = std::filesystem::last_write_time(directory / "results.csv");
    run.info.set("finished", utc_text(std::chrono::time_point_cast<std::chrono::system_clock::duration>(
                                 std::chrono::file_clock::to_sys(last))));
    set_totals(run.info, run.columns, run.records);
  }
  Drawing drawing = draw_announced(run, plots_root(place.out) / place.experiment / place.name);
  if (!ended) drawing.notes.emplace_back("The program ended before the run did: points may be missing.");
  for (auto& [name, value] : drawn_info(drawing)) run.info.set(name, std::move(value));
  replace_file(directory / "run.json", to_json(run.info));
  return write_pages(run, std::move(drawing), place.out);
}

std::filesystem::path write_index(const std::filesystem::path& out) {
  const FolderLock one_at_a_time(results_root(out));
  const std::filesystem::path index = results_root(out) / "index.html";
  replace_file(index, index_page(list_runs(out)));
  return index;
}

}  // namespace gpubench
