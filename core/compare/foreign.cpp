#include "core/compare/foreign.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <optional>
#include <set>
#include <unordered_set>
#include <utility>

#include "core/base/error.h"
#include "core/base/shown_text.h"
#include "core/results/append_file.h"
#include "core/results/csv.h"

namespace gpubench {
namespace {

namespace fs = std::filesystem;

/// Characters of a list of names in a message.
constexpr std::size_t longest_list = 1000;

/// Collects the rows of one process, and columns for all of their cells.
class ProcessRows {
 public:
  /// `file` as it was given, and as it is known for.
  ProcessRows(const fs::path& file, const fs::path& source, std::string name, std::vector<std::string> axes = {})
      : place_(fmt::format("compare: {}", file.string())),
        process_{.name = std::move(name),
                 .source = source,
                 .info = Info(Info::Fields{}),
                 .axes = std::move(axes),
                 .columns = {},
                 .records = {}} {}

  void add(Record record) {
    for (const auto& [name, cell] : record.cells()) {
      if (!known_.insert(name).second) continue;
      Column column = column_of(name);
      if (std::holds_alternative<std::string>(cell)) column.kind = Kind::text;
      process_.columns.push_back(std::move(column));
    }
    process_.records.push_back(std::move(record));
    check_table_size(process_.records.size(), known_.size(), place_);
  }
  bool empty() const { return process_.records.empty(); }
  Info& info() { return process_.info; }
  void set_axes(const std::vector<std::string>& axes) { process_.axes = axes; }
  MeasuringProcess take() { return std::move(process_); }

