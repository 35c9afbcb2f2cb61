// The lines of a watched job's script that set what its steps spend their time with, as the agent's facts have them.
#pragma once
#include <string>
#include <string_view>

#include "core/watch/agent_files.h"
#include "core/watch/job_steps.h"

namespace gpubench {

/// "graph" or "eager", as the column `execution`; empty if unknown.
std::string_view execution_of(const AgentProcess& process);

/// What makes small operators many, and where the script says so: "run_eagerly=True, compiled at train.py:41", or
/// "AdamW of train.py:42 without fused=True takes 47 % of the step"; empty where no such setting is known.
std::string operators_setting(const AgentProcess& process, const JobSteps& steps);

/// Why functions are compiled again: "argument 2 changes: float32 (64, 97), then float32 (64, 120)"; empty if unknown.
std::string compile_reason(const AgentProcess& process);

/// "train.py:38" of the stage of a tf.data pipeline that TensorFlow's trace calls `iterator`
/// ("Iterator::Root::Prefetch::BatchV2::ParallelMapV2"); empty where no stage of the kind has a line.
std::string line_of_stage(const AgentProcess& process, std::string_view iterator);

}  // namespace gpubench
