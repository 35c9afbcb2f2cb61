// hyperfine's JSON: each run of a command is a process. The i-th runs of all commands make one process here.
#include <algorithm>
#include <fmt/format.h>

#include "core/base/input_limits.h"
#include "core/base/shown_text.h"
#include "core/compare/foreign/figure_name.h"
#include "core/compare/foreign/reader.h"
#include "core/results/cell.h"

namespace gpubench {
namespace {

namespace fs = std::filesystem;

std::optional<double> number_at(const Info& result, std::string_view name, std::size_t index) {
  const Info::List& items = result.items(name);
  return index < items.size() && items[index].cell() ? number_in(*items[index].cell()) : std::nullopt;
}

/// Of run `index`; hyperfine goes on after failures only where it was told to. "unknown" for a signal.
std::string exit_code_of(const Info& result, std::size_t index) {
  if (index >= result.items("exit_codes").size()) return "0";
  const auto number = number_at(result, "exit_codes", index);
  return number ? fmt::format("{:.0f}", *number) : "unknown";
}

/// The command and parameters of one result. Old versions have one parameter, without its name.
Record settings_of(const Info& result, const fs::path& file) {
  std::vector<std::pair<std::string, Cell>> settings{{"command", result.text("command")}};
  if (const std::string parameter = result.text("parameter"); !parameter.empty())
    settings.emplace_back("parameter", parameter);
  if (const Info* parameters = result.find("parameters"); parameters && parameters->fields()) {
    for (const auto& [name, value] : *parameters->fields())
      if (value.cell()) settings.emplace_back(column_name_in(name, file, "parameters"), to_text(*value.cell()));
  }
  if (settings.size() > most_columns)
    fail(file, fmt::format("{} parameters; at most {} are possible", settings.size(), most_columns));
  Record record;
  for (auto& [name, value] : settings) {
    if (record.has(name)) fail(file, fmt::format("two parameters would be the column '{}'", shown_text(name)));
    record.set(name, std::move(value));
  }
  return record;
}

bool is_hyperfine(const Info& json) {
  const Info* const results = json.find("results");
  if (results == nullptr || results->list() == nullptr) return false;
  const Info* const first = first_of(json, "results");
  return results->list()->empty() || (first != nullptr && first->find("command") != nullptr);
}

/// Run `index` of one result, whose settings are in `record`.
Record record_of_run(Record record, const Info& result, std::size_t index, const fs::path& file) {
  const auto seconds = number_at(result, "times", index);
  if (!seconds) fail(file, fmt::format("time {} of '{}' is no number", index + 1, shown_text(result.text("command"))));
  if (const std::string exit = exit_code_of(result, index); exit != "0") {
    record.set("status", std::string("error"));
    record.set("detail", fmt::format("the command ended with exit code {}", exit));
    return record;
  }
  record.set("time_s", *seconds);
  if (const auto bytes = number_at(result, "memory_usage_byte", index)) record.set("memory_bytes", *bytes);
  return record;
}

std::vector<MeasuringProcess> read_hyperfine(const fs::path& file, const Info& json) {
  const Info::List& results = objects_in(json, "results", file);
  if (results.empty()) fail(file, "it has no results");
  std::vector<ProcessRows> processes;
  std::vector<std::string> open;
  std::size_t cells = 0;
  for (const Info& result : results) {
    const std::size_t runs = result.items("times").size();
    if (runs == 0) fail(file, fmt::format("'{}' has no times of its runs", shown_text(result.text("command"))));
    const Record settings = settings_of(result, file);
    for (const auto& [name, value] : settings.cells())
      if (std::ranges::find(open, name) == open.end()) open.push_back(name);
    check_process_count(runs, file);
    // Settings are repeated in each process.
    cells += runs * (settings.cells().size() + 1);
    if (cells > most_table_cells)
      fail(file, fmt::format("times with their parameters are more than {} cells", most_table_cells));
    for (std::size_t i = 0; i < runs; ++i) {
      if (i == processes.size())
        processes.emplace_back(file, "hyperfine", fmt::format("{} run {}", file.filename().string(), i + 1));
      processes[i].add(record_of_run(settings, result, i, file));
    }
  }
  if (open.size() * processes.size() > most_table_cells)
    fail(file, fmt::format("{} parameters in {} processes; at most {} together are possible", open.size(),
                           processes.size(), most_table_cells));
  for (ProcessRows& process : processes)
    for (const std::string& name : open) process.open(name);
  return taken(processes);
}

}  // namespace

constinit const JsonReader hyperfine_reader{.writer = "hyperfine",
                                            .features = "'results' with 'command'",
                                            .recognizes = &is_hyperfine,
                                            .read = &read_hyperfine};

}  // namespace gpubench
