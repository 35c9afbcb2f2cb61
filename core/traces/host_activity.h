// What each host thread does at each moment: of nested events the one that says most about why a device has no work.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/traces/foreign_trace.h"

namespace gpubench {

class HostActivity {
 public:
  /// `trace`, which must outlive this, is finished.
  explicit HostActivity(const ForeignTrace& trace);

  using Visit = std::function<void(TraceInterval, const HostEvent*)>;
  /// Calls `visit` with the parts of the interval, in order, and what the thread did: input before waits for the
  /// device, allocation, launches, compilation, exchanges, ops and calls, ranges and Python; of these the innermost
  /// one. Null where nothing is recorded.
  void visit(std::uint32_t thread, TraceInterval interval, const Visit& visit) const;
  /// The parts of the interval in which a thread carries out an exchange between ranks; null in the others.
  void visit_exchanges(TraceInterval interval, const Visit& visit) const;
  /// The last wait for the device that the thread began before `time`; null if there is none.
  const HostEvent* wait_before(std::uint32_t thread, std::int64_t time) const;
  /// The innermost event of the kind on the thread at the time; null if there is none. Linear in the nesting.
  const HostEvent* around(std::uint32_t thread, std::int64_t time, HostWork work) const;
  std::uint32_t main_thread() const { return main_; }

 private:
  struct Part {
    TraceInterval time;
    std::uint32_t event;
  };
  void divide(std::size_t begin, std::size_t end);
  void visit_parts(const std::vector<Part>& parts, TraceInterval interval, const Visit& visit) const;

  const ForeignTrace& trace_;
  std::vector<std::vector<Part>> parts_;                     // by thread
  std::vector<Part> exchanges_;                              // of all threads, without overlap
  std::vector<std::vector<std::uint32_t>> waits_;            // by thread: events
  std::vector<std::pair<std::size_t, std::size_t>> ranges_;  // by thread: of ForeignTrace::host
  std::uint32_t main_ = 0;
};

}  // namespace gpubench
