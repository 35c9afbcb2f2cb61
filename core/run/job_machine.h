// What of the machine cost a watched job time: other programs, a quota, GPUs that were slowed down or shared.
#pragma once
#include <span>

#include "core/results/info.h"
#include "core/watch/job_gpus.h"
#include "core/watch/job_use.h"

namespace gpubench {

/// `machine_checks` of run.json, while the steps of a job ran.
Info::List machine_facts(const JobUse& use, std::span<const JobGpu> gpus);

}  // namespace gpubench
