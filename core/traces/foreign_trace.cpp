#include "core/traces/foreign_trace.h"

#include <algorithm>
#include <array>
#include <tuple>

namespace gpubench {
namespace {

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
  const auto last = std::ranges::unique(events, equal).begin();
  const auto removed = static_cast<std::size_t>(events.end() - last);
  events.erase(last, events.end());
  return removed;
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
  const auto known = ids_.find(text);
  if (known != ids_.end()) return known->second;
  const auto id = static_cast<NameId>(texts_.size());
  ids_.emplace(texts_.emplace_back(text), id);
  return id;
}

std::string_view to_string(Framework framework) {
  constexpr std::array<std::string_view, 4> names = {"unknown", "pytorch", "tensorflow", "jax"};
  return names[static_cast<std::size_t>(framework)];
}

void finish_trace(ForeignTrace& trace) {
  trace.report.duplicates = sort_once(trace.host) + sort_once(trace.device);
  join_launches(trace);
}

void correct_device_times(ForeignTrace& trace) {
  move_to_launches(trace);
  if (trace.report.moved_to_launch > 0) sort_once(trace.device);
  if (trace.is_amd) shorten_overlapping(trace);
}

}  // namespace gpubench
