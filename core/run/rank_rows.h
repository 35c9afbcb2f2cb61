// The rows of a run that is about another program: one for each rank, each with its diagnosis, what a replay of its
// trace without the cause needs, and its profile.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/results/record.h"
#include "core/results/run_writer.h"
#include "core/traces/analysis.h"

namespace gpubench {

struct RankRow {
  Record row;
  /// Its trace; nullptr without one.
  const TraceAnalysis* trace = nullptr;
  int rank = -1;  ///< -1: unknown, then its place counts
  std::vector<double> step_times{};
};

/// The name of a run's folder after that of a file or program, with a word in front where it begins like an option.
std::string folder_name(std::string_view name, std::string_view otherwise);
/// Adds the devices of the trace that are not in the list.
void add_devices(Info::List& devices, const ForeignTrace& trace);

/// Adds them with point, process, rank (where there are several), verdict and replay, and writes the profiles.
void write_rank_rows(RunWriter& writer, std::vector<RankRow> ranks);

}  // namespace gpubench
