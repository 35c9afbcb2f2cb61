// What the lanes of XLA's and TensorFlow's profilers hold, in XPlane files and in the JSON that is made of them: host
// threads, streams of GPUs, and the ops of TPUs. A processor's compute threads count as its device.
#pragma once
#include <map>
#include <string>
#include <string_view>

#include "core/traces/foreign_trace.h"

namespace gpubench {

struct TraceMeEvent {
  TraceInterval time;
  NameId name{};
  std::uint32_t thread = 0;  ///< index in ForeignTrace::threads, whose `process` is the plane and `name` the line
  std::uint32_t correlation = 0;
  bool is_step = false;  ///< it has a step number
};

class TraceMeLanes {
 public:
  /// `trace` must outlive the lanes.
  explicit TraceMeLanes(ForeignTrace& trace) : trace_(trace) {}
  /// Adds the event where it belongs; those that repeat others are left out.
  void add(const TraceMeEvent& event);
  /// Moves waits for tf.data, which other threads record, to the thread that runs the steps.
  void finish();

 private:
  enum class Lane : std::uint8_t { skipped, host, stream, tpu_ops, compute_threads, codegen, modules };
  static Lane lane_of(const TraceThread& thread);
  void add_host(const TraceMeEvent& event, Lane lane);
  void add_device(const TraceMeEvent& event, Lane lane);
  std::uint16_t device_of(std::string_view plane);

  ForeignTrace& trace_;
  std::map<std::string, std::uint16_t, std::less<>> devices_;
  std::map<std::uint32_t, Lane> lanes_;
  std::map<NameId, HostWork> works_;
  std::map<NameId, DeviceWork> kernel_works_;
};

/// Of a TraceMe: "PjitFunction(step)", "$train.py:12 batch", "IteratorGetNext".
HostWork work_of_trace_me(std::string_view name);
/// "copy-done" of "%copy-done.2 = f32[5]{0} copy-done(...)"; other names as they are.
std::string_view hlo_op(std::string_view name);
/// The thread that runs the steps: of those with the marks of steps, else with most recorded time; 0 without threads.
std::uint32_t main_thread(const ForeignTrace& trace);

}  // namespace gpubench
