// One rule per file of this folder.
#pragma once
#include "core/diagnose/finding.h"

namespace gpubench {

extern const FindingRule bandwidth_bound;
extern const FindingRule cannot_tell;
extern const FindingRule communication_bound;
extern const FindingRule compute_bound;
extern const FindingRule copy_bound;
extern const FindingRule host_bound;
extern const FindingRule input_bound;
extern const FindingRule launch_bound;
extern const FindingRule memory_limit;
extern const FindingRule own_attention;
extern const FindingRule placement_crossings;
extern const FindingRule precision_unused;
extern const FindingRule thread_contention;
extern const FindingRule unaligned_sizes;
extern const FindingRule uneven_replicas;

/// Below it, a step whose kernels take most of the time is called compute bound before the finding.
/// Of a trace: kernels begin so soon after their launch that the host is never ahead of the device.
bool never_leads(const Evidence& evidence);

inline constexpr Threshold little_to_gain{"little", 0.10, "a gain of less than 10 % of the step",
                                          "the least gain for which another precision is proposed"};

/// The part of host_share that belongs to uneven_replicas: the host's time of a replica that is late because of it. 0
/// if none comes last to most exchanges.
double host_time_of_late_replica(const Evidence& evidence);

}  // namespace gpubench
