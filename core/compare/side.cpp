#include "core/compare/side.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <set>

#include "core/base/error.h"
#include "core/codec/output_folder.h"
#include "core/compare/baseline.h"
#include "core/compare/column_roles.h"
#include "core/compare/foreign/foreign.h"
#include "core/results/append_file.h"
#include "core/results/mean_over_processes.h"
#include "core/results/run_directory.h"
#include "core/results/run_reader.h"
#include "core/results/run_writer.h"

namespace gpubench {
namespace {

namespace fs = std::filesystem;

bool holds_run(const fs::path& directory) {
  return !is_temporary(directory.filename().native()) && fs::exists(directory / "results.csv");
}

std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::string group_of(const Info& info) {
  const Info* group = info.find("group");
  return group ? group->text("id") : "";
}

/// The run's own folder, and those of the processes that were started with it.
std::vector<fs::path> with_group(const fs::path& directory, const Info& info, bool same_experiment_only) {
  const std::string id = group_of(info);
  if (id.empty()) return {directory};
  const fs::path own = fs::canonical(directory);
  std::vector<fs::path> members;
  std::vector<fs::path> folders{own.parent_path()};
  if (!same_experiment_only) {
    folders.clear();
    for (const auto& entry : fs::directory_iterator(own.parent_path().parent_path()))
      if (entry.is_directory()) folders.push_back(entry.path());
  }
  for (const fs::path& folder : folders) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      const fs::path file = entry.path() / "run.json";
      if (!entry.is_directory() || !holds_run(entry.path()) || !fs::exists(file)) continue;
      if (group_of(parse_json(read_file(file), file.string())) == id) members.push_back(entry.path());
    }
  }
  std::ranges::sort(members);
  return members;
}

Info info_in(const fs::path& directory) {
  const fs::path file = directory / "run.json";
  return parse_json(read_file(file), file.string());
}

/// Runs below a folder, however deep a folder of results lies: an experiment's, results/, or what holds it. Archives
/// only where there is no run: they may be of the runs beside them.
std::vector<fs::path> runs_below(const fs::path& folder) {
  constexpr int deepest = 3;
  std::vector<fs::path> runs, archives;
  std::error_code error;
  for (auto entry = fs::recursive_directory_iterator(folder, error); entry != fs::recursive_directory_iterator();
       entry.increment(error)) {
    if (error) break;
    if (is_archive(entry->path())) archives.push_back(entry->path());
    if (entry.depth() >= deepest || is_temporary(entry->path().filename().native())) entry.disable_recursion_pending();
    if (!entry->is_directory() || !holds_run(entry->path())) continue;
    runs.push_back(entry->path());
    entry.disable_recursion_pending();
  }
  if (runs.empty()) runs = std::move(archives);
  std::ranges::sort(runs);
  return runs;
}

[[noreturn]] void throw_unknown(const std::string& text, const std::vector<RunSummary>& runs, const fs::path& out) {
  std::set<std::string> experiments, tags;
  for (const RunSummary& run : runs) {
    experiments.insert(run.experiment);
    for (const std::string& tag : run.info.texts("tags")) tags.insert(tag);
  }
  const std::vector<std::string> baselines = baseline_names(out);
  std::string known;
  const auto add = [&](std::string_view what, const auto& names) {
    if (!names.empty()) known += fmt::format("; {}: {}", what, fmt::join(names, ", "));
  };
  add("experiments", experiments);
  add("tags", tags);
  add("baselines", baselines);
  if (known.empty()) known = fmt::format("; there are no runs in '{}'", results_root(out).string());
  throw Error(fmt::format(
      "compare: '{}' is no run, folder of runs, archive, experiment, tag, baseline or file of results{}", text, known));
}

