#include "core/results/run_reader.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <set>
#include <utility>

#include "core/base/error.h"
#include "core/base/shown_text.h"
#include "core/codec/temporary_name.h"
#include "core/results/append_file.h"
#include "core/results/csv.h"
#include "core/results/run_directory.h"

namespace gpubench {
namespace {

constexpr std::string_view unreadable_status = "unreadable";

// Also a damaged one without results.csv; a run that has just begun, which has none yet, holds its lock.
bool is_run(const std::filesystem::path& directory) {
  if (std::filesystem::exists(directory / "results.csv")) return true;
  return std::filesystem::exists(directory / "run.json") && lock_of(directory / "samples.csv") != Lock::held;
}

std::vector<std::filesystem::path> directories_in(const std::filesystem::path& parent) {
  std::vector<std::filesystem::path> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(parent, error)) {
    if (entry.is_directory(error) && !is_temporary(entry.path().filename().native())) found.push_back(entry.path());
  }
  std::ranges::sort(found);
  return found;
}

// Names start with the time, so that the last is the newest; "-10" comes after "-9".
bool older(const std::filesystem::path& a, const std::filesystem::path& b) {
  const std::string left = a.filename().string();
  const std::string right = b.filename().string();
  const std::string time_left = left.substr(0, left.find('-'));
  const std::string time_right = right.substr(0, right.find('-'));
  if (time_left != time_right) return time_left < time_right;
  if (left.size() != right.size()) return left.size() < right.size();
  return left < right;
}

// In the order of list_runs().
std::vector<std::filesystem::path> runs_in(const std::filesystem::path& experiment) {
  auto directories = directories_in(experiment);
  std::erase_if(directories, [](const auto& directory) { return !is_run(directory); });
  std::ranges::sort(directories, [](const auto& a, const auto& b) { return older(b, a); });
  return directories;
}

// Of all experiments, newest first.
std::vector<std::filesystem::path> runs_below(const std::filesystem::path& out) {
  std::vector<std::filesystem::path> runs;
  for (const auto& experiment : directories_in(results_root(out))) {
    for (auto& run : runs_in(experiment)) runs.push_back(std::move(run));
  }
  std::ranges::sort(runs, [](const auto& a, const auto& b) { return older(b, a); });
  return runs;
}

// A script's own columns are described in run.json alone, once the run has ended. By name.
std::map<std::string, Column> declared_columns(const Info& info, const std::string& place) {
  std::map<std::string, Column> columns;
  const Info::List& list = info.items("columns");
  if (list.size() > most_columns) return columns;
  for (const Info& declared : list) {
    const std::string name = declared.text("name");
    try {
      Column column = column_of(name);
      if (const std::string unit = declared.text("unit"); !unit.empty()) column.unit = parse_unit(unit);
      if (const std::string better = declared.text("better"); !better.empty()) column.better = parse_better(better);
      if (const std::string kind = declared.text("kind"); !kind.empty()) column.kind = parse_kind(kind);
      const Info* const threshold = declared.find("threshold");
      const std::optional<double> share = threshold && threshold->cell() ? number_in(*threshold->cell()) : std::nullopt;
      if (threshold != nullptr && !(share && *share > 0 && *share <= 0.5))
        throw Error(
            fmt::format("threshold {}: a share above 0 and at most 0.5 is expected", declared.text("threshold")));
      column.threshold = share.value_or(0);
      // As runs before the field "kind" have it.
      if (declared.text("text") == "true") column.kind = Kind::text;
      columns.insert_or_assign(name, std::move(column));
    } catch (const Error& error) {
      throw Error(fmt::format("{}: column '{}': {}", place, shown_text(name), error.what()));
    }
  }
  return columns;
}

std::vector<Column> columns_of(const std::vector<std::string>& names, const Info& info, const RunFiles& files) {
  std::map<std::string, Column> declared = declared_columns(info, files.path_of("run.json"));
  std::set<std::string_view> seen;
  std::vector<Column> columns;
  for (const std::string& name : names) {
    if (!seen.insert(name).second)
      throw Error(fmt::format("{}: the column '{}' is there twice", files.path_of("results.csv"), shown_text(name)));
    const auto found = declared.find(name);
    columns.push_back(found == declared.end() ? column_of(name) : found->second);
  }
  return columns;
}

bool may_be_torn(const Info& info) {
  const std::string status = info.text("status");
  return status == unfinished_status || status == died_status;
}

/// Facts of run.json that lists of runs keep; all of them, of many runs, would take much memory.
constexpr std::array<std::string_view, 7> listed_facts{"tags",    "group",        "machine", "devices",
                                                       "program", "expectations", "answers"};
/// Values among these facts, of all runs of a list: about 60 bytes of memory each; a usual run has 200.
constexpr std::size_t most_listed_values = 4'000'000;

std::size_t count_values(const Info& info) {
  std::size_t count = 1;
  if (const auto* const list = info.list())
    for (const Info& one : *list) count += count_values(one);
  if (const auto* const fields = info.fields())
    for (const auto& [name, value] : *fields) count += count_values(value);
  return count;
}

Info listed_facts_of(const Info& info) {
  if (info.fields() == nullptr) return {};
  Info::Fields listed;
  for (const std::string_view name : listed_facts)
    if (const Info* const field = info.find(name)) listed.emplace_back(name, *field);
  return listed;
}

RunSummary summary_of(const std::filesystem::path& directory) {
  RunSummary summary;
  summary.directory = directory;
  summary.name = directory.filename().string();
  summary.experiment = directory.parent_path().filename().string();
  try {
    const Info info = parse_json(read_file(directory / "run.json"), "run.json");
    summary.info = listed_facts_of(info);
    summary.title = info.text("title");
    summary.started = info.text("started");
    summary.status = run_status(info, directory);
    // Counted, because the run.json of a program that died has no final count.
    const std::string text = read_file(directory / "results.csv");
    const auto lines = parse_csv(may_be_torn(info) ? whole_csv_lines(text) : text, "results.csv");
    summary.rows = lines.empty() ? 0 : lines.size() - 1;
  } catch (const Error& error) {
    summary.status = unreadable_status;
    summary.damage = error.what();
  }
  return summary;
}

Run read_whole_run(const RunFiles& files) {
  Run run;
  run.directory = files.place();
  run.info = parse_json(files.read("run.json"), files.path_of("run.json"));

  if (may_be_torn(run.info)) run.info.set("status", run_status(run.info, files.place()));
  const std::string rows_path = files.path_of("results.csv");
  const std::string text = files.read("results.csv");
  const auto lines = parse_csv(may_be_torn(run.info) ? whole_csv_lines(text) : text, rows_path);
  if (lines.empty()) throw Error(fmt::format("{}: empty; a header line was expected", rows_path));
  run.columns = columns_of(lines.front(), run.info, files);
  for (std::size_t row = 1; row < lines.size(); ++row) {
    const auto& fields = lines[row];
    if (fields.size() != run.columns.size()) {
      throw Error(fmt::format("{}: row {} has {} fields; the header has {}", rows_path, row, fields.size(),
                              run.columns.size()));
    }
    std::vector<std::pair<std::string, Cell>> cells;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      Cell cell = cell_of_csv(fields[i], run.columns[i].is_text());
      if (!is_empty(cell)) cells.emplace_back(run.columns[i].name, std::move(cell));
    }
    run.records.emplace_back(std::move(cells));
  }
  return run;
}

}  // namespace

