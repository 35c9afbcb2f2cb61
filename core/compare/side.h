// What is compared: sides. A side is one thing (a build, a setting, a machine) that several processes have measured;
// each process has rows. Runs of this program and results of others become the same structure.
#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/input_limits.h"
#include "core/compare/measuring_process.h"
#include "core/results/run_files.h"

namespace gpubench {

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
/// - a file of results of others (foreign/foreign.h), or a folder of them
/// Names are looked up below `out`. Throws Error that lists what there is, for results of several programs in one side,
/// and for more than most_processes or most_side_cells. Columns in `figures` are figures whatever they look like.
Side read_side(const std::string& text, const std::filesystem::path& out, const std::vector<std::string>& figures = {});

/// Several sides whose rows are compared: columns of others' tables have the same role in all of them.
std::vector<Side> read_sides(std::span<const std::string> texts, const std::filesystem::path& out,
                             const std::vector<std::string>& figures = {});

/// Throws Error if two sides share a process.
void check_disjoint(std::span<const Side> sides);

}  // namespace gpubench