std::vector<fs::path> named_runs(const std::string& text, const fs::path& out) {
  if (const fs::path folder = baseline_folder(text, out); is_baseline(folder)) return runs_below(folder);
  std::vector<RunSummary> runs = list_runs(out);
  if (text == "last" && !runs.empty()) {
    const auto newest = std::ranges::max_element(runs, {}, [](const RunSummary& run) { return run.name; });
    return with_group(newest->directory, newest->info, false);
  }
  for (const RunSummary& run : runs)
    if (group_of(run.info) == text) return with_group(run.directory, run.info, false);
  for (const RunSummary& run : runs)
    if (run.name == text) return with_group(run.directory, run.info, true);
  for (const RunSummary& run : runs)  // the newest comes first
    if (run.experiment == text) return with_group(run.directory, run.info, true);
  std::vector<fs::path> tagged;
  for (const RunSummary& run : runs) {
    const std::vector<std::string> tags = run.info.texts("tags");
    if (std::ranges::find(tags, text) != tags.end()) tagged.push_back(run.directory);
  }
  if (tagged.empty()) throw_unknown(text, runs, out);
  std::ranges::sort(tagged);
  return tagged;
}

/// The folders of runs that one part names.
std::vector<fs::path> runs_of(const std::string& text, const fs::path& out) {
  const fs::path path(text);
  if (path.filename() == "results.csv" && holds_run(path.parent_path()) && fs::exists(path.parent_path() / "run.json"))
    return {path.parent_path()};
  if (!text.empty() && holds_run(path)) return with_group(path, info_in(path), true);
  if (!text.empty() && fs::is_directory(path)) {
    std::vector<fs::path> runs = runs_below(path);
    if (!runs.empty()) return runs;
    throw Error(
        fmt::format("compare: there are no runs in the folder '{}', and no results of others (.csv, .json)", text));
  }
  if (holds_run(results_root(out) / path)) {
    const fs::path directory = results_root(out) / path;
    return with_group(directory, info_in(directory), true);
  }
  return named_runs(text, out);
}

/// "hyperfine (a.json)".
std::string written_text(const MeasuringProcess& process) {
  return fmt::format("{} ({})", process.writer.empty() ? "this program" : process.writer, process.source.string());
}

/// A side whose size is watched while it grows.
struct GrowingSide {
  struct Size {
    std::size_t processes, cells;
  };
  Side side;
  std::size_t cells = 0;

  Size size() const { return {side.processes.size(), cells}; }
  void shrink(const Size& to) {
    side.processes.erase(side.processes.begin() + static_cast<std::ptrdiff_t>(to.processes), side.processes.end());
    cells = to.cells;
  }
  void add(MeasuringProcess process) {
    if (!side.processes.empty() && side.processes.front().writer != process.writer)
      throw Error(fmt::format("compare: '{}' mixes results of {} and of {}; a side is of one program", side.name,
                              written_text(side.processes.front()), written_text(process)));
    cells += process.records.size() * process.columns.size();
    side.processes.push_back(std::move(process));
    if (side.processes.size() > most_processes)
      throw Error(fmt::format("compare: '{}' has more than {} processes", side.name, most_processes));
    if (cells > most_side_cells)
      throw Error(
          fmt::format("compare: '{}' has more than {} cells, rows times columns of all processes; give fewer "
                      "runs, or one experiment",
                      side.name, most_side_cells));
  }
};

/// `gpubench baseline save` may run at the same time.
fs::path folder_that_may_be_replaced(const std::string& text, const fs::path& out) {
  const fs::path folder = baseline_folder(text, out);
  return is_baseline(folder) ? folder : fs::path(text);
}

void add_part(GrowingSide& growing, const std::string& text, const fs::path& out) {
  const fs::path path(text);
  const bool is_own = fs::exists(path.parent_path() / "run.json");
  if (fs::is_regular_file(path) && is_foreign(path) && !is_own) {
    for (MeasuringProcess& process : read_foreign(path)) growing.add(std::move(process));
    return;
  }
  if (is_archive(path)) {
    growing.add(process_of(RunFiles(path)));
    return;
  }
  if (fs::is_regular_file(path) && path.filename() != "results.csv")
    throw Error(fmt::format(
        "compare: '{}' is no file of results: results.csv or archive of a run, or CSV or JSON of others", text));
  if (fs::is_directory(path) && !holds_run(path) && runs_below(path).empty()) {
    const std::size_t before = growing.side.processes.size();
    read_foreign_folder(path, [&](MeasuringProcess process) { growing.add(std::move(process)); });
    if (growing.side.processes.size() > before) return;
  }
  const GrowingSide::Size before = growing.size();
  read_whole_folder(folder_that_may_be_replaced(text, out), [&] {
    growing.shrink(before);  // a folder that was replaced meanwhile is read again
    for (const fs::path& place : runs_of(text, out)) growing.add(process_of(RunFiles(place)));
  });
}

