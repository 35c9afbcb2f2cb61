#include "core/exec/step_tracer.h"

#include <algorithm>
#include <cassert>
#include <fmt/format.h>
#include <utility>

#include "core/base/error.h"
#include "core/device/device.h"

namespace gpubench {
namespace {

bool is_used(Device& device) {
  return !device.shares_host_memory() && device.memory().use().in_use > 0;
}

std::vector<TracedDevice> devices_of(Replicas* replicas) {
  if (replicas == nullptr) return {};
  std::vector<TracedDevice> devices;
  for (int replica = 0; replica < replicas->size(); ++replica) {
    const Device& device = replicas->runtime(replica).devices().device(replicas->device(replica));
    devices.push_back({.gpu = device.tracer_index().value_or(-1), .replica = replica});
  }
  return devices;
}

}  // namespace

bool uses_asynchronous_devices(const Devices& devices) {
  return std::ranges::any_of(devices.ids(), [&](const DeviceId& id) { return is_used(devices.device(id)); });
}

void require_untraced(const Runtime& runtime, Replicas* replicas) {
  const Runtime& own = replicas == nullptr ? runtime : replicas->runtime(0);
  if (own.spans() != nullptr) throw Error("tracing: another trace of the same steps is running; only one can");
}

StepTracer::StepTracer(Runtime& runtime, Replicas* replicas, Tracer& tracer, Timeline& timeline, bool records)
    : runtime_(runtime), replicas_(replicas), tracer_(tracer), timeline_(timeline), records_(records), host_(timeline) {
  require_untraced(runtime, replicas);
  for (int replica = 0; replicas_ != nullptr && replica < replicas_->size(); ++replica) {
    of_replicas_.push_back(std::make_unique<HostSpans>(timeline, fmt::format("replica {}", replica), replica));
  }
  steps_.devices = devices_of(replicas);
  steps_.on_gpus = !steps_.devices.empty() &&
                   std::ranges::all_of(steps_.devices, [](const TracedDevice& device) { return device.gpu >= 0; });
  constexpr std::size_t usual_steps = 64;
  steps_.ends.reserve(usual_steps);
  set_spans(true);
}

StepTracer::~StepTracer() {
  set_spans(false);
}

void StepTracer::set_spans(bool on) {
  if (std::exchange(has_spans_, on) == on) return;
  if (replicas_ == nullptr) runtime_.set_spans(on ? &host_ : nullptr, !on || records_);
  for (int replica = 0; replicas_ != nullptr && replica < replicas_->size(); ++replica) {
    HostSpans* const spans = on ? of_replicas_[static_cast<std::size_t>(replica)].get() : nullptr;
    replicas_->runtime(replica).set_spans(spans, !on || records_);
    replicas_->communicator(replica).set_spans(spans);
  }
  if (on)
    of_pipelines_.emplace(timeline_);
  else
    of_pipelines_.reset();
}

void StepTracer::begin() {
  spans_before_ = timeline_.size();
  steps_.begin = Clock::now();
}

void StepTracer::end_step(Clock::time_point fetched) {
  const Clock::time_point begin = now(), end = Clock::now();
  host_.add(SpanClass::input_wait, begin, fetched);
  host_.add(SpanClass::host_compute, fetched, end);
  steps_.ends.push_back(end);
}

bool StepTracer::has_room() const {
  const std::size_t used = timeline_.size() - spans_before_, left = timeline_.capacity() - timeline_.size();
  return steps() == 0 || 2 * used / steps() < left;
}

TracedSteps StepTracer::finish() {
  assert(steps() > 0);
  const Clock::time_point last = steps_.returned = now();
  for (int replica = 1; replicas_ != nullptr && replica < replicas_->size(); ++replica)
    replicas_->runtime(replica).synchronize();
  runtime_.synchronize();
  steps_.ends.back() = Clock::now();
  host_.add(SpanClass::host_sync, last, steps_.ends.back());
  set_spans(false);
  const std::ptrdiff_t host_spans = std::ranges::count_if(
      timeline_.spans().subspan(spans_before_), [](const Span& span) { return span.replica != Span::of_pipeline; });
  steps_.host_spans = static_cast<double>(host_spans) / std::max<double>(1, static_cast<double>(steps_.devices.size()));
  steps_.lost = tracer_.stop(timeline_) + timeline_.dropped();
  if (steps_.devices.empty()) steps_.devices.push_back({});
  return steps_;
}

}  // namespace gpubench
