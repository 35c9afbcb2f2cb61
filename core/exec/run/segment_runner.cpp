#include "core/exec/run/segment_runner.h"

#include <algorithm>
#include <set>
#include <utility>

#include "core/base/error.h"
#include "core/trace/launching_node.h"

namespace gpubench {

SegmentRunner::SegmentRunner(const BoundPlan& bound, Communicator* communicator)
    : bound_(bound), communicator_(communicator), side_streams_(bound.plan().devices.size()) {
  for (std::size_t d = 0; d < side_streams_.size(); ++d) {
    if (bound.plan().host_bytes[d] == 0) continue;
    side_streams_[d] = {bound.device(d).new_stream(), bound.device(d).new_stream()};
  }
}

SegmentRunner::~SegmentRunner() {
  // Kernels have waited for all copies, unless a run was aborted.
  for (const SideStreams& streams : side_streams_) {
    for (Stream* const stream : {streams.to_host.get(), streams.from_host.get()}) {
      try {
        if (stream != nullptr) stream->synchronize();
      } catch (const DeviceError&) {  // a device that has failed cannot be waited for
      }
    }
  }
}

void SegmentRunner::bind(HostSpans* spans) {
  const std::vector<PlannedStep>& steps = bound_.plan().steps;
  segments_.clear();
  copies_.clear();
  launches_.clear();
  launches_.reserve(steps.size());
  std::vector<SideWork*> begun(steps.size());
  for (std::size_t s = 0; s < steps.size(); ++s) {
    if (steps[s].due != Due::every_run) continue;
    launches_.push_back(make_launch(s, begun));
    if (spans == nullptr) continue;
    const OwnerPtr& owner = steps[s].owner;
    launches_.back().node =
        spans->node(steps[s].op, owner == nullptr ? std::string_view() : owner->name, to_string(steps[s].role));
  }
  for (const Launch& launch : launches_) {
    if (const auto* const copy = std::get_if<CopyLaunch>(&launch.action)) copies_.push_back(copy->copy.get());
  }
  cut_segments();
}

Launch SegmentRunner::make_launch(std::size_t index, std::vector<SideWork*>& begun) {
  const Plan& plan = bound_.plan();
  const PlannedStep& step = plan.steps[index];
  Launch launch;
  launch.step = index;
  launch.device = step.device;
  launch.reads_input = std::ranges::any_of(
      step.inputs, [&](int tensor) { return plan.tensors[static_cast<std::size_t>(tensor)].home == Home::input; });
  launch.span_class = span_class_of(step);
  launch.by_host = step.work == Work::exchange && !communicator_->recordable();
  if (step.timing == Timing::end) {
    launch.action = EndLaunch{begun[static_cast<std::size_t>(step.begun)]};
  } else if (step.work == Work::kernel) {
    launch.action = KernelLaunch{step.kernel.get(), bound_.step(index)};
  } else if (step.work == Work::copy) {
    set_copy(index, launch);
  } else {
    set_exchange(index, launch);
  }
  if (const auto* const begins = std::get_if<BeginLaunch>(&launch.action)) begun[index] = begins->work.get();
  return launch;
}

SpanClass SegmentRunner::span_class_of(const PlannedStep& step) const {
  const Plan& plan = bound_.plan();
  const auto on_host = [&](std::size_t device) { return bound_.device(device).shares_host_memory(); };
  if (!on_host(step.device) || step.timing == Timing::end) return SpanClass::launch;
  if (step.work == Work::kernel) return SpanClass::compute;
  const bool copies = step.work == Work::copy;
  return copies && on_host(plan.tensors[static_cast<std::size_t>(step.inputs[0])].device) ? SpanClass::copy
                                                                                          : SpanClass::launch;
}

void SegmentRunner::set_copy(std::size_t index, Launch& launch) const {
  const Plan& plan = bound_.plan();
  const PlannedStep& step = plan.steps[index];
  const BoundStep& memory = bound_.step(index);
  Device& device = bound_.device(step.device);
  if (step.timing == Timing::in_order) {
    Device& source = bound_.device(plan.tensors[static_cast<std::size_t>(step.inputs[0])].device);
    launch.action = CopyLaunch{std::make_unique<DeviceCopy>(source, device), memory};
    return;
  }
  const SideStreams& streams = side_streams_[step.device];
  const bool to_host = plan.tensors[static_cast<std::size_t>(step.outputs[0])].home == Home::host;
  launch.action = BeginLaunch{std::make_unique<SideCopy>(device, to_host ? *streams.to_host : *streams.from_host,
                                                         memory.outputs[0].data, memory.inputs[0].data,
                                                         memory.inputs[0].type->bytes())};
}

void SegmentRunner::set_exchange(std::size_t index, Launch& launch) const {
  const PlannedStep& step = bound_.plan().steps[index];
  Collective collective;
  collective.reduction = step.reduction;
  collective.tensors.assign(bound_.step(index).outputs.begin(), bound_.step(index).outputs.end());
  launch.exchanges = true;
  launch.exchanged = static_cast<double>(collective.bytes());
  if (step.timing == Timing::in_order) {
    launch.action = ExchangeLaunch{communicator_, std::move(collective)};
  } else {
    launch.action = BeginLaunch{communicator_->beside(std::move(collective))};
  }
}

void SegmentRunner::cut_segments() {
  const auto is_copy = [](const Launch& launch) { return std::holds_alternative<CopyLaunch>(launch.action); };
  for (std::size_t index = 0; index < launches_.size(); ++index) {
    const Launch& launch = launches_[index];
    const Launch* const first = segments_.empty() ? nullptr : &launches_[segments_.back().first];
    const bool joins = first != nullptr && !is_copy(launch) && !is_copy(*first) && first->device == launch.device &&
                       first->by_host == launch.by_host;
    if (!joins) {
      segments_.emplace_back();
      segments_.back().first = index;
      segments_.back().device = launch.device;
      if (is_copy(launch) || launch.by_host) segments_.back().state = Segment::State::direct;
    }
    Segment& segment = segments_.back();
    segment.last = index + 1;
    segment.reads_input |= launch.reads_input;
    segment.exchanges += launch.exchanges ? 1 : 0;
    segment.exchanged += launch.exchanged;
  }
  for (Segment& segment : segments_) end_side_work(segment);
}

void SegmentRunner::end_side_work(Segment& segment) {
  std::set<SideWork*> begun;
  for (std::size_t index = segment.first; index < segment.last; ++index) {
    Launch& launch = launches_[index];
    if (launch.by_host) continue;  // work begun by the host may end in another segment, so neither is recorded
    if (const auto* const begins = std::get_if<BeginLaunch>(&launch.action)) begun.insert(begins->work.get());
    const auto* const ends = std::get_if<EndLaunch>(&launch.action);
    if (ends != nullptr && begun.erase(ends->work) == 0) launch.action = NoLaunch{};
  }
  segment.ends.assign(begun.begin(), begun.end());
}

void SegmentRunner::begin_run() {
  for (DeviceCopy* const copy : copies_) copy->release_source();
}

void SegmentRunner::run(const InputSlots::Reading& reading, HostSpans* spans, bool records) {
  if (reading.replaces) forget(reading.recording);
  for (Segment& segment : segments_) run(segment, reading, spans, records);
}

void SegmentRunner::forget(std::size_t recording) {
  for (Segment& segment : segments_) {
    if (!segment.reads_input || recording >= segment.recordings.size()) continue;
    if (segment.recordings[recording] == nullptr) continue;
    bound_.device(segment.device).stream().synchronize();  // it may be running
    segment.recordings[recording].reset();
  }
}

void SegmentRunner::run(Segment& segment, const InputSlots::Reading& reading, HostSpans* spans, bool records) {
  Device& device = bound_.device(segment.device);
  Stream& stream = device.stream();
  device.bind_to_thread();
  const std::size_t index = segment.reads_input ? reading.recording : 0;
  if (segment.recordings.size() <= index) segment.recordings.resize(index + 1);
  std::unique_ptr<Recording>& recording = segment.recordings[index];
  const bool worth_recording = records && (reading.comes_again || !segment.reads_input);
  if (segment.state == Segment::State::loaded && recording == nullptr && worth_recording) {
    recording = device.record(pieces(segment));
    if (recording == nullptr) segment.state = Segment::State::direct;
  }
  if (recording != nullptr) {
    recording->launch(stream);
    if (segment.exchanges > 0) communicator_->launched(stream, segment.exchanges, segment.exchanged);
    return;
  }
  if (spans != nullptr)
    queue_traced(segment, stream, *spans);
  else
    queue(segment, stream);
  if (segment.state == Segment::State::fresh) segment.state = Segment::State::loaded;
}

TouchedMemory SegmentRunner::memory_of(const Launch& launch) const {
  TouchedMemory memory;
  const auto add = [&](std::size_t index) {
    const BoundStep& step = bound_.step(index);
    for (const TensorView& input : step.inputs) memory.reads.push_back({input.data, input.type->bytes()});
    for (const TensorView& output : step.outputs) memory.writes.push_back({output.data, output.type->bytes()});
    if (!step.workspace.empty()) memory.writes.push_back({step.workspace.data(), step.workspace.size()});
  };
  add(launch.step);
  const PlannedStep& step = bound_.plan().steps[launch.step];
  // What runs beside the kernels touches its memory until it ends.
  if (step.timing == Timing::end) add(static_cast<std::size_t>(step.begun));
  if (!bound_.plan().overlaps_recorded) memory.writes.push_back({this, 1});
  // Collectives run in the order in which they are queued, which is the same for all replicas.
  if (step.work == Work::exchange) memory.writes.push_back({communicator_, 1});
  return memory;
}

std::vector<RecordedWork> SegmentRunner::pieces(const Segment& segment) const {
  std::vector<RecordedWork> pieces;
  for (std::size_t index = segment.first; index < segment.last; ++index) {
    const Launch& launch = launches_[index];
    if (std::holds_alternative<NoLaunch>(launch.action)) continue;
    pieces.push_back({memory_of(launch), [&launch](Stream& stream) { launch.queue(stream); }});
  }
  for (SideWork* const work : segment.ends) pieces.push_back({{}, [work](Stream& stream) { work->end(stream); }});
  return pieces;
}

void SegmentRunner::queue(const Segment& segment, Stream& stream) const {
  for (std::size_t index = segment.first; index < segment.last; ++index) launches_[index].queue(stream);
  for (SideWork* const work : segment.ends) work->end(stream);
}

// A launch ends where the next one begins: one reading of the clock for each.
void SegmentRunner::queue_traced(const Segment& segment, Stream& stream, HostSpans& spans) const {
  Clock::time_point begin = spans.now();
  for (std::size_t index = segment.first; index < segment.last; ++index) {
    const Launch& launch = launches_[index];
    const LaunchingNode launching(launch.node);
    launch.queue(stream);
    const Clock::time_point end = spans.now();
    spans.add(launch.span_class, launch.node, begin, end);
    begin = end;
  }
  for (SideWork* const work : segment.ends) work->end(stream);
}

}  // namespace gpubench
