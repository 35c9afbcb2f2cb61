#include "core/traces/replay.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

namespace gpubench {
namespace {

/// From old to new moments of the host, linear between the pairs.
class ClockOfHost {
 public:
  void add(std::int64_t old_time, std::int64_t new_time) {
    if (!old_.empty() && old_time <= old_.back()) return;
    old_.push_back(old_time);
    new_.push_back(std::max(new_time, new_.empty() ? new_time : new_.back()));
  }
  std::int64_t operator()(std::int64_t time) const {
    if (old_.empty()) return time;
    const auto after = std::ranges::upper_bound(old_, time) - old_.begin();
    if (after == 0) return new_.front() + (time - old_.front());
    const auto i = static_cast<std::size_t>(after) - 1;
    if (i + 1 == old_.size()) return new_.back() + (time - old_.back());
    const double share = static_cast<double>(time - old_[i]) / static_cast<double>(old_[i + 1] - old_[i]);
    return new_[i] + static_cast<std::int64_t>(share * static_cast<double>(new_[i + 1] - new_[i]));
  }

 private:
  std::vector<std::int64_t> old_, new_;
};

/// A moment at which the host launches, waits, or does what is removed.
struct HostPoint {
  TraceInterval time;
  enum class Kind : std::uint8_t { launch, wait, removed } kind;
  std::uint32_t event = 0;
};

class Replaying {
 public:
  Replaying(const ForeignTrace& trace, HostWork work) : trace_(trace) {
    for (std::uint32_t i = 0; i < trace.device.size(); ++i)
      if (trace.device[i].launch != DeviceEvent::no_launch) works_[trace.device[i].launch].push_back(i);
    std::set<std::uint32_t> threads;
    for (const auto& [launch, works] : works_) threads.insert(trace.host[launch].thread);
    for (std::uint32_t i = 0; i < trace.host.size(); ++i) {
      const HostEvent& event = trace.host[i];
      if (!threads.contains(event.thread)) continue;
      if (event.work == work)
        points_.push_back({event.time, HostPoint::Kind::removed, i});
      else if (event.work == HostWork::sync)
        points_.push_back({event.time, HostPoint::Kind::wait, i});
      else if (works_.contains(i))
        points_.push_back({event.time, HostPoint::Kind::launch, i});
    }
    std::ranges::stable_sort(points_, {}, [](const HostPoint& one) { return one.time.begin; });
  }

  ForeignTrace run() {
    new_device_ = trace_.device;
    std::int64_t old_time = points_.empty() ? 0 : points_.front().time.begin, new_time = old_time;
    clock_.add(old_time, new_time);
    const auto go_to = [&](std::int64_t time) {
      if (time <= old_time) return;
      new_time += time - old_time;
      old_time = time;
      clock_.add(old_time, new_time);
    };
    for (const HostPoint& point : points_) {
      if (point.time.end <= old_time && point.kind != HostPoint::Kind::launch) continue;  // within another
      go_to(point.time.begin);
      if (point.kind == HostPoint::Kind::launch) {
        start_works(point.event, new_time);
        continue;
      }
      // The next old moment is its end; the new one is now, or when the device is done.
      old_time = std::max(old_time, point.time.end);
      if (point.kind == HostPoint::Kind::wait) new_time = std::max(new_time, device_done_);
      clock_.add(old_time, new_time);
    }
    return result();
  }

 private:
  void start_works(std::uint32_t launch, std::int64_t new_launch) {
    for (const std::uint32_t index : works_.at(launch)) {
      DeviceEvent& event = new_device_[index];
      const DeviceEvent& old = trace_.device[index];
      std::int64_t& free = free_[{old.device, old.stream}];
      // What it had of latency when its stream was free; a work that had queued needs none.
      std::int64_t& old_free = old_free_[{old.device, old.stream}];
      const std::int64_t ready = std::max(trace_.host[launch].time.begin, old_free);
      const std::int64_t latency = std::max<std::int64_t>(0, old.time.begin - ready);
      event.time.begin = std::max(free, new_launch) + (new_launch >= free ? latency : std::min(latency, longest_pause));
      event.time.end = event.time.begin + old.time.length();
      free = event.time.end;
      old_free = std::max(old_free, old.time.end);
      device_done_ = std::max(device_done_, event.time.end);
    }
  }

  ForeignTrace result() const {
    ForeignTrace replayed;
    replayed.framework = trace_.framework;
    replayed.format = trace_.format;
    replayed.file = trace_.file;
    replayed.rank = trace_.rank;
    for (std::size_t i = 0; i < trace_.names.size(); ++i) replayed.names.id(trace_.names.text(static_cast<NameId>(i)));
    replayed.threads = trace_.threads;
    replayed.devices = trace_.devices;
    replayed.has_stacks = trace_.has_stacks;
    replayed.host.reserve(trace_.host.size());
    for (HostEvent event : trace_.host) {
      event.time = {clock_(event.time.begin), clock_(event.time.end)};
      replayed.host.push_back(event);
    }
    for (const DeviceEvent& event : new_device_)
      if (event.launch != DeviceEvent::no_launch) replayed.device.push_back(event);
    // Events that take no time any more change places; launches are found again by correlation.
    for (DeviceEvent& event : replayed.device) event.launch = DeviceEvent::no_launch;
    finish_trace(replayed);
    return replayed;
  }

  static constexpr std::int64_t longest_pause = 10'000;

  const ForeignTrace& trace_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> works_;  // by launch
  std::vector<HostPoint> points_;
  std::vector<DeviceEvent> new_device_;
  ClockOfHost clock_;
  std::map<std::pair<std::uint16_t, std::int32_t>, std::int64_t> free_, old_free_;
  std::int64_t device_done_ = INT64_MIN;
};

}  // namespace

Replay replay_without(const TraceAnalysis& analysis, HostWork work) {
  const TraceAnalysis replayed = analyse(Replaying(analysis.trace, work).run(),
                                         {.whole = analysis.step_count() == 0, .known_steps = analysis.known_steps});
  Replay replay;
  replay.step_s = replayed.step_s();
  replay.row = row_of(replayed);
  return replay;
}

}  // namespace gpubench