 private:
  std::string place_;
  MeasuringProcess process_;
  std::unordered_set<std::string> known_;
};

std::vector<MeasuringProcess> taken(std::vector<ProcessRows>& all) {
  std::vector<MeasuringProcess> processes;
  for (ProcessRows& one : all) processes.push_back(one.take());
  return processes;
}

void check_name(std::string_view name, const fs::path& file, std::string_view place) {
  try {
    check_column_name(name);
  } catch (const Error& error) {
    throw Error(fmt::format("compare: {}: {}: {}", file.string(), place, error.what()));
  }
}

void check_processes(std::size_t count, const fs::path& file) {
  if (count > most_processes)
    throw Error(
        fmt::format("compare: {}: {} processes; at most {} can be compared", file.string(), count, most_processes));
}

// ---- CSV

/// What identifies a process, where both are there; the other then counts its repeats.
constexpr std::array<std::string_view, 2> process_columns{"process", "run"};

/// Words that this program's results have about a row, such as its status.
bool is_about_row(std::string_view name) {
  const Column* const column = find_standard_column(name);
  return column != nullptr && column->kind == Kind::text && !may_be_axis(name);
}

/// Integers without a known unit are settings, such as the number of threads; other numbers are figures.
bool is_axis_column(const Column& column, const std::vector<Cell>& cells) {
  if (column.kind == Kind::text || column.kind == Kind::setting) return true;
  if (column.kind != Kind::unknown) return false;
  return std::ranges::none_of(cells, [](const Cell& cell) { return std::holds_alternative<double>(cell); });
}

std::vector<MeasuringProcess> processes_of_csv(const fs::path& file, const std::string& text) {
  const auto lines = parse_csv(text, file.string());
  if (lines.empty())
    throw Error(fmt::format("compare: {}: empty; a line with the columns' names was expected", file.string()));
  const std::vector<std::string>& names = lines.front();
  if (names.size() == 1 && names.front().find(';') != std::string::npos)
    throw Error(fmt::format("compare: {}: commas between fields were expected, not semicolons", file.string()));
  if (lines.size() == 1) throw Error(fmt::format("compare: {}: no line follows the columns' names", file.string()));
  std::vector<std::vector<Cell>> cells(names.size());
  for (std::size_t row = 1; row < lines.size(); ++row) {
    if (lines[row].size() != names.size())
      throw Error(fmt::format("compare: {}: row {} has {} fields; the header has {}", file.string(), row,
                              lines[row].size(), names.size()));
    for (std::size_t i = 0; i < names.size(); ++i) cells[i].push_back(cell_of_csv(lines[row][i], false));
  }
  std::vector<std::string> axes;
  std::optional<std::size_t> process_index;
  for (const std::string_view name : process_columns) {
    const auto found = std::ranges::find(names, name);
    if (!process_index && found != names.end()) process_index = static_cast<std::size_t>(found - names.begin());
  }
  bool has_figure = false;
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < names.size(); ++i) {
    check_name(names[i], file, "the first line");
    if (!seen.insert(names[i]).second)
      throw Error(fmt::format("compare: {}: the first line names '{}' twice", file.string(), names[i]));
    if (std::ranges::find(process_columns, names[i]) != process_columns.end() || is_about_row(names[i])) continue;
    Column column = column_of(names[i]);
    if (std::ranges::any_of(cells[i], [](const Cell& cell) { return std::holds_alternative<std::string>(cell); }))
      column.kind = Kind::text;
    const bool is_axis = is_axis_column(column, cells[i]);
    if (is_axis) axes.push_back(names[i]);
    has_figure = has_figure || !is_axis;
  }
  if (!has_figure)
    throw Error(
        fmt::format("compare: {}: no column has figures; columns: {}; a figure is a number that ends with its "
                    "unit (time_s, examples_per_s, memory_bytes) or has decimals",
                    file.string(), shown_text(fmt::format("{}", fmt::join(names, ", ")), longest_list)));
  const fs::path source = fs::weakly_canonical(file);
  std::map<std::string, std::size_t> by_name;
  std::vector<ProcessRows> processes;
  for (std::size_t row = 0; row + 1 < lines.size(); ++row) {
    const std::string id = process_index ? to_text(cells[*process_index][row]) : "";
    const auto [place, is_new] = by_name.emplace(id, processes.size());
    if (is_new) processes.emplace_back(file, source, id.empty() ? file.filename().string() : id, axes);
    check_processes(processes.size(), file);
    std::vector<std::pair<std::string, Cell>> record;
    for (std::size_t i = 0; i < names.size(); ++i)
      if (i != process_index && !is_empty(cells[i][row])) record.emplace_back(names[i], std::move(cells[i][row]));
    processes[place->second].add(Record(std::move(record)));
  }
  std::vector<MeasuringProcess> all;
  for (const auto& [id, index] : by_name) all.push_back(processes[index].take());
  return all;
}

// ---- Google Benchmark

double seconds_per(const std::string& unit, const std::string& where) {
  if (unit == "ns") return 1e-9;
  if (unit == "us") return 1e-6;
  if (unit == "ms") return 1e-3;
  if (unit == "s") return 1;
  throw Error(
      fmt::format("compare: {}: unknown time_unit '{}'; ns, us, ms and s are possible", where, shown_text(unit)));
}

constexpr std::string_view benchmark_axis = "benchmark";

Record record_of_benchmark(const Info& one, const std::string& where) {
  static const std::set<std::string, std::less<>> no_figures{
      "name",          "run_name", "run_type",  "family_index", "per_family_instance_index", "repetitions",
      "iterations",    "threads",  "real_time", "cpu_time",     "repetition_index",          "time_unit",
      "error_occurred"};
  if (one.fields()->size() > most_columns)
    throw Error(
        fmt::format("compare: {}: {} fields; at most {} are possible", where, one.fields()->size(), most_columns));
  Record record;
  const std::string name = one.text("run_name");
  record.set(benchmark_axis, name.empty() ? one.text("name") : name);
  for (const auto& [flag, status, message] :
       {std::array{"error_occurred", "error", "error_message"}, std::array{"skipped", "skipped", "skip_message"}}) {
    if (one.text(flag) != "true") continue;
    record.set("status", std::string(status));
    record.set("detail", one.text(message));
    return record;
  }
  const double unit = seconds_per(one.text("time_unit"), where);
  for (const char* figure : {"real_time", "cpu_time"})
    if (const auto value = one.number(figure)) record.set_measured(std::string(figure) + "_s", *value * unit);
  for (const auto& [field, value] : *one.fields()) {
    const auto number = value.cell() ? number_in(*value.cell()) : std::nullopt;
    if (!number || no_figures.contains(field)) continue;
    constexpr std::string_view per_second = "_per_second";
    const bool is_rate = field.ends_with(per_second);
    const std::string column = is_rate ? field.substr(0, field.size() - per_second.size()) + "_per_s" : field;
    try {
      check_column_name(column);
    } catch (const Error&) {
      continue;  // a user's counter that no column can be named after
    }
    record.set_measured(column, *number);
  }
  return record;
}

std::vector<MeasuringProcess> processes_of_google(const fs::path& file, const Info& json) {
  const Info* context = json.find("context");
  Info machine, program;
  if (context && context->fields()) {
    for (const auto& [from, to] : {std::pair{"host_name", "host"}, {"num_cpus", "cpus"}})
      if (const Info* field = context->find(from)) machine.set(to, *field);
    for (const char* name : {"executable", "library_build_type", "library_version"})
      if (const Info* field = context->find(name)) program.set(name, *field);
  }
  ProcessRows process(file, fs::weakly_canonical(file), file.filename().string(), {std::string(benchmark_axis)});
  process.info() = Info(Info::Fields{{"machine", machine}, {"program", program}});
  std::size_t number = 0;
  for (const Info& one : *json.find("benchmarks")->list()) {
    const std::string where = fmt::format("{}: entry {} of 'benchmarks'", file.string(), ++number);
    if (!one.fields()) throw Error(fmt::format("compare: {} is no object", where));
    if (one.text("run_type") == "aggregate") continue;
    process.add(record_of_benchmark(one, where));
  }
  if (process.empty())
    throw Error(
        fmt::format("compare: {}: no single repetition is in it; run the benchmarks without "
                    "--benchmark_report_aggregates_only",
                    file.string()));
  std::vector<MeasuringProcess> all;
  all.push_back(process.take());
  return all;
}

// ---- hyperfine

/// Of run `index`; hyperfine goes on after failures only where it was told to. "unknown" for a signal.
std::string exit_code_of(const Info& result, std::size_t index) {
  const Info* const codes = result.find("exit_codes");
  if (codes == nullptr || codes->list() == nullptr || index >= codes->list()->size()) return "0";
  const Info& code = (*codes->list())[index];
  const auto number = code.cell() ? number_in(*code.cell()) : std::nullopt;
  return number ? fmt::format("{:.0f}", *number) : "unknown";
}

/// The command and parameters of one result.
Record settings_of(const Info& result, const fs::path& file) {
  std::vector<std::pair<std::string, Cell>> settings{{"command", result.text("command")}};
  if (const Info* parameters = result.find("parameters"); parameters && parameters->fields()) {
    for (const auto& [name, value] : *parameters->fields()) {
      if (!value.cell()) continue;
      check_name(name, file, "parameters");
      settings.emplace_back(name, to_text(*value.cell()));
    }
  }
  if (settings.size() > most_columns)
    throw Error(fmt::format("compare: {}: {} parameters; at most {} are possible", file.string(), settings.size(),
                            most_columns));
  Record record;
  for (auto& [name, value] : settings) record.set(name, std::move(value));
  return record;
}

std::vector<MeasuringProcess> processes_of_hyperfine(const fs::path& file, const Info& json) {
  const Info::List& results = *json.find("results")->list();
  const fs::path source = fs::weakly_canonical(file);
  std::vector<std::string> axes;
  std::set<std::string> known{"command"};
  // The command of a single result is what changes from file to file.
  if (results.size() > 1) axes.emplace_back("command");
  std::vector<ProcessRows> processes;
  std::size_t cells = 0;
  for (const Info& result : results) {
    const Info* times = result.find("times");
    if (!times || !times->list() || times->list()->empty())
      throw Error(
          fmt::format("compare: {}: '{}' has no times of its runs", file.string(), shown_text(result.text("command"))));
    const Record settings = settings_of(result, file);
    for (const auto& [name, value] : settings.cells())
      if (known.insert(name).second) axes.push_back(name);
    check_processes(times->list()->size(), file);
    // Settings are repeated in each process.
    cells += times->list()->size() * (settings.cells().size() + 1);
    if (cells > most_table_cells)
      throw Error(fmt::format("compare: {}: times with their parameters are more than {} cells", file.string(),
                              most_table_cells));
    for (std::size_t i = 0; i < times->list()->size(); ++i) {
      const Info& time = (*times->list())[i];
      const auto seconds = time.cell() ? number_in(*time.cell()) : std::nullopt;
      if (!seconds) throw Error(fmt::format("compare: {}: a time is no number", file.string()));
      if (i == processes.size())
        processes.emplace_back(file, source, fmt::format("{} run {}", file.filename().string(), i + 1));
      Record record = settings;
      if (const std::string exit = exit_code_of(result, i); exit == "0") {
        record.set_measured("time_s", *seconds);
      } else {
        record.set("status", std::string("error"));
        record.set("detail", fmt::format("the command ended with exit code {}", exit));
      }
      processes[i].add(std::move(record));
    }
  }
  if (processes.empty()) throw Error(fmt::format("compare: {}: it has no results", file.string()));
  if (axes.size() * processes.size() > most_table_cells)
    throw Error(fmt::format("compare: {}: {} parameters in {} processes; at most {} together are possible",
                            file.string(), axes.size(), processes.size(), most_table_cells));
  for (ProcessRows& process : processes) {
    process.set_axes(axes);
    if (results.size() == 1)
      process.info().set("program", Info(Info::Fields{{"command", results.front().text("command")}}));
  }
  return taken(processes);
}

std::vector<MeasuringProcess> processes_of_json(const fs::path& file, const std::string& text) {
  const Info json = parse_json(text, file.string());
  const auto has_list = [&](std::string_view name) { return json.find(name) && json.find(name)->list(); };
  if (has_list("benchmarks")) return processes_of_google(file, json);
  if (has_list("results")) return processes_of_hyperfine(file, json);
  throw Error(
      fmt::format("compare: {}: neither Google Benchmark's JSON (it has 'benchmarks') nor hyperfine's (it has "
                  "'results')",
                  file.string()));
}

}  // namespace

bool is_foreign(const std::filesystem::path& file) {
  return file.extension() == ".csv" || file.extension() == ".json";
}

std::vector<MeasuringProcess> read_foreign(const std::filesystem::path& file) {
  std::string text = read_file(file);
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (text.starts_with(byte_order_mark)) text.erase(0, byte_order_mark.size());
  if (text.find_first_not_of(" \t\r\n") == std::string::npos)
    throw Error(fmt::format("compare: {}: the file is empty", file.string()));
  return file.extension() == ".csv" ? processes_of_csv(file, text) : processes_of_json(file, text);
}

}  // namespace gpubench
