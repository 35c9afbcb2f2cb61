// Runs the launches of a bound plan in segments: consecutive launches on one device. If the device supports it, each
// segment is recorded at its second run; the first run triggers lazy loading of kernels. A segment that reads inputs
// has one recording per slot or address of the inputs.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "core/device/work_order.h"
#include "core/exec/run/input_slots.h"
#include "core/exec/run/launch.h"
#include "core/trace/host_spans.h"

namespace gpubench {

class SegmentRunner {
 public:
  /// `communicator` carries out the plan's exchanges; nullptr if it has none.
  SegmentRunner(const BoundPlan& bound, Communicator* communicator);
  ~SegmentRunner();
  SegmentRunner(const SegmentRunner&) = delete;
  SegmentRunner& operator=(const SegmentRunner&) = delete;

  /// Call after BoundPlan::bind(): creates the launches of steps that run every time, without recordings. `spans`: gets
  /// the nodes' names for later runs; nullptr without a trace.
  void bind(HostSpans* spans);
  /// Makes later work wait for the latest run's copies between devices, because it may overwrite their sources.
  void begin_run();
  /// `spans`: as in the latest bind(), or nullptr. `records`: whether segments may be recorded.
  void run(const InputSlots::Reading& reading, HostSpans* spans, bool records);

 private:
  struct Segment {
    std::size_t first = 0, last = 0;  // launches [first, last)
    std::size_t device = 0;
    bool reads_input = false;
    std::int64_t exchanges = 0;
    double exchanged = 0;         // bytes of those collectives
    std::vector<SideWork*> ends;  // side work that the segment begins and does not end
    enum class State : std::uint8_t { fresh, loaded, direct } state = State::fresh;
    std::vector<std::unique_ptr<Recording>>
        recordings;  // by slot or address of the inputs; a single one if none is read
  };
  /// A device's streams for copies beside its kernels: one per direction, like the link.
  struct SideStreams {
    std::unique_ptr<Stream> to_host, from_host;
  };

  /// `begun`: the side work of each step that begins some.
  Launch make_launch(std::size_t step, std::vector<SideWork*>& begun);
  void set_copy(std::size_t step, Launch& launch) const;
  void set_exchange(std::size_t step, Launch& launch) const;
  SpanClass span_class_of(const PlannedStep& step) const;
  void cut_segments();
  /// Makes the segment itself wait for side work that it begins and does not end: a recording must contain the end of
  /// its side work.
  void end_side_work(Segment& segment);
  void forget(std::size_t recording);
  /// All memory that the launch touches, at the addresses of the next run.
  TouchedMemory memory_of(const Launch& launch) const;
  std::vector<RecordedWork> pieces(const Segment& segment) const;
  void run(Segment& segment, const InputSlots::Reading& reading, HostSpans* spans, bool records);
  void queue(const Segment& segment, Stream& stream) const;
  void queue_traced(const Segment& segment, Stream& stream, HostSpans& spans) const;

  const BoundPlan& bound_;
  Communicator* communicator_;
  std::vector<SideStreams> side_streams_;  // by device, for copies to the host and back
  std::vector<Launch> launches_;
  std::vector<DeviceCopy*> copies_;  // of launches_: copies between devices
  std::vector<Segment> segments_;
};

}  // namespace gpubench
