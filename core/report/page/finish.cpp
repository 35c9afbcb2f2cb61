#include "core/report/page/finish.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <iterator>

#include "core/base/error.h"
#include "core/codec/output_file.h"
#include "core/report/chart/chart_info.h"
#include "core/report/chart/draw.h"
#include "core/report/chart/profile_chart.h"
#include "core/report/page/page.h"
#include "core/report/text/render.h"
#include "core/results/append_file.h"
#include "core/results/csv.h"
#include "core/results/folder_lock.h"
#include "core/results/run_directory.h"
#include "core/results/run_reader.h"

namespace gpubench {
namespace {

constexpr std::string_view not_judged = "the run ended before its claims were judged";

// What run.json has of a run that died may be anything.
Drawing draw_announced(const Run& run, const std::filesystem::path& directory, const ChartFormats& formats) {
  std::vector<ChartSpec> specs;
  std::vector<std::string> notes;
  try {
    specs = charts_in(run.info);
  } catch (const Error& error) {
    notes.emplace_back(error.what());
  }
  Drawing drawing = draw(run, specs, directory, formats);
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

// Of a run that came from elsewhere: nothing that its end writes or removes may land behind a link.
void refuse_links_of(const RunPlace& place, std::string_view command) {
  for (const char* root : {"results", "plots"})
    refuse_links(place.out, std::filesystem::path(root) / place.experiment / place.name, command);
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
  std::ranges::move(profile_charts(run.directory, drawing.notes), std::back_inserter(drawing.charts));
  replace_file(page, report_page(run, drawing.charts));
  write_index(out);
  return {page, std::move(drawing.notes)};
}

FinishedRun finish_with(RunWriter& writer, Drawing drawing, const std::string& status) {
  try {
    writer.set_info(drawn_info(drawing));
  } catch (const Error& error) {
    drawing.notes.emplace_back(error.what());  // on a full disk, the status matters more
  }
  writer.finish(status);
  return write_pages(run_of(writer), std::move(drawing), writer.plan().out);
}

void cut_torn_line(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) return;
  const std::string text = read_file(path);
  const std::size_t whole = whole_csv_lines(text).size();
  if (whole < text.size()) replace_file(path, text.substr(0, whole));
}

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
  Drawing drawing = draw(run_of(writer), finish.charts, writer.chart_directory(), finish.formats);
  writer.set_info(Info::Fields{{"expectations", expectations_info(finish.expectations)}});
  return finish_with(writer, std::move(drawing), finish.status);
}

FinishedRun finish_unjudged(RunWriter& writer, const std::string& status, const ChartFormats& formats) {
  return finish_with(writer, draw_announced(run_of(writer), writer.chart_directory(), formats), status);
}

std::optional<FinishedRun> finish_stored(const std::filesystem::path& directory, const ChartFormats& formats) {
  if (is_archive(directory)) {
    throw Error(
        fmt::format("finish: '{}' is an archive, which is not changed: unpack it with tar -xzf, and give the folder",
                    directory.string()));
  }
  const std::filesystem::path samples = directory / "samples.csv";
  Run run = read_run(directory);
  const bool ended = !run.info.text("finished").empty();
  const bool has_report = std::filesystem::exists(directory / "report.html");
  if (ended && has_report && formats.empty()) return std::nullopt;
  if (lock_of(samples) == Lock::held) {
    throw Error(
        fmt::format("finish: a process still writes '{}'; end it first, or wait for its end", directory.string()));
  }
  const RunPlace place = place_of_run(directory, "finish");
  refuse_links_of(place, "finish");
  if (!ended) {
    for (const auto& file : {directory / "results.csv", samples}) cut_torn_line(file);
    run.info.set("status", std::string(died_status));
    const auto last = std::filesystem::last_write_time(directory / "results.csv");
    run.info.set("finished", utc_text(std::chrono::time_point_cast<std::chrono::system_clock::duration>(
                                 std::chrono::file_clock::to_sys(last))));
    set_totals(run.info, run.columns, run.records);
  }
  Drawing drawing = draw_announced(run, plots_root(place.out) / place.experiment / place.name, formats);
  if (run.info.text("status") == died_status)
    drawing.notes.emplace_back("The program ended before the run did: points may be missing.");
  for (auto& [name, value] : drawn_info(drawing)) run.info.set(name, std::move(value));
  replace_file(directory / "run.json", to_json(run.info));
  return write_pages(run, std::move(drawing), place.out);
}

// One process at a time reads which runs there are and writes that down, so that the last page names them all. If
// another process keeps the lock for long, the page is written all the same.
std::filesystem::path write_index(const std::filesystem::path& out) {
  refuse_links(out, "results", "index");
  const FolderLock one_at_a_time(results_root(out), std::chrono::seconds(1));
  const std::filesystem::path index = results_root(out) / "index.html";
  replace_file(index, index_page(list_runs(out)));
  return index;
}

}  // namespace gpubench
