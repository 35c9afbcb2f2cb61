// Where the time of traced steps goes, by layer and op: a breakdown in which each moment is charged to the node whose
// kernel ran, or to what the host did instead. Pure functions of spans; the times of all entries sum to the step.
#pragma once
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/trace/breakdown.h"
#include "core/trace/timeline.h"

namespace gpubench {

/// The time of one node or of one class without a node, per step, as the mean over devices.
struct ProfileEntry {
  SpanClass span_class = SpanClass::other;
  /// Empty if the time belongs to no node. A layer of several nodes has an entry for each op and role.
  NodeName node;
  /// Moments that were charged to this entry: a class with a higher priority, or a kernel that began earlier, did not
  /// run at the same time.
  Seconds time{};
  double calls = 0;  ///< number of spans in a step
  /// Work of the node's kernels in a step on one device; nullopt if it was not planned.
  std::optional<double> flops = std::nullopt, bytes = std::nullopt;
  /// As the kernels call themselves, "cublaslt:21"; several are joined by commas. Empty for sums over nodes.
  std::string implementation = {};
};

/// Work of one kernel, known before it runs: floating-point operations, and bytes that it must move at least.
struct NodeWork {
  NodeName node;
  double flops = 0, bytes = 0;
  std::string implementation = {};  ///< of Kernel
};

/// Time in which no kernel ran on a device.
struct IdleGap {
  int device = 0;        ///< index in the profile's devices
  int step = 0;          ///< step of the trace, from 1, in which the gap began
  Seconds since_step{};  ///< from the beginning of that step to the gap
  Seconds length{};
  /// What the launching thread did for the longest part of the gap, and that part's share of the gap.
  SpanClass doing = SpanClass::other;
  std::string what;  ///< name of those spans: "input_wait", "cudaStreamSynchronize"
  double share = 0;
  std::string before, after;  ///< "conv2d of conv2d_1": the nodes whose kernels ran before and after; may be empty
};

/// Bytes that belong to a layer at the peak of a step's memory; kind as in MemoryKind: "variables", "activations".
struct ProfileMemory {
  std::string layer, kind;
  std::size_t bytes = 0;
};

struct StepProfile {
  int steps = 0;
  /// Of all steps; its doubt is the profile's doubt.
  Breakdown breakdown;
  std::vector<ProfileEntry> entries;  ///< longest first
  std::vector<IdleGap> gaps;          ///< longest first, at most most_gaps
  std::vector<ProfileMemory> memory;  ///< most first; empty if the memory is not planned

  Seconds step() const { return Seconds(breakdown.window.length()) / steps; }
};

inline constexpr std::size_t most_gaps = 5;

/// The entries' sums over ops and roles, longest first. Time without a layer stays one entry per class.
std::vector<ProfileEntry> by_layer(const StepProfile& profile);
/// The entries' sums over layers and roles, longest first.
std::vector<ProfileEntry> by_op(const StepProfile& profile);

/// Gives the entries of kernels the work of their nodes.
void add_work(StepProfile& profile, std::span<const NodeWork> work);

/// `steps`: at least one step and one device.
StepProfile profile_steps(const Timeline& timeline, const StepMarks& steps);

}  // namespace gpubench
