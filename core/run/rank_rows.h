// The rows of a run that is about another program: one for each rank, each with its diagnosis, what a replay of its
// trace without the cause needs, and its profile.
#pragma once
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

/// Adds them with point, process, rank (where there are several), verdict and replay, and writes the profiles.
void write_rank_rows(RunWriter& writer, std::vector<RankRow> ranks);

}  // namespace gpubench
