// What one process measured: runs of this program and results of others become the same structure.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/results/column.h"
#include "core/results/info.h"
#include "core/results/record.h"

namespace gpubench {

/// What one process measured. Several records of one row are its repeats.
struct MeasuringProcess {
  /// For people: a run's folder, or file and number.
  std::string name;
  /// Where it was read; two sides must not have the same.
  std::filesystem::path source;
  /// Facts as run.json has them; few of results of others.
  Info info;
  std::vector<std::string> axes;
  /// Axes in which the sides were chosen to differ, which tell no rows apart; their rows may do other work.
  std::vector<std::string> varied = {};
  std::vector<Column> columns;
  std::vector<Record> records;
  /// The text of script.lua, where there is one.
  std::string script = {};
  /// The program that wrote it, such as "hyperfine"; empty for runs of this program.
  std::string writer = {};
  /// Indices of columns of which the file does not say whether they are axes, figures or facts (column_roles.h).
  std::vector<std::uint32_t> open_columns = {};
};

/// Of one side. A verdict needs some tens; each takes memory, and 2000 resamples of each figure.
inline constexpr std::size_t most_processes = 20'000;

}  // namespace gpubench
