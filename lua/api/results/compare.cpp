// gb._native.compare: sides, baselines and verdicts on changes, for the commands of the Lua library.
#include <algorithm>
#include <fmt/format.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/codec/output_file.h"
#include "core/compare/baseline.h"
#include "core/compare/calibration.h"
#include "core/compare/comparison.h"
#include "core/history/trend.h"
#include "core/report/page/comparison_page.h"
#include "core/report/page/side_latex.h"
#include "core/report/page/side_page.h"
#include "core/report/text/comparison.h"
#include "core/results/run_directory.h"
#include "lua/api/openers.h"
#include "lua/api/results_values.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {
namespace {

struct JudgeOptions {
  std::vector<std::string> sides;
  std::vector<std::string> names;
  std::vector<std::string> again;
  std::vector<std::string> more, rest;
  std::string out = ".";
  std::string format = "text";
  TextOptions style;
  std::vector<std::string> figures;
  std::vector<std::string> better;  // "NAME=lower"
  bool all_figures = false;
  bool strict = false;
  std::string threshold;  // "3 %"; empty: the default
  std::string file;
  static constexpr auto fields =
      std::tuple{required("sides", &JudgeOptions::sides),      field("names", &JudgeOptions::names),
                 field("again", &JudgeOptions::again),         field("out", &JudgeOptions::out),
                 field("more", &JudgeOptions::more),           field("rest", &JudgeOptions::rest),
                 field("format", &JudgeOptions::format),       field("style", &JudgeOptions::style),
                 field("figures", &JudgeOptions::figures),     field("all_figures", &JudgeOptions::all_figures),
                 field("strict", &JudgeOptions::strict),       field("file", &JudgeOptions::file),
                 field("threshold", &JudgeOptions::threshold), field("better", &JudgeOptions::better)};
};

/// A page; the other formats are those of runs too.
constexpr std::string_view page_format = "html";

/// "fps=higher" and so on.
std::vector<std::pair<std::string, Better>> directions_of(const std::vector<std::string>& texts) {
  std::vector<std::pair<std::string, Better>> directions;
  for (const std::string& text : texts) {
    const std::size_t at = text.rfind('=');
    const std::string word = at == std::string::npos ? "" : text.substr(at + 1);
    if (at == 0 || (word != "lower" && word != "higher"))
      throw Error(fmt::format("compare: better '{}': NAME=lower or NAME=higher is expected, such as fps=higher", text));
    directions.emplace_back(text.substr(0, at), parse_better(word));
  }
  return directions;
}

std::vector<Side> sides_of(const std::vector<std::string>& texts, const JudgeOptions& options) {
  std::vector<std::string> figures = options.figures;
  for (auto& [name, better] : directions_of(options.better)) figures.push_back(name);
  std::vector<Side> sides = read_sides(texts, options.out, figures);
  for (std::size_t i = 0; i < sides.size() && i < options.names.size(); ++i) sides[i].name = options.names[i];
  return sides;
}

Info loud_rows(const Comparison& comparison) {
  Info::List rows;
  for (const ComparedRow& row : comparison.rows) {
    for (const Change& change : row.changes) {
      if (!change.is_alarm()) continue;
      Info::Fields axes;
      for (const auto& [name, value] : row.key.axes) axes.emplace_back(name, value);
      rows.push_back(Info::Fields{{"experiment", row.key.experiment},
                                  {"axes", std::move(axes)},
                                  {"row", row_text(row)},
                                  {"figure", change.column.name},
                                  {"vanished", change.verdict == ChangeVerdict::vanished}});
    }
  }
  return rows;
}

std::string rendered(const std::vector<Side>& sides, const Comparison& comparison, const JudgeOptions& options) {
  if (options.format != page_format) return render_comparison(comparison, parse_format(options.format), options.style);
  return comparison_page(sides, comparison, std::filesystem::path(options.file).parent_path());
}

/// judge(options) -> { text, headline, status, loud }
int judge(lua_State* L) {
  const auto options = Value<JudgeOptions>::read(L, 1);
  if (options.format != page_format) parse_format(options.format);  // before work is done for it
  const double threshold = options.threshold.empty() ? ChangeLimits{}.threshold : parse_threshold(options.threshold);
  const auto compared = [&](const std::vector<Side>& sides) {
    const StoredCalibration limits(sides, options.out);
    return compare_sides(sides, {.figures = options.figures,
                                 .all_figures = options.all_figures,
                                 .better = directions_of(options.better),
                                 .threshold = threshold,
                                 .limits = &limits});
  };
  const std::vector<Side> sides = sides_of(options.sides, options);
  Comparison comparison = compared(sides);
  if (!options.more.empty()) comparison.more = {options.more, options.rest};
  if (!options.again.empty()) confirm(comparison, compared(sides_of(options.again, options)));
  const std::string text = rendered(sides, comparison, options);
  if (!options.file.empty()) replace_file(options.file, text);
  Value<Info>::push(L, Info(Info::Fields{{"text", text},
                                         {"headline", headline_of(comparison)},
                                         {"status", exit_status_of(comparison, options.strict)},
                                         {"loud", loud_rows(comparison)}}));
  return 1;
}

const Info& facts_of(const Side& side, const std::string& experiment) {
  return std::ranges::find_if(side.processes,
                              [&](const MeasuringProcess& one) { return one.info.text("experiment") == experiment; })
      ->info;
}

/// Of the side's experiments, as far as there is a history that knows them.
std::map<std::string, Trend> trends_of(const Side& side, const std::string& out) {
  std::map<std::string, Trend> trends;
  const std::filesystem::path file = history_file(out);
  if (!std::filesystem::exists(file)) return trends;
  const RunHistory history(file.string());  // an older schema is brought up to date
  const std::vector<std::string> known = history.experiments();
  for (const std::string& experiment : experiments_of(side)) {
    if (std::ranges::find(known, experiment) == known.end()) continue;
    const Info& run = facts_of(side, experiment);
    trends.emplace(experiment, trend(history, experiment,
                                     [&](const HistorySeries& series) { return has_params_of(series.key, run); }));
  }
  return trends;
}

void write_side(const std::string& text, const std::string& out, const std::string& file) {
  const Side side = read_side(text, out);
  const std::filesystem::path path = file;
  replace_file(path, side_page(side, trends_of(side, out), path.parent_path()));
}

struct LatexOptions {
  std::string side;
  std::string out = ".";
  std::string file;
  std::vector<std::string> figures;
  bool all_figures = false;
  static constexpr auto fields = std::tuple{
      required("side", &LatexOptions::side), required("file", &LatexOptions::file), field("out", &LatexOptions::out),
      field("figures", &LatexOptions::figures), field("all_figures", &LatexOptions::all_figures)};
};

void write_latex(const LatexOptions& options) {
  const Side side = read_side(options.side, options.out, options.figures);
  replace_file(options.file, side_latex(side, {.figures = options.figures, .all_figures = options.all_figures}));
}

std::vector<std::string> runs_of(const std::string& text, const std::string& out) {
  std::vector<std::string> folders;
  for (const MeasuringProcess& process : read_side(text, out).processes) {
    if (is_archive(process.source))
      throw Error(fmt::format("baseline: {} is an archive; unpack it, and give the folder of its runs",
                              process.source.string()));
    if (std::filesystem::is_directory(process.source)) folders.push_back(process.source.string());
  }
  if (folders.empty()) throw Error(fmt::format("baseline: '{}' has no runs of this program", text));
  return folders;
}

std::string save(const std::string& name, const std::vector<std::string>& runs, const std::string& out) {
  const std::vector<std::filesystem::path> folders(runs.begin(), runs.end());
  return save_baseline(name, folders, out).string();
}

/// baselines(out) -> array of { name, runs }, or { name, error } for one that cannot be read
Info baselines(const std::string& out) {
  Info::List list;
  for (const std::string& name : baseline_names(out)) {
    Info one(Info::Fields{{"name", name}});
    try {
      Info::List runs;
      for (const MeasuringProcess& process : read_side(name, out).processes) runs.emplace_back(process.source.string());
      one.set("runs", Info(std::move(runs)));
    } catch (const Error& error) {
      one.set("error", std::string(error.what()));
    }
    list.push_back(std::move(one));
  }
  return list;
}

/// calibrate(text, figures, out) -> { file, machine, rows }
Info calibrate_with(const std::string& text, const std::vector<std::string>& figures, const std::string& out) {
  const Calibration calibration = calibrate(read_side(text, out, figures), {.figures = figures});
  Info::List rows;
  for (const CalibratedFigure& figure : calibration.figures) {
    for (const CalibratedSize& size : figure.sizes) {
      Info row(Info::Fields{{"experiment", figure.experiment},
                            {"figure", figure.figure},
                            {"noise_share", figure.noise},
                            {"processes", static_cast<std::int64_t>(size.processes)},
                            {"false_alarms_share", size.false_positive_rate},
                            {"found_of_1_percent_share", size.found_1},
                            {"found_of_2_percent_share", size.found_2},
                            {"found_of_5_percent_share", size.found_5}});
      if (size.visible) row.set("sees_from_share", *size.visible);
      rows.push_back(std::move(row));
    }
  }
  return Info::Fields{{"file", store_calibration(calibration, out).string()},
                      {"machine", calibration.machine},
                      {"rows", std::move(rows)}};
}

std::string new_group() {
  return fmt::format("{}-{}-{}", utc_text(std::chrono::system_clock::now()), host_name(), getpid());
}

}  // namespace

void open_compare(lua_State* L) {
  const Module gb = Module::root(L);
  const Module native = gb.submodule("_native");
  const Module compare = native.submodule("compare");
  compare.function<&judge, 1>("judge")
      .function<&write_side>("write_side")
      .function<&write_latex>("write_latex")
      .function<&runs_of>("runs_of")
      .function<&save>("save_baseline")
      .function<&baselines>("baselines")
      .function<&calibrate_with>("calibrate")
      .function<&new_group>("new_group");
}

}  // namespace gpubench::lua
