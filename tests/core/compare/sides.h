// Sides made by hand: processes that measured one row or several.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "core/compare/side.h"

namespace gpubench {

/// A process with one row at batch_size 32 that has these figures.
inline MeasuringProcess process_with(const std::string& name, std::vector<std::pair<std::string, double>> figures) {
  MeasuringProcess process{.name = name,
                           .source = "/" + name,
                           .info = Info(Info::Fields{{"experiment", "e"}}),
                           .axes = {"batch_size"},
                           .columns = {column_of("batch_size")},
                           .records = {}};
  Record record{{"batch_size", std::int64_t{32}}, {"status", std::string("ok")}};
  for (const auto& [column, value] : figures) {
    process.columns.push_back(column_of(column));
    record.set(column, value);
  }
  process.records.push_back(std::move(record));
  return process;
}

/// Each value is a process's `column`.
inline Side side_with(const std::string& name, const std::string& column, const std::vector<double>& values) {
  Side side{.name = name, .processes = {}};
  for (std::size_t i = 0; i < values.size(); ++i)
    side.processes.push_back(process_with(name + std::to_string(i), {{column, values[i]}}));
  return side;
}

/// Seven values around `middle`, 0.05 % apart.
inline std::vector<double> seven_around(double middle) {
  std::vector<double> values;
  for (int i = -3; i <= 3; ++i) values.push_back(middle * (1 + 0.0005 * i));
  return values;
}

}  // namespace gpubench
