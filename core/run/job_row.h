// What is known of one rank of a watched job as the row of a run: its steps by the counters of the agent, of which all
// count, and what happens within a step by the profiler's window.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/results/info.h"
#include "core/results/record.h"
#include "core/traces/analysis.h"
#include "core/watch/agent_files.h"
#include "core/watch/job_steps.h"
#include "core/watch/job_tree.h"

namespace gpubench {

struct WatchedRank {
  const AgentProcess* process = nullptr;
  JobSteps steps;
  /// The window that the framework's profiler recorded; nothing if there is none, or it cannot be read.
  std::optional<TraceAnalysis> window{};
  /// Of the whole job, and of the workers that load samples for this rank, while these steps ran.
  JobUse use{};
  std::optional<JobProcess> workers{};
  std::vector<WorkerSite> worker_sites{};
  std::size_t local_ranks = 1;  ///< ranks on this machine
};

/// The shares of the step, with intervals, causes and places. A row without a step where too few were seen.
Record job_row(const WatchedRank& rank);
/// Of run.json: steps by kind, parts of a step, sites, loaders, cost of the agent.
Info job_facts(const WatchedRank& rank);
/// "pytorch", "tensorflow", "jax" or "unknown": whose steps they are.
std::string framework_of(const AgentProcess& process);

}  // namespace gpubench