bool is_of_this_machine(const std::filesystem::path& directory) {
  const std::string name = directory.filename().string();
  const std::size_t host = name.find('-');
  if (host == std::string::npos || name.compare(host + 1, host_name().size(), host_name()) != 0) return false;
  const std::size_t end = host + 1 + host_name().size();
  return end == name.size() || name[end] == '-';
}

std::string run_status(const Info& info, const std::filesystem::path& directory) {
  const std::string status = info.text("status");
  if (status != unfinished_status || !is_of_this_machine(directory)) return status;
  return lock_of(directory / "samples.csv") == Lock::free ? std::string(died_status) : status;
}

Run read_run(const std::filesystem::path& place) {
  return read_run(RunFiles(place));
}

Run read_run(const RunFiles& files) {
  try {
    return read_whole_run(files);
  } catch (const Error& error) {
    throw Error(fmt::format("a damaged run: {}", error.what()));
  }
}

std::vector<RunSummary> list_runs(const std::filesystem::path& out) {
  std::vector<RunSummary> runs;
  std::size_t values = 0;
  for (const auto& experiment : directories_in(results_root(out))) {
    for (const auto& directory : runs_in(experiment)) {
      RunSummary summary = summary_of(directory);
      if (!is_run(directory)) continue;  // `gpubench prune` may have removed it
      const std::size_t added = count_values(summary.info);
      if (values + added <= most_listed_values) {
        values += added;
      } else {
        summary.info = {};
        summary.status = unreadable_status;
      }
      runs.push_back(std::move(summary));
    }
  }
  return runs;
}

std::vector<std::filesystem::path> runs_of_this_machine(const std::string& experiment, const std::filesystem::path& out,
                                                        std::size_t most) {
  std::vector<std::filesystem::path> runs = runs_in(results_root(out) / experiment);
  std::erase_if(runs, [](const auto& directory) { return !is_of_this_machine(directory); });
  if (runs.size() > most) runs.resize(most);
  return runs;
}

std::filesystem::path find_run(const std::string& text, const std::filesystem::path& out) {
  std::filesystem::path path(text);
  if (is_run(path) || is_archive(path)) return path;
  if (path.filename() == "results.csv" && is_run(path.parent_path())) return path.parent_path();
  if (is_run(results_root(out) / path)) return results_root(out) / path;
  if (const auto inside = runs_in(path); !inside.empty()) return inside.front();
  if (const auto unpacked = runs_below(path); !unpacked.empty()) return unpacked.front();

  const std::vector<RunSummary> runs = list_runs(out);
  std::set<std::string> experiments;
  for (const RunSummary& run : runs) {
    if (run.name == text || run.experiment == text) return run.directory;
    experiments.insert(run.experiment);
  }
  if (runs.empty())
    throw Error(fmt::format("no run '{}': there are no runs in '{}'", text, results_root(out).string()));
  throw Error(
      fmt::format("no run '{}' in '{}': give a run's directory, its name or its experiment; there are runs of {}", text,
                  results_root(out).string(), fmt::join(experiments, ", ")));
}

}  // namespace gpubench
