// What the host of a watched job does beside the steps of training, as parts of the time that compete for the name of
// the cause, and who had its processors.
#pragma once
#include <string>
#include <vector>

#include "core/results/host_cause.h"
#include "core/results/record.h"
#include "core/run/job_row.h"
#include "core/watch/agent_files.h"
#include "core/watch/job_steps.h"

namespace gpubench {

/// A part of the time in which the training does something else than to train.
struct HostPart {
  HostCauseKind kind;
  double share = 0;
  std::string text{};
};

/// What the counters see beside the steps that a profiler records: all of it is between operators of training.
std::vector<HostPart> parts_beside(const JobSteps& steps, const AgentProcess& process);
/// Whether the part is of a kind that parts_beside() makes.
bool is_beside(const HostPart& part);

/// Whether the model is evaluated once an epoch, and that takes less than training: as the data was divided.
bool is_usual_evaluation(const JobSteps& steps);
/// Whether something was traced or compiled for the first time, as the model for its first evaluation: that does not
/// come again.
bool is_first_compilation(const JobSteps& steps);

/// Sets host_cause, its kind and its share by the largest part, and names the others; nothing where all are little.
void set_host_cause(Record& row, std::vector<HostPart> parts, double step_s);

/// Sets who had the processors: other programs, threads of the job's own ranks, or those that make batches.
void set_processors(Record& row, const WatchedRank& rank);

}  // namespace gpubench
