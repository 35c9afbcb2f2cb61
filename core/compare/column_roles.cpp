#include "core/compare/column_roles.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>
#include <unordered_set>

#include "core/base/error.h"

namespace gpubench {
namespace {

enum class Role { axis, figure, fact_of_side, ignored };

/// The values of one column in one process, as texts.
struct ProcessValues {
  std::set<std::string> values;
  std::size_t rows = 0;
};

/// The values of one column, by side and process.
struct ColumnValues {
  std::vector<std::vector<ProcessValues>> sides;
  bool is_text = false, has_decimals = false;
};

bool is_open(const MeasuringProcess& process, const std::string& name) {
  return std::ranges::find(process.open_columns, name) != process.open_columns.end();
}

/// Of the processes in which it is open.
ColumnValues values_of(std::span<const Side> sides, const std::string& name) {
  ColumnValues all{.sides = std::vector<std::vector<ProcessValues>>(sides.size())};
  for (std::size_t side = 0; side < sides.size(); ++side) {
    for (const MeasuringProcess& process : sides[side].processes) {
      if (!is_open(process, name)) continue;
      ProcessValues& found = all.sides[side].emplace_back();
      for (const Record& record : process.records) {
        const Cell& cell = record.get(name);
        if (is_empty(cell)) continue;
        ++found.rows;
        found.values.insert(to_text(cell));
        all.is_text = all.is_text || !number_in(cell);
        all.has_decimals = all.has_decimals || std::holds_alternative<double>(cell);
      }
    }
  }
  return all;
}

/// How often values are in a process, and how many there are.
struct Recurrence {
  std::size_t places = 0, distinct = 0;

  bool recur() const { return 2 * distinct <= places; }
  bool never() const { return distinct == places; }
};

/// Over all of these processes.
Recurrence recurrence_in(std::span<const std::vector<ProcessValues>> sides) {
  Recurrence found;
  std::unordered_set<std::string_view> distinct;
  for (const auto& side : sides) {
    for (const ProcessValues& process : side) {
      found.places += process.values.size();
      distinct.insert(process.values.begin(), process.values.end());
    }
  }
  found.distinct = distinct.size();
  return found;
}

/// Within the sides, because figures may be the same on both; over all where no side has two processes.
Recurrence recurrence_within(const ColumnValues& column) {
  Recurrence sum;
  for (const auto& side : column.sides) {
    if (side.size() < 2) continue;
    const Recurrence found = recurrence_in(std::span(&side, 1));
    sum.places += found.places;
    sum.distinct += found.distinct;
  }
  return sum.places == 0 ? recurrence_in(column.sides) : sum;
}

bool has_side_of_several(const ColumnValues& column) {
  return std::ranges::any_of(column.sides, [](const auto& side) { return side.size() > 1; });
}

/// Each side has one value of its own.
bool is_of_sides(const ColumnValues& column) {
  std::set<std::string> values;
  std::size_t sides = 0;
  for (const auto& side : column.sides) {
    std::set<std::string> own;
    for (const ProcessValues& process : side) own.insert(process.values.begin(), process.values.end());
    if (own.size() != 1) return false;
    values.insert(own.begin(), own.end());
    ++sides;
  }
  return sides > 1 && values.size() > 1;
}

template <class Holds>
bool all_processes(const ColumnValues& column, Holds holds) {
  return std::ranges::all_of(column.sides, [&](const auto& side) { return std::ranges::all_of(side, holds); });
}

bool has_one_value_each(const ColumnValues& column) {
  return all_processes(column, [](const ProcessValues& one) { return one.values.size() == 1; });
}

bool has_one_value_a_row(const ColumnValues& column) {
  return all_processes(column, [](const ProcessValues& one) { return one.values.size() == one.rows; });
}

Role role_of_text(const ColumnValues& column) {
  if (is_of_sides(column)) return Role::fact_of_side;
  const bool is_unique = has_side_of_several(column) && recurrence_in(column.sides).never();
  return is_unique && (has_one_value_each(column) || has_one_value_a_row(column)) ? Role::ignored : Role::axis;
}

Role role_of_numbers(const ColumnValues& column) {
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
    for (const MeasuringProcess& process : side.processes)
      for (const Column& column : process.columns)
        if (is_figure(column) && !is_open(process, column.name)) return true;
  }
  return false;
}

using Roles = std::map<std::string, Role>;

Roles roles_of(std::span<const Side> sides, const std::vector<std::string>& figures) {
  std::set<std::string> names;
  for (const Side& side : sides)
    for (const MeasuringProcess& process : side.processes)
      names.insert(process.open_columns.begin(), process.open_columns.end());
  Roles roles;
  std::vector<std::string> with_decimals;
  bool has_figure = has_known_figure(sides);
  for (const std::string& name : names) {
    const ColumnValues column = values_of(sides, name);
    const bool is_asked = !column.is_text && std::ranges::find(figures, name) != figures.end();
    roles[name] = is_asked ? Role::figure : column.is_text ? role_of_text(column) : role_of_numbers(column);
    has_figure = has_figure || roles[name] == Role::figure;
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
  for (const std::string& name : process.open_columns) {
    const Role role = roles.at(name);
    if (role == Role::axis) process.axes.push_back(name);
    if (role == Role::fact_of_side) add_fact(process, name);
    for (Column& column : process.columns)
      if (column.name == name && role != Role::figure) column.kind = role == Role::axis ? Kind::setting : Kind::text;
  }
  process.open_columns.clear();
}

}  // namespace

void settle_roles(std::span<Side> sides, const std::vector<std::string>& figures) {
  const Roles roles = roles_of(sides, figures);
  if (roles.empty()) return;
  for (Side& side : sides)
    for (MeasuringProcess& process : side.processes) settle(process, roles);
}

}  // namespace gpubench
