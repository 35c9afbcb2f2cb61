// Runs the launches of a bound plan in segments: launches in a row on one device. A device that can record gets each
// segment as a recording at its second run; the first run loads what kernels load late. A segment that reads inputs has
// a recording for each place that they come from.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "core/exec/run/input_slots.h"
#include "core/exec/run/launch.h"

namespace gpubench {

class SegmentRunner {
 public:
  /// `communicator` carries out the plan's exchanges; nullptr where it has none.
  SegmentRunner(const BoundPlan& bound, Communicator* communicator);
  ~SegmentRunner();
  SegmentRunner(const SegmentRunner&) = delete;
  SegmentRunner& operator=(const SegmentRunner&) = delete;

  /// After BoundPlan::bind(): makes the launches of steps that are due in every run, without recordings.
  void bind();
  /// Has what is queued from now on wait for the latest run's copies between devices, whose sources it may overwrite.
  void begin_run();
  void run(const InputSlots::Reading& reading);

 private:
  struct Segment {
    std::size_t first = 0, last = 0;  // launches [first, last)
    std::size_t device = 0;
    bool reads_input = false;
    std::int64_t exchanges = 0;
    double exchanged = 0;         // bytes, by these
    std::vector<SideWork*> ends;  // of what the segment begins and does not end
    enum class State : std::uint8_t { fresh, loaded, direct } state = State::fresh;
    std::vector<std::unique_ptr<Recording>> recordings;  // by slot or place of the inputs; one where none is read
  };
  /// Where a device's tensors travel beside its kernels: a stream each way, as links have.
  struct SideStreams {
    std::unique_ptr<Stream> to_host, from_host;
  };

  /// `begun`: the work of each step that begins some.
  Launch make_launch(std::size_t step, std::vector<SideWork*>& begun);
  void set_copy(std::size_t step, Launch& launch) const;
  void set_exchange(std::size_t step, Launch& launch) const;
  void cut_segments();
  /// A recording must end with no work beside it: has the segment itself wait for what it begins and does not end.
  void end_side_work(Segment& segment);
  void forget(std::size_t recording);
  void run(Segment& segment, const InputSlots::Reading& reading);
  void queue(const Segment& segment, Stream& stream) const;

  const BoundPlan& bound_;
  Communicator* communicator_;
  std::vector<SideStreams> side_streams_;  // by device, where tensors go to the host and come back
  std::vector<Launch> launches_;
  std::vector<DeviceCopy*> copies_;  // of launches_, between devices
  std::vector<Segment> segments_;
};

}  // namespace gpubench