/// The same for copies of a run, wherever they lie.
std::string identity_of(const MeasuringProcess& process) {
  const bool is_run = !process.info.text("started").empty();
  return is_run ? to_json(process.info) : process.source.string() + "\n" + process.name;
}

Side side_of(const std::string& text, const fs::path& out) {
  GrowingSide growing{.side = {.name = text, .processes = {}}};
  Side& side = growing.side;
  std::error_code error;
  if (!text.empty() && fs::exists(text, error)) {
    add_part(growing, text, out);  // a comma may be part of its name
  } else {
    for (const std::string& part : parts_of(text)) {
      const fs::path source = fs::weakly_canonical(part, error);
      const bool is_there =
          std::ranges::find(side.processes, source, &MeasuringProcess::source) != side.processes.end();
      if (!is_there) add_part(growing, part, out);  // a run brings its whole group
    }
  }
  std::set<std::string> seen;
  std::erase_if(side.processes, [&](const MeasuringProcess& one) { return !seen.insert(identity_of(one)).second; });
  if (side.processes.empty()) throw Error(fmt::format("compare: '{}' has no results", text));
  return std::move(side);
}

}  // namespace

MeasuringProcess process_of(const RunFiles& files) {
  const Run run = read_run(files);
  const std::string place = files.place().string();
  const std::string status = run.info.text("status");
  if (status == unfinished_status) throw Error(fmt::format("compare: {} is being written; wait for its end", place));
  if (const Info* schema = run.info.find("schema"); schema && schema->cell()) {
    const std::optional<double> number = number_in(*schema->cell());
    if (number && *number > run_schema)
      throw Error(fmt::format("compare: {}: written by a newer program (schema {}; this one reads up to {})", place,
                              to_text(*schema->cell()), run_schema));
  }
  const std::optional<double> rows = run.info.number("rows");
  if (rows && *rows != static_cast<double>(run.records.size()))
    throw Error(fmt::format("compare: {}: results.csv is cut or changed: it has {} rows, run.json says {}", place,
                            run.records.size(), *rows));
  const std::string own_name = run.info.text("run");
  const bool packed = is_archive(files.place());
  MeasuringProcess process{.name = packed && !own_name.empty() ? own_name : files.place().filename().string(),
                           .source = fs::weakly_canonical(files.place()),
                           .info = run.info,
                           .axes = run.info.texts("axis_names"),
                           .columns = run.columns,
                           .records = mean_over_processes(run.records)};
  // Processes that were started together measure their points in different orders.
  std::ranges::stable_sort(process.records, {},
                           [](const Record& one) { return number_in(one.get("point")).value_or(0); });
  if (const Info* group = run.info.find("group")) process.varied = group->texts("varied");
  std::erase_if(process.axes, [&](const std::string& axis) {
    return std::ranges::find(process.varied, axis) != process.varied.end();
  });
  if (files.has("script.lua")) process.script = files.read("script.lua");
  return process;
}

Side read_side(const std::string& text, const std::filesystem::path& out, const std::vector<std::string>& figures) {
  return std::move(read_sides(std::span(&text, 1), out, figures).front());
}

std::vector<Side> read_sides(std::span<const std::string> texts, const std::filesystem::path& out,
                             const std::vector<std::string>& figures) {
  std::vector<Side> sides;
  for (const std::string& text : texts) sides.push_back(side_of(text, out));
  settle_roles(sides, figures);
  return sides;
}

void check_disjoint(std::span<const Side> sides) {
  std::map<fs::path, std::size_t> owners;
  for (std::size_t i = 0; i < sides.size(); ++i) {
    for (const MeasuringProcess& process : sides[i].processes) {
      const auto [owner, is_new] = owners.emplace(process.source, i);
      if (is_new || owner->second == i) continue;
      throw Error(fmt::format("compare: '{}' and '{}' both have {}; a process can be on one side only",
                              sides[owner->second].name, sides[i].name, process.source.string()));
    }
  }
}

}  // namespace gpubench
