// The activity of a machine during a few traced steps: spans of time, in memory reserved in advance.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/clock.h"

namespace gpubench {

/// In order of priority: a moment of a step counts for the first class that is active.
enum class SpanClass {
  compute,        ///< a kernel runs on the device
  communication,  ///< replicas exchange tensors
  copy,           ///< between host and device, or within a device
  memset,
  input_wait,  ///< the step waits for its batch
  launch,      ///< the host is inside a call that submits work to the device
  host_sync,   ///< the host waits for the device
  host_compute,
  compile,
  other,  ///< none of the others; no span has this class
};
constexpr std::size_t span_class_count = 10;
/// "input_wait".
std::string_view to_string(SpanClass span_class);

/// A name kept by the timeline.
enum class NameId : std::uint32_t {};

/// An interval of work of one class, on the program's clock.
struct Span {
  SpanClass span_class = SpanClass::other;
  NameId name{};
  NameId lane{};  ///< the stream or thread of the work
  /// Device::tracer_index(): CUDA's index of the GPU; -1 for the host.
  std::int32_t gpu = -1;
  /// A launch and its kernels have the same number; 0: none.
  std::uint32_t correlation = 0;
  /// Whether the interval is that of the work itself. False for the launch of a whole graph timed as one unit, which
  /// contains gaps.
  bool is_exact = true;
  Clock::time_point begin, end;
};

class Timeline {
 public:
  explicit Timeline(std::size_t capacity) : spans_(capacity) {}

  /// Equal numbers for equal texts. Allocates for a new text, so call it before the hot path. Thread-safe.
  NameId name(std::string_view text);
  std::string_view text(NameId name) const;

  /// Does not allocate; a span without room is only counted. Thread-safe.
  void add(const Span& span) {
    const std::size_t slot = next_.fetch_add(1, std::memory_order_relaxed);
    if (slot < spans_.size()) spans_[slot] = span;
  }
  /// Call it when no thread adds spans any more.
  std::span<const Span> spans() const;
  std::size_t dropped() const;
  /// Discards the spans, not the names.
  void clear() { next_ = 0; }

 private:
  std::vector<Span> spans_;
  std::atomic<std::size_t> next_{0};
  mutable std::mutex mutex_;
  std::deque<std::string> texts_;  // never moved, because the map's keys point into them
  std::unordered_map<std::string_view, NameId> names_;
};

/// Measures exactly when a device works, at the price of slowing it down.
class Tracer {
 public:
  virtual ~Tracer() = default;
  /// Throws Error with the reason if tracing is impossible.
  virtual void start() = 0;
  /// The devices must be idle. Adds the spans of all work since start(). Returns the number of lost records: a single
  /// one makes a breakdown unreliable. Throws Error.
  virtual std::size_t stop(Timeline& timeline) = 0;
};

}  // namespace gpubench
