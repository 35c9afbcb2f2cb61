// The activity of a machine during a few traced steps: spans of time, in memory reserved in advance. Host threads add
// their spans through HostSpans, devices that work beside the host through their Tracer.
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/clock.h"

namespace gpubench {

/// In order of priority: a moment of a step counts for the first class that is active.
enum class SpanClass {
  compute,        ///< a kernel runs on the device
  communication,  ///< replicas exchange tensors
  peer_wait,      ///< a replica waits for one that is late; a trace of GPUs has it as communication
  copy,           ///< between host and device, or within a device
  memset,
  input_wait,    ///< the step waits for its batch
  launch,        ///< the host is inside a call that submits work to the device
  host_sync,     ///< the host waits for the device
  host_compute,  ///< the host computes or waits for a processor: Lua, callbacks, the step loop itself
  compile,
  other,  ///< none of the others; no span has this class
};
constexpr std::size_t span_class_count = 11;
/// "input_wait".
std::string_view to_string(SpanClass span_class);

/// A name kept by the timeline.
enum class NameId : std::uint32_t {};

/// The node of a graph to which work belongs, as text, because a timeline outlives graphs.
struct NodeName {
  std::string op;     ///< "conv2d"
  std::string layer;  ///< name of the node's owner: a layer, a loss, the optimizer; empty if it has none
  std::string role;   ///< "forward", "gradient", "recomputed" or "update"
};

/// A node kept by the timeline.
enum class NodeId : std::uint32_t { none = 0 };

/// An interval of work of one class, on the program's clock.
struct Span {
  SpanClass span_class = SpanClass::other;
  NameId name{};
  NameId lane{};  ///< the stream or thread of the work
  /// Device::tracer_index() of the device; -1 for work in a host thread, kernels of the CPU included.
  std::int32_t gpu = -1;
  /// Index of the replica whose own thread it is; -1: the thread of the step loop, or unknown; of_pipeline: a thread
  /// that makes input and belongs to no step.
  std::int32_t replica = -1;
  static constexpr std::int32_t of_pipeline = -2;
  /// The node that is computed or launched; none if that is unknown.
  NodeId node = NodeId::none;
  /// A launch and its kernels have the same number; 0: none.
  std::uint32_t correlation = 0;
  /// Whether the interval is that of the work itself. False for the launch of a whole graph timed as one unit, which
  /// contains gaps.
  bool is_exact = true;
  Clock::time_point begin, end;
};

struct Window {
  Clock::time_point begin, end;
  Clock::duration length() const { return end - begin; }
};

/// A device whose time is divided, and the replica that drives it.
struct TracedDevice {
  static constexpr int all = -2;
  int gpu = all;     ///< Device::tracer_index(); -1: its kernels run in host threads; all: all devices as one
  int replica = -1;  ///< -1: no replicas

  /// Whether the span is work of the device, of its replica's thread or of the step loop's thread.
  bool has(const Span& span) const {
    return (span.gpu < 0 || gpu == all || span.gpu == gpu) && (span.replica == -1 || span.replica == replica);
  }
};

/// The steps of a trace that count, and the devices whose times are divided.
struct StepMarks {
  Clock::time_point begin{};              ///< of the first step
  std::vector<Clock::time_point> ends{};  ///< of each step, in order; at least one
  std::vector<TracedDevice> devices{};    ///< by replica; a single one without replicas
  std::size_t lost = 0;                   ///< spans that did not fit, or that the tracer lost

  Window window() const { return {begin, ends.back()}; }
};

class Timeline {
 public:
  explicit Timeline(std::size_t capacity) : spans_(capacity) {}

  /// Equal numbers for equal texts. Allocates for a new text, so call it before the hot path. Thread-safe.
  NameId name(std::string_view text);
  std::string_view text(NameId name) const;
  /// The same for nodes.
  NodeId node(const NodeName& node);
  /// `node` must not be none.
  const NodeName& node(NodeId node) const;

  /// Does not allocate; a span without room is only counted. Thread-safe.
  void add(const Span& span) {
    const std::size_t slot = next_.fetch_add(1, std::memory_order_relaxed);
    if (slot < spans_.size()) spans_[slot] = span;
  }
  /// Call it when no thread adds spans any more.
  std::span<const Span> spans() const;
  std::size_t dropped() const;
  /// Spans of pipelines that were not added, because the steps need the room: they make no breakdown unreliable.
  std::size_t left_out() const { return left_out_; }
  void leave_out() { ++left_out_; }
  /// Number of spans kept so far; others may be adding.
  std::size_t size() const { return std::min(next_.load(std::memory_order_relaxed), spans_.size()); }
  std::size_t capacity() const { return spans_.size(); }
  /// Discards the spans, not the names.
  void clear() { next_ = 0; }
  /// No steps before set_steps().
  const StepMarks& steps() const { return steps_; }
  void set_steps(StepMarks steps) { steps_ = std::move(steps); }

 private:
  std::vector<Span> spans_;
  std::atomic<std::size_t> next_{0};
  std::size_t left_out_ = 0;
  StepMarks steps_;
  mutable std::mutex mutex_;
  std::deque<std::string> texts_;  // never moved, because the map's keys point into them
  std::unordered_map<std::string_view, NameId> names_;
  std::deque<NodeName> nodes_;  // the first one is NodeId 1
  std::map<std::array<std::string_view, 3>, NodeId> node_ids_;
};

}  // namespace gpubench
