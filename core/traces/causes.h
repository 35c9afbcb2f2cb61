// The causes of what a device did not do, as columns of a row: which part of the program it was, with names, counts and
// the line of the user's script where the trace has stacks.
#pragma once
#include <string>

#include "core/results/info.h"
#include "core/results/record.h"
#include "core/traces/foreign_trace.h"

namespace gpubench {

struct TraceAnalysis;

/// Sets input_cause, host_cause, copy_cause with their kinds, float32_product_share and launch_lead_s, where the row
/// has such time.
void set_causes(Record& row, const TraceAnalysis& analysis);

/// The stage of tf.data with most time of its own within the window: "Iterator::Root::Prefetch::Map"; empty if none is
/// recorded.
std::string slowest_stage(const ForeignTrace& trace, TraceInterval window);

/// Idle time by kind, most first: { { kind, meaning, share, time_s, names = { { name, share, calls, place } } } }.
/// Times are per step and device.
Info::List idle_info(const TraceAnalysis& analysis);

/// How many threads of tf.data run the functions of its stages at a time, in the mean over the window.
double pipeline_threads(const ForeignTrace& trace, TraceInterval window);

/// Share of the window in which a device, or a thread that computes for one, runs an operator of the model.
double operator_share(const ForeignTrace& trace, TraceInterval window);

}  // namespace gpubench
