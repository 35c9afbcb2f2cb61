// Tables of comma-separated values. Names tell some columns' roles here; column_roles.h finds the others.
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <optional>
#include <set>

#include "core/base/error.h"
#include "core/base/shown_text.h"
#include "core/compare/foreign/figure_name.h"
#include "core/compare/foreign/reader.h"
#include "core/results/csv.h"

namespace gpubench {
namespace {

namespace fs = std::filesystem;

/// Characters of a list of names in a message.
constexpr std::size_t longest_list = 1000;

/// The first that is there identifies a process; the other then counts its repeats.
constexpr std::array<std::string_view, 2> process_columns{"process", "run"};

bool is_process_column(std::string_view name) {
  return std::ranges::find(process_columns, name) != process_columns.end();
}

/// How programs write that there is no number.
constexpr std::array<std::string_view, 8> no_numbers{"N/A", "n/a", "NA", "null", "NULL", "None", "-", "--"};

/// Tables of statistics, whose single measurements are in another file.
struct StatisticsTable {
  std::array<std::string_view, 3> names;
  std::string_view what, instead;
};

constexpr std::array statistics_tables = {
    StatisticsTable{{"command", "user", "system"}, "hyperfine's table has no single runs", "--export-json"},
    StatisticsTable{{"real_time", "cpu_time", "time_unit"},
                    "Google Benchmark's table does not tell repetitions from their statistics",
                    "--benchmark_out=FILE --benchmark_out_format=json"},
    StatisticsTable{{"sample_measured_value", "iteration_count", "unit"},
                    "Criterion's table has single samples of one process",
                    "estimates.json, or the folder target/criterion"},
    StatisticsTable{
        {"iqr", "ops", "rounds"}, "pytest-benchmark's table has no facts of its run", "--benchmark-json=FILE"},
};

/// Words that this program's results have about a row, such as its status.
bool is_about_row(std::string_view name) {
  const Column* const column = find_standard_column(name);
  return column != nullptr && column->kind == Kind::text && !may_be_axis(name);
}

bool is_text(const Cell& cell) {
  return std::holds_alternative<std::string>(cell) || std::holds_alternative<bool>(cell);
}

bool is_number(const Cell& cell) {
  return number_in(cell).has_value();
}

enum class TableRole {
  process,  ///< which process a row is of, or which repeat
  about,    ///< words about a row
  axis,
  figure,
  open  ///< column_roles.h finds it
};

struct TableColumn {
  Column column;
  std::vector<Cell> cells;
  TableRole role = TableRole::open;
};

/// "64.0" is 64, as another file of the same column may have it.
Cell whole(Cell cell) {
  constexpr double exact = 9007199254740992;
  const double* const real = std::get_if<double>(&cell);
  if (real == nullptr || std::abs(*real) > exact || *real != std::floor(*real)) return cell;
  return static_cast<std::int64_t>(*real);
}

/// Numbers of a known unit, in the unit of the column.
void scale_figures(TableColumn& made, double scale, const std::string& name, const fs::path& file) {
  for (std::size_t row = 0; row < made.cells.size(); ++row) {
    Cell& cell = made.cells[row];
    if (is_text(cell))
      fail(file, fmt::format("row {}: '{}' in the column '{}' is no number; leave the field empty, or name the failure "
                             "in a column 'status'",
                             row + 1, shown_text(to_text(cell)), shown_text(name)));
    if (scale != 1 && is_number(cell)) cell = *number_in(cell) * scale;
  }
}

ForeignColumn named_column(const fs::path& file, const std::string& name) {
  column_name_in(name, file, "the first line");
  return foreign_column(name);
}

TableColumn column_in(const fs::path& file, const Table& lines, std::size_t index) {
  const std::string& name = lines.front()[index];
  TableColumn made;
  for (std::size_t row = 1; row < lines.size(); ++row) made.cells.push_back(cell_of_csv(lines[row][index], false));
  const bool has_numbers = std::ranges::any_of(made.cells, is_number);
  if (has_numbers) {
    for (Cell& cell : made.cells)
      if (is_text(cell) && std::ranges::find(no_numbers, to_text(cell)) != no_numbers.end()) cell = std::monostate{};
  }
  if (is_process_column(name) || is_about_row(name)) {
    made.column = column_of(name);
    made.role = is_process_column(name) ? TableRole::process : TableRole::about;
    return made;
  }
  const ForeignColumn found = named_column(file, name);
  const Kind kind = found.column.kind;
  if (has_numbers && kind != Kind::unknown && kind != Kind::setting && kind != Kind::text) {
    made.column = found.column;
    made.role = TableRole::figure;
    scale_figures(made, found.scale, name, file);
    return made;
  }
  const Column* const standard = find_standard_column(name);
  made.role = standard != nullptr && may_be_axis(name) ? TableRole::axis : TableRole::open;
  made.column = standard != nullptr ? *standard : Column{column_name_of(name)};
  std::ranges::transform(made.cells, made.cells.begin(), whole);
  if (made.role == TableRole::open && std::ranges::any_of(made.cells, is_text)) made.column.kind = Kind::text;
  return made;
}

/// Throws Error for two columns of one name.
std::vector<TableColumn> columns_in(const fs::path& file, const Table& lines) {
  const std::vector<std::string>& names = lines.front();
  std::map<std::string, std::size_t> seen;
  std::vector<TableColumn> columns;
  for (std::size_t i = 0; i < names.size(); ++i) {
    columns.push_back(column_in(file, lines, i));
    const auto [first, is_new] = seen.emplace(columns.back().column.name, i);
    if (is_new) continue;
    if (names[first->second] == names[i])
      fail(file, fmt::format("the first line names '{}' twice", shown_text(names[i])));
    fail(file, fmt::format("the columns '{}' and '{}' would both be '{}'; leave one out, or rename it",
                           shown_text(names[first->second]), shown_text(names[i]), first->first));
  }
  return columns;
}

bool may_have_figures(const TableColumn& column) {
  const bool is_possible = column.role == TableRole::figure || column.role == TableRole::open;
  return is_possible && std::ranges::any_of(column.cells, is_number);
}

std::optional<std::size_t> process_ids_in(const std::vector<std::string>& names) {
  for (const std::string_view name : process_columns) {
    const auto found = std::ranges::find(names, name);
    if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  }
  return std::nullopt;
}

/// Without rows yet.
ProcessRows begun_process(const fs::path& file, std::string name, const std::vector<TableColumn>& columns) {
  ProcessRows process(file, "CSV", std::move(name));
  for (const TableColumn& column : columns) {
    if (column.role == TableRole::process) continue;
    process.declare(column.column);
    if (column.role == TableRole::axis) process.process().axes.push_back(column.column.name);
    if (column.role == TableRole::open) process.open(column.column.name);
  }
  return process;
}

}  // namespace

void check_is_measured(const fs::path& file, const std::vector<std::string>& names) {
  const auto has = [&](std::string_view name) { return std::ranges::find(names, name) != names.end(); };
  for (const StatisticsTable& one : statistics_tables)
    if (std::ranges::all_of(one.names, has)) fail(file, fmt::format("{}; give {}", one.what, one.instead));
}

std::vector<MeasuringProcess> read_table(const fs::path& file, const Table& lines) {
  const std::vector<std::string>& names = lines.front();
  check_is_measured(file, names);
  std::vector<TableColumn> columns = columns_in(file, lines);
  if (std::ranges::none_of(columns, may_have_figures))
    fail(file, fmt::format("no column has figures; columns: {}; a figure is a number that ends with its unit (time_s, "
                           "examples_per_s, memory_bytes) or differs from process to process",
                           shown_text(fmt::format("{}", fmt::join(names, ", ")), longest_list)));
  const std::optional<std::size_t> ids = process_ids_in(names);
  std::map<std::string, std::size_t> by_name;
  std::vector<ProcessRows> processes;
  for (std::size_t row = 0; row + 1 < lines.size(); ++row) {
    const std::string id = ids ? to_text(columns[*ids].cells[row]) : "";
    const auto [place, is_new] = by_name.emplace(id, processes.size());
    if (is_new) processes.push_back(begun_process(file, id.empty() ? file.filename().string() : id, columns));
    check_process_count(processes.size(), file);
    std::vector<std::pair<std::string, Cell>> record;
    for (TableColumn& column : columns)
      if (column.role != TableRole::process && !is_empty(column.cells[row]))
        record.emplace_back(column.column.name, std::move(column.cells[row]));
    processes[place->second].add(Record(std::move(record)));
  }
  std::vector<MeasuringProcess> all;
  for (const auto& [id, index] : by_name) all.push_back(std::move(processes[index].process()));
  return all;
}

}  // namespace gpubench
