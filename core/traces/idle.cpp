#include "core/traces/idle.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

namespace gpubench {
namespace {

constexpr std::int64_t microsecond = 1000;
/// A device's own pause between two kernels that both wait in its queue.
constexpr std::int64_t longest_pause = 10 * microsecond;
/// A wait that ended so long before a gap has emptied the queue.
constexpr std::int64_t drain_time = 30 * microsecond;
/// A launch that takes so many medians of its call loads the kernel's code.
constexpr std::int64_t first_use_times = 50;
/// No platform needs as long for a launch.
constexpr std::int64_t longest_latency = 1000 * microsecond;
/// Work that begins so many median latencies after its launch waits behind other work.
constexpr std::int64_t behind_times = 100;

constexpr std::array<IdleKindText, idle_kind_count> idle_texts = {{
    {"input", SpanClass::input_wait, "it takes a batch from the loader"},
    {"waiting", SpanClass::host_sync, "it waits for the device"},
    {"after a wait", SpanClass::host_sync, "it goes on after a wait for the device, which had emptied the queue"},
    {"allocation", SpanClass::host_compute, "it allocates or frees memory"},
    {"compilation", SpanClass::compile, "it traces or compiles code"},
    {"first use", SpanClass::host_compute, "it loads the code of a kernel that it launches for the first time"},
    {"launch", SpanClass::launch, "it is in a call that launches work"},
    {"latency", SpanClass::launch, "the work is launched and has not begun"},
    {"between kernels", SpanClass::launch, "the next work waits in the queue"},
    {"operators", SpanClass::host_compute, "it runs the framework's operators"},
    {"exchange", SpanClass::host_compute, "it starts an exchange between ranks"},
    {"annotation", SpanClass::host_compute, "it is in a range that the program has marked"},
    {"Python", SpanClass::host_compute, "it runs Python"},
    {"nothing recorded", SpanClass::host_compute, "it does something that is not recorded: Python, or it does not run"},
    {"device wait", SpanClass::other, "the work was launched before, and waits for something on the device"},
    {"behind unknown work", SpanClass::other, "the work waits behind work that is not in the trace"},
    {"no launch", SpanClass::other, "the trace has no launch of the work that ends the gap"},
}};

IdleKind kind_of(HostWork work) {
  switch (work) {
    case HostWork::input:
      return IdleKind::input;
    case HostWork::sync:
      return IdleKind::sync;
    case HostWork::allocation:
      return IdleKind::allocation;
    case HostWork::launch:
      return IdleKind::launch;
    case HostWork::compile:
      return IdleKind::compile;
    case HostWork::communication:
      return IdleKind::exchange;
    case HostWork::op:
    case HostWork::call:
      return IdleKind::operators;
    case HostWork::annotation:
      return IdleKind::annotation;
    case HostWork::python:
      return IdleKind::python;
    case HostWork::overhead:
    case HostWork::step:
      break;
  }
  return IdleKind::nothing;
}

/// What a wait before has caused: without it the host would have done this earlier.
bool follows_a_wait(IdleKind kind) {
  return kind == IdleKind::launch || kind == IdleKind::operators || kind == IdleKind::exchange ||
         kind == IdleKind::annotation || kind == IdleKind::python || kind == IdleKind::nothing;
}

std::int64_t median_of(std::vector<std::int64_t>& values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// Of a trace: what launches usually take.
struct UsualLaunches {
  std::map<NameId, std::int64_t> length;  // median of each call
  std::int64_t latency = 0;               // median from the end of the call to the work, of work that did not queue

  UsualLaunches(const ForeignTrace& trace, std::uint16_t device) {
    std::map<NameId, std::vector<std::int64_t>> lengths;
    std::vector<std::int64_t> latencies;
    std::int64_t busy_until = INT64_MIN;
    for (const DeviceEvent& event : trace.device) {
      if (event.device != device || event.work == DeviceWork::wait) continue;
      if (event.launch != DeviceEvent::no_launch) {
        const HostEvent& call = trace.host[event.launch];
        lengths[call.name].push_back(call.time.length());
        if (call.time.end > busy_until)
          latencies.push_back(std::max<std::int64_t>(0, event.time.begin - call.time.end));
      }
      busy_until = std::max(busy_until, event.time.end);
    }
    for (auto& [name, values] : lengths) length[name] = median_of(values);
    latency = median_of(latencies);
  }
};

class Charging {
 public:
  Charging(const ForeignTrace& trace, const HostActivity& activity, std::uint16_t device)
      : trace_(trace), activity_(activity), usual_(trace, device), has_launches_(has_launches(trace, device)) {}

  /// The gap between gap.begin and the work that ended it, at gap.end or beyond the window.
  void charge(TraceInterval gap, const DeviceEvent& next) {
    if (next.launch == DeviceEvent::no_launch) {
      if (has_launches_ || trace_.host.empty()) return put(gap, IdleKind::no_launch, next.name, 0);
      return charge_thread(activity_.main_thread(), gap);
    }
    const HostEvent& call = trace_.host[next.launch];
    const std::int64_t launched = std::clamp(call.time.begin, gap.begin, gap.end);
    const std::int64_t returned = std::clamp(call.time.end, launched, gap.end);
    if (call.time.end <= gap.begin) return charge_queued(gap, next, call);
    charge_thread(call.thread, {gap.begin, launched});
    const bool is_first = is_first_use(call);
    put({launched, returned}, is_first ? IdleKind::first_use : IdleKind::launch, call.name, call.thread);
    const std::int64_t latency = gap.end - returned;
    const bool is_behind = latency > behind_times * std::max(usual_.latency, microsecond) && latency > longest_latency;
    put({returned, gap.end}, is_behind ? IdleKind::behind_unknown : IdleKind::latency, call.name, call.thread);
  }

  /// What a thread did in a part of a gap; where nothing is recorded of it, what the main thread did.
  void charge_thread(std::uint32_t thread, TraceInterval part) {
    if (part.length() <= 0) return;
    if (trace_.host.empty()) return put(part, IdleKind::no_launch, NameId{}, 0);
    const HostEvent* const wait = activity_.wait_before(thread, part.begin);
    const bool is_drained = wait != nullptr && wait->time.end > part.begin - drain_time;
    const auto put_event = [&](TraceInterval time, const HostEvent* event, std::uint32_t own) {
      const IdleKind kind = event == nullptr ? IdleKind::nothing : kind_of(event->work);
      if (is_drained && follows_a_wait(kind)) return put(time, IdleKind::drained, reason_of(*wait), wait->thread);
      put(time, kind, event == nullptr ? NameId{} : event->name, own);
    };
    activity_.visit(thread, part, [&](TraceInterval time, const HostEvent* event) {
      if (event != nullptr || thread == activity_.main_thread()) {
        put_event(time, event, thread);
        return;
      }
      activity_.visit(activity_.main_thread(), time, [&](TraceInterval inner, const HostEvent* other) {
        const bool waits = other != nullptr && other->work == HostWork::sync;
        put_event(inner, waits ? nullptr : other, activity_.main_thread());
      });
    });
  }

  /// Whether no work of the device came before the gap.
  void set_first(bool is_first) { is_first_work_ = is_first; }
  std::vector<IdlePart> take() { return std::move(parts_); }

 private:
  static bool has_launches(const ForeignTrace& trace, std::uint16_t device) {
    return std::ranges::any_of(trace.device, [&](const DeviceEvent& event) {
      return event.device == device && event.launch != DeviceEvent::no_launch;
    });
  }

  bool is_first_use(const HostEvent& call) const {
    const std::int64_t usual = usual_.length.at(call.name);
    constexpr std::int64_t least = 100 * microsecond;
    return call.time.length() > std::max(first_use_times * usual, least);
  }

  void charge_queued(TraceInterval gap, const DeviceEvent& next, const HostEvent& call) {
    if (next.time.begin - gap.begin <= longest_pause) return put(gap, IdleKind::between, next.name, call.thread);
    const bool is_far = next.time.begin - call.time.end > behind_times * std::max(usual_.latency, microsecond);
    put(gap, is_far && is_first_work_ ? IdleKind::behind_unknown : IdleKind::device_wait, next.name, call.thread);
  }

  /// The op that waits, for the call of the runtime inside of it.
  NameId reason_of(const HostEvent& wait) {
    if (last_wait_ == &wait) return reason_;
    const HostEvent* const op = activity_.around(wait.thread, wait.time.begin, HostWork::op);
    last_wait_ = &wait;
    return reason_ = op != nullptr && op->time.end >= wait.time.end ? op->name : wait.name;
  }

  void put(TraceInterval time, IdleKind kind, NameId name, std::uint32_t thread) {
    if (time.length() <= 0) return;
    if (!parts_.empty() && parts_.back().kind == kind && parts_.back().time.end == time.begin &&
        parts_.back().name == name) {
      parts_.back().time.end = time.end;
      return;
    }
    parts_.push_back({time, kind, name, thread});
  }

  const ForeignTrace& trace_;
  const HostActivity& activity_;
  UsualLaunches usual_;
  bool has_launches_, is_first_work_ = true;
  const HostEvent* last_wait_ = nullptr;
  NameId reason_{};
  std::vector<IdlePart> parts_;
};

}  // namespace

const IdleKindText& text_of(IdleKind kind) {
  return idle_texts[static_cast<std::size_t>(kind)];
}

std::vector<IdlePart> idle_parts(const ForeignTrace& trace, const HostActivity& activity, std::uint16_t device,
                                 TraceInterval window) {
  Charging charging(trace, activity, device);
  std::int64_t busy_until = window.begin;
  std::size_t works = 0;
  for (const DeviceEvent& event : trace.device) {
    if (event.device != device || event.work == DeviceWork::wait) continue;
    if (event.time.begin >= window.end) {
      if (window.end > busy_until) charging.charge({busy_until, window.end}, event);
      return charging.take();
    }
    if (event.time.end > window.begin) {
      // The first few works may wait behind what was launched before the trace began.
      charging.set_first(works < 3);
      if (event.time.begin > busy_until) charging.charge({busy_until, event.time.begin}, event);
      busy_until = std::max(busy_until, event.time.end);
    }
    ++works;
  }
  if (window.end > busy_until) charging.charge_thread(activity.main_thread(), {busy_until, window.end});
  return charging.take();
}

std::vector<IdlePart> main_thread_parts(const HostActivity& activity, TraceInterval window) {
  std::vector<IdlePart> parts;
  const std::uint32_t thread = activity.main_thread();
  const auto put = [&](TraceInterval time, IdleKind kind, NameId name) {
    if (time.length() > 0) parts.push_back({time, kind, name, thread});
  };
  activity.visit(thread, window, [&](TraceInterval time, const HostEvent* event) {
    const IdleKind kind = event == nullptr ? IdleKind::nothing : kind_of(event->work);
    const NameId name = event == nullptr ? NameId{} : event->name;
    if (!follows_a_wait(kind) || kind == IdleKind::operators) return put(time, kind, name);
    // It may wait for an exchange that another thread carries out.
    activity.visit_exchanges(time, [&](TraceInterval inner, const HostEvent* exchange) {
      put(inner, exchange == nullptr ? kind : IdleKind::exchange, exchange == nullptr ? name : exchange->name);
    });
  });
  return parts;
}

}  // namespace gpubench
