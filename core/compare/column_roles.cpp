#include "core/compare/column_roles.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace gpubench {
namespace {

enum class Role { axis, figure, fact_of_side, ignored };

/// Equal for equal values.
std::uint64_t key_of(const Cell& cell) {
  if (const std::optional<double> number = number_in(cell)) return std::bit_cast<std::uint64_t>(*number);
  return std::hash<std::string>()(to_text(cell));
}

void keep_each_once(std::vector<std::uint64_t>& keys) {
  std::ranges::sort(keys);
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
}

struct ProcessCount {
  std::uint32_t values = 0, rows = 0;
};

/// Of one column in the processes of one side.
struct SideValues {
  /// Of the values of each process, each once, one process after the other.
  std::vector<std::uint64_t> keys;
  std::vector<ProcessCount> processes;
};

/// The values of one column, by side and process in which it is open.
struct ColumnValues {
  std::vector<SideValues> sides;
  bool is_text = false, has_decimals = false;
};

using Columns = std::map<std::string, ColumnValues, std::less<>>;

/// Adds the values of the open columns of one process.
void add_values(const MeasuringProcess& process, std::size_t side, std::size_t sides, Columns& columns) {
  struct Found {
    ColumnValues* column;
    std::vector<std::uint64_t> keys = {};
  };
  std::unordered_map<std::string_view, Found> open;
  for (const std::uint32_t index : process.open_columns) {
    const std::string& name = process.columns[index].name;
    open.emplace(name, Found{&columns[name]});
  }
  for (const Record& record : process.records) {
    for (const auto& [name, cell] : record.cells()) {
      const auto found = open.find(name);
      if (found == open.end() || is_empty(cell)) continue;
      auto& [column, keys] = found->second;
      keys.push_back(key_of(cell));
      column->is_text = column->is_text || !number_in(cell);
      column->has_decimals = column->has_decimals || std::holds_alternative<double>(cell);
    }
  }
  for (auto& [name, found] : open) {
    const auto rows = static_cast<std::uint32_t>(found.keys.size());
    keep_each_once(found.keys);
    found.column->sides.resize(sides);
    SideValues& values = found.column->sides[side];
    values.keys.insert(values.keys.end(), found.keys.begin(), found.keys.end());
    values.processes.push_back({static_cast<std::uint32_t>(found.keys.size()), rows});
  }
}

Columns columns_of(std::span<const Side> sides) {
  Columns columns;
  for (std::size_t side = 0; side < sides.size(); ++side)
    for (const MeasuringProcess& process : sides[side].processes) add_values(process, side, sides.size(), columns);
  return columns;
}

/// How often values are in a process, and how many there are.
struct Recurrence {
  std::size_t places = 0, distinct = 0;

