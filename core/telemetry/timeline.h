// What a machine did while a few steps were traced: spans of time, kept in memory that is reserved before.
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

/// In the order in which a moment of a step is charged: to the first of those that go on.
enum class SpanClass {
  compute,        ///< a kernel runs on the device
  communication,  ///< replicas exchange
  copy,           ///< between host and device, or within a device
  memset,
  input_wait,  ///< the step waits for its batch
  launch,      ///< the host is inside a call that gives the device work
  host_sync,   ///< the host waits for the device
  host_compute,
  compile,
  other,  ///< none of these; no span has it
};
constexpr std::size_t span_class_count = 10;
/// "input_wait".
std::string_view to_string(SpanClass span_class);

/// A name kept by the timeline.
enum class NameId : std::uint32_t {};

/// A stretch of time in which work of one class went on. Begin and end are on the program's one clock.
struct Span {
  SpanClass span_class = SpanClass::other;
  NameId name{};
  NameId lane{};  ///< where it went on: a stream or a thread
  /// The GPU that worked, as CUDA counts them; -1 for the host.
  std::int32_t gpu = -1;
  /// What caused it: a launch and its kernels have the same number; 0 for none.
  std::uint32_t correlation = 0;
  /// Whether it says when the work itself went on. A whole graph's launch, timed as one, does not: it has gaps inside.
  bool is_exact = true;
  Clock::time_point begin, end;
};

class Timeline {
 public:
  explicit Timeline(std::size_t capacity) : spans_(capacity) {}

  /// The same number for the same text. Allocates for a text it has not seen, so the hot path asks before. Thread-safe.
  NameId name(std::string_view text);
  std::string_view text(NameId name) const;

  /// Allocates nothing; a span that finds no room is counted instead. Thread-safe.
  void add(const Span& span) {
    const std::size_t slot = next_.fetch_add(1, std::memory_order_relaxed);
    if (slot < spans_.size()) spans_[slot] = span;
  }
  /// Of threads that no longer add any.
  std::span<const Span> spans() const;
  std::size_t dropped() const;
  /// Forgets the spans, not the names.
  void clear() { next_ = 0; }

 private:
  std::vector<Span> spans_;
  std::atomic<std::size_t> next_{0};
  mutable std::mutex mutex_;
  std::deque<std::string> texts_;  // never moved: the map's keys look into them
  std::unordered_map<std::string_view, NameId> names_;
};

/// Measures exactly when a device worked, at the price of slowing it down.
class Tracer {
 public:
  virtual ~Tracer() = default;
  /// Throws Error saying why nothing can be traced.
  virtual void start() = 0;
  /// The devices must be idle. Adds the spans of all work since start(). Returns the number of records that were lost:
  /// one is enough to make a breakdown unreliable. Throws Error.
  virtual std::size_t stop(Timeline& timeline) = 0;
};

}  // namespace gpubench
