// What is compared: sides. A side is one thing (a build, a setting, a machine) that several processes have measured;
// each process has rows. Runs of this program and results of others become the same structure.
#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/input_limits.h"
#include "core/results/column.h"
#include "core/results/info.h"
#include "core/results/record.h"
#include "core/results/run_files.h"

namespace gpubench {

/// What one process measured. Several records of one row are its repeats.
struct MeasuringProcess {
  /// For people: a run's folder, or file and number.
  std::string name;
  /// Where it was read; two sides must not have the same.
  std::filesystem::path source;
  /// Facts as run.json has them; empty for results of others.
  Info info;
  std::vector<std::string> axes;
  /// Axes in which the sides were chosen to differ, which tell no rows apart; their rows may do other work.
  std::vector<std::string> varied = {};
  std::vector<Column> columns;
  std::vector<Record> records;
  /// The text of script.lua, where there is one.
  std::string script = {};
};

/// Of one side. A verdict needs some tens; each takes memory, and 2000 resamples of each figure.
inline constexpr std::size_t most_processes = 20'000;

/// Cells of one side, rows times columns of all processes: 200 bytes of memory each.
inline constexpr std::size_t most_side_cells = most_table_cells;

struct Side {
  std::string name;
  std::vector<MeasuringProcess> processes;
};

/// A finished run as one process: figures of processes that ran together are their means. Throws Error for a run that
/// is being written, or whose schema is newer than this program's.
MeasuringProcess process_of(const RunFiles& files);

/// Reads what `text` names; several parts are separated by commas and make one side:
/// - a run's folder or name, an experiment (its newest run), `last` (the newest of all); a run that was repeated
///   (`--repeat`) stands for all processes of its group; a group's name
/// - an archive of `gpubench pack`: its run
/// - a folder with several runs, or with archives and no run: all of them
/// - a tag, or a baseline that was saved
/// - a file of results of others (foreign.h)
/// Names are looked up below `out`. Throws Error that lists what there is, and for more than most_processes or
/// most_side_cells.
Side read_side(const std::string& text, const std::filesystem::path& out);

/// Throws Error if two sides share a process.
void check_disjoint(std::span<const Side> sides);

}  // namespace gpubench