  bool recur() const { return 2 * distinct <= places; }
  bool never() const { return distinct == places; }
};

/// Over all of these processes.
Recurrence recurrence_in(std::span<const SideValues> sides) {
  std::vector<std::uint64_t> keys;
  for (const SideValues& side : sides) keys.insert(keys.end(), side.keys.begin(), side.keys.end());
  const std::size_t places = keys.size();
  keep_each_once(keys);
  return {places, keys.size()};
}

/// Within the sides, because figures may be the same on both; over all where no side has two processes.
Recurrence recurrence_within(const ColumnValues& column) {
  Recurrence sum;
  for (const SideValues& side : column.sides) {
    if (side.processes.size() < 2) continue;
    const Recurrence found = recurrence_in(std::span(&side, 1));
    sum.places += found.places;
    sum.distinct += found.distinct;
  }
  return sum.places == 0 ? recurrence_in(column.sides) : sum;
}

bool has_side_of_several(const ColumnValues& column) {
  return std::ranges::any_of(column.sides, [](const SideValues& side) { return side.processes.size() > 1; });
}

/// Each side has one value of its own, or none.
bool is_of_sides(const ColumnValues& column) {
  std::vector<std::uint64_t> keys;
  std::size_t without = 0;
  for (const SideValues& side : column.sides) {
    const std::size_t distinct = recurrence_in(std::span(&side, 1)).distinct;
    if (distinct > 1) return false;
    without += distinct == 0;
    if (distinct == 1) keys.push_back(side.keys.front());
  }
  keep_each_once(keys);
  return keys.size() + (without > 0) > 1;
}

bool has_side_without(const ColumnValues& column) {
  return std::ranges::any_of(column.sides, [](const SideValues& side) { return side.keys.empty(); });
}

template <class Holds>
bool all_processes(const ColumnValues& column, Holds holds) {
  return std::ranges::all_of(column.sides,
                             [&](const SideValues& side) { return std::ranges::all_of(side.processes, holds); });
}

bool has_one_value_each(const ColumnValues& column) {
  return all_processes(column, [](const ProcessCount& one) { return one.values == 1; });
}

bool has_one_value_a_row(const ColumnValues& column) {
  return all_processes(column, [](const ProcessCount& one) { return one.values == one.rows; });
}

bool has_no_values(const ColumnValues& column) {
  return std::ranges::all_of(column.sides, [](const SideValues& side) { return side.keys.empty(); });
}

Role role_of_text(const ColumnValues& column) {
  if (is_of_sides(column)) return Role::fact_of_side;
  const bool is_unique = has_side_of_several(column) && recurrence_in(column.sides).never();
  return is_unique && (has_one_value_each(column) || has_one_value_a_row(column)) ? Role::ignored : Role::axis;
}

Role role_of_numbers(const ColumnValues& column) {
  if (has_side_without(column) && is_of_sides(column)) return Role::fact_of_side;
  const Recurrence within = recurrence_within(column);
  if (within.recur()) return Role::axis;
  if (column.has_decimals) return Role::figure;
  const bool is_unique = has_side_of_several(column) && within.never();
  // Processes may share out the settings; those are the same on both sides then.
  return is_unique && (!has_one_value_each(column) || recurrence_in(column.sides).never()) ? Role::figure : Role::axis;
}

bool is_figure(const Column& column) {
  return column.kind != Kind::text && column.kind != Kind::setting && column.kind != Kind::extent;
}

/// Whether some process has a figure that is not open.
bool has_known_figure(std::span<const Side> sides) {
  for (const Side& side : sides) {
    for (const MeasuringProcess& process : side.processes) {
      std::vector<bool> is_open(process.columns.size());
      for (const std::uint32_t index : process.open_columns) is_open[index] = true;
      for (std::size_t i = 0; i < is_open.size(); ++i)
        if (!is_open[i] && is_figure(process.columns[i])) return true;
    }
  }
  return false;
}

using Roles = std::map<std::string, Role, std::less<>>;

Roles roles_of(std::span<const Side> sides, const std::vector<std::string>& figures) {
  Roles roles;
  std::vector<std::string> with_decimals;
  const Columns columns = columns_of(sides);
  bool has_figure = columns.empty() || has_known_figure(sides);
  for (const auto& [name, column] : columns) {
    const bool is_asked = !column.is_text && std::ranges::find(figures, name) != figures.end();
    const Role role = has_no_values(column) ? Role::ignored
                      : is_asked            ? Role::figure
                      : column.is_text      ? role_of_text(column)
                                            : role_of_numbers(column);
    roles.emplace(name, role);
    has_figure = has_figure || role == Role::figure;
    if (column.has_decimals && !column.is_text) with_decimals.push_back(name);
  }
  if (!has_figure)
    for (const std::string& name : with_decimals) roles[name] = Role::figure;
  return roles;
}

/// Makes a fact of what is the same in all rows.
void add_fact(MeasuringProcess& process, const std::string& name) {
  for (const Record& record : process.records) {
    if (!record.has(name)) continue;
    const Info* const old = process.info.find("setting");
    Info settings = old != nullptr ? *old : Info(Info::Fields{});
    settings.set(name, to_text(record.get(name)));
    process.info.set("setting", std::move(settings));
    return;
  }
}

void settle(MeasuringProcess& process, const Roles& roles) {
  for (const std::uint32_t index : process.open_columns) {
    Column& column = process.columns[index];
    const Role role = roles.find(column.name)->second;
    if (role != Role::figure) column.kind = role == Role::axis ? Kind::setting : Kind::text;
    if (role == Role::axis) process.axes.push_back(column.name);
    if (role == Role::fact_of_side) add_fact(process, column.name);
  }
  process.open_columns = {};
}

}  // namespace

void settle_roles(std::span<Side> sides, const std::vector<std::string>& figures) {
  const Roles roles = roles_of(sides, figures);
  if (roles.empty()) return;
  for (Side& side : sides)
    for (MeasuringProcess& process : side.processes) settle(process, roles);
}

}  // namespace gpubench
