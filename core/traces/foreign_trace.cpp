#include "core/traces/foreign_trace.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <tuple>

#include "core/base/error.h"

namespace gpubench {
namespace {

/// Three weeks; no profiler records as long.
constexpr std::int64_t longest_trace = std::int64_t{1} << 51;

auto order_of(const HostEvent& event) {
  return std::tuple(event.thread, event.time.begin, -event.time.end, event.name);
}

auto order_of(const DeviceEvent& event) {
  return std::tuple(event.time.begin, event.device, event.stream, event.time.end, event.name, event.correlation);
}

/// Sorts and removes equal events. Returns how many.
template <class Event>
std::size_t sort_once(std::vector<Event>& events) {
  const auto before = [](const Event& a, const Event& b) { return order_of(a) < order_of(b); };
  if (!std::ranges::is_sorted(events, before)) std::ranges::stable_sort(events, before);
  const auto equal = [](const Event& a, const Event& b) {
    return order_of(a) == order_of(b) && a.correlation == b.correlation;
  };
  const auto last = std::unique(events.begin(), events.end(), equal);
  const auto removed = static_cast<std::size_t>(events.end() - last);
  events.erase(last, events.end());
  return removed;
}

/// The begin of a middle one of some of the events.
std::int64_t middle_of(const ForeignTrace& trace) {
  constexpr std::size_t most = 1000;
  std::vector<std::int64_t> begins;
  const auto sample = [&](const auto& events) {
    for (std::size_t i = 0; i < events.size(); i += events.size() / most + 1) begins.push_back(events[i].time.begin);
  };
  sample(trace.host);
  sample(trace.device);
  if (begins.empty()) return 0;
  const auto middle = begins.begin() + static_cast<std::ptrdiff_t>(begins.size() / 2);
  std::ranges::nth_element(begins, middle);
  return *middle;
}

/// A single time of 0 among those since the epoch would make a window of decades.
void leave_out_far_events(ForeignTrace& trace) {
  const std::int64_t middle = middle_of(trace);
  const auto is_far = [&](const auto& event) {
    return event.time.begin < middle - longest_trace || event.time.begin > middle + longest_trace;
  };
  trace.report.without_time += std::erase_if(trace.host, is_far) + std::erase_if(trace.device, is_far);
}

bool submits(const HostEvent& event) {
  return event.correlation != 0;
}

void join_launches(ForeignTrace& trace) {
  std::unordered_map<std::uint32_t, std::uint32_t> launches;
  for (std::uint32_t i = 0; i < trace.host.size(); ++i)
    if (submits(trace.host[i])) launches.emplace(trace.host[i].correlation, i);
  for (DeviceEvent& event : trace.device) {
    if (event.correlation == 0) continue;
    const auto launch = launches.find(event.correlation);
    if (launch != launches.end()) event.launch = launch->second;
  }
}

/// The clocks of host and device differ by up to some microseconds.
void move_to_launches(ForeignTrace& trace) {
  for (DeviceEvent& event : trace.device) {
    if (event.launch == DeviceEvent::no_launch) continue;
    const std::int64_t late = trace.host[event.launch].time.begin - event.time.begin;
    if (late <= 0) continue;
    event.time.begin += late;
    event.time.end += late;
    ++trace.report.moved_to_launch;
  }
}

/// AMD's older runtimes let the durations of kernels run into the next one of the same queue.
void shorten_overlapping(ForeignTrace& trace) {
  std::unordered_map<std::uint64_t, DeviceEvent*> last;
  for (DeviceEvent& event : trace.device) {
    if (event.work != DeviceWork::kernel) continue;
    const std::uint64_t queue = (std::uint64_t{event.device} << 32U) | static_cast<std::uint32_t>(event.stream);
    DeviceEvent*& before = last[queue];
    if (before != nullptr && before->time.end > event.time.begin && before->time.begin < event.time.begin) {
      before->time.end = event.time.begin;
      ++trace.report.shortened;
    }
    before = &event;
  }
}

}  // namespace

NameId NameTable::id(std::string_view text) {
  text = text.substr(0, longest_name);
  const auto known = ids_.find(text);
  if (known != ids_.end()) return known->second;
  const auto id = static_cast<NameId>(texts_.size());
  ids_.emplace(texts_.emplace_back(text), id);
  return id;
}

std::optional<TraceInterval> interval_of(std::int64_t begin, std::int64_t length) {
  constexpr std::int64_t latest = INT64_MAX / 4;
  if (length < 0 || length > longest_trace || begin < -latest || begin > latest) return std::nullopt;
  return TraceInterval{begin, begin + length};
}

std::uint16_t next_device(std::size_t known) {
  if (known >= most_devices) throw Error(fmt::format("the trace has more than {} devices", most_devices));
  return static_cast<std::uint16_t>(known);
}

void require_room(std::size_t events) {
  if (events >= most_trace_events)
    throw Error(
        fmt::format("the trace has more than {} million events: profile fewer steps", most_trace_events / 1'000'000));
}

SpanClass class_of(DeviceWork work) {
  switch (work) {
    case DeviceWork::kernel:
      return SpanClass::compute;
    case DeviceWork::communication:
      return SpanClass::communication;
    case DeviceWork::copy:
      return SpanClass::copy;
    case DeviceWork::memset:
      return SpanClass::memset;
    case DeviceWork::wait:
      break;
  }
  return SpanClass::other;
}

std::string_view to_string(Framework framework) {
  constexpr std::array<std::string_view, 4> names = {"unknown", "pytorch", "tensorflow", "jax"};
  return names[static_cast<std::size_t>(framework)];
}

void finish_trace(ForeignTrace& trace) {
  leave_out_far_events(trace);
  trace.report.duplicates = sort_once(trace.host) + sort_once(trace.device);
  join_launches(trace);
}

void correct_device_times(ForeignTrace& trace) {
  move_to_launches(trace);
  if (trace.report.moved_to_launch > 0) sort_once(trace.device);
  if (trace.is_amd) shorten_overlapping(trace);
}

}  // namespace gpubench
