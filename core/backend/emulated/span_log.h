// The spans of emulated devices while a tracer records. The devices know their exact times, so tracing costs them
// nothing.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/backend/emulated/engine.h"
#include "core/trace/timeline.h"
#include "core/trace/tracer.h"

namespace gpubench {

class SpanLog {
 public:
  struct Entry {
    SpanClass span_class = SpanClass::compute;
    std::shared_ptr<const std::string> name;
    std::shared_ptr<const std::string> lane;
    std::int32_t device = -1;  ///< Span::gpu
    std::uint32_t correlation = 0;
    Booking time;
    NodeId node = NodeId::none;  ///< that the work belongs to
  };

  bool records() const { return records_.load(std::memory_order_relaxed); }
  /// Only while it records.
  void add(Entry entry);
  /// For a launch and the work that it starts; above 0.
  std::uint32_t next_correlation() { return ++correlation_; }

  /// Throws Error while another tracer records.
  void start();
  void stop(Timeline& timeline);
  void discard();

 private:
  std::atomic<bool> records_{false};
  std::atomic<std::uint32_t> correlation_{0};
  std::mutex mutex_;
  std::vector<Entry> entries_;
};

/// The lane of the calling thread: "host thread 1234".
std::shared_ptr<const std::string> host_lane();

/// Records the spans of one log.
class EmulatedTracer final : public Tracer {
 public:
  explicit EmulatedTracer(std::shared_ptr<SpanLog> log) : log_(std::move(log)) {}
  ~EmulatedTracer() override;
  EmulatedTracer(const EmulatedTracer&) = delete;
  EmulatedTracer& operator=(const EmulatedTracer&) = delete;

  void start() override;
  /// Loses nothing.
  std::size_t stop(Timeline& timeline) override;

 private:
  std::shared_ptr<SpanLog> log_;
  bool started_ = false;
};

}  // namespace gpubench
