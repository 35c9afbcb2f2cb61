#include "core/traces/reference_rules.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <optional>
#include <span>

#include "core/base/error.h"
#include "core/base/shown_text.h"

namespace gpubench {
namespace {

constexpr std::int64_t ns_per_us = 1000;
constexpr std::string_view kineto_format = "Kineto JSON", xplane_format = "XPlane";

double in_us(std::int64_t nanoseconds) {
  return static_cast<double>(nanoseconds) / static_cast<double>(ns_per_us);
}

/// The union of intervals, in order and apart.
std::vector<TraceInterval> united(std::vector<TraceInterval> parts) {
  std::ranges::sort(parts, {}, &TraceInterval::begin);
  std::vector<TraceInterval> result;
  for (const TraceInterval& part : parts) {
    if (part.length() <= 0) continue;
    if (result.empty() || part.begin > result.back().end)
      result.push_back(part);
    else
      result.back().end = std::max(result.back().end, part.end);
  }
  return result;
}

std::int64_t length_within(std::span<const TraceInterval> apart, TraceInterval window) {
  std::int64_t sum = 0;
  auto part = std::ranges::upper_bound(apart, window.begin, {}, &TraceInterval::end);
  for (; part != apart.end() && part->begin < window.end; ++part)
    sum += std::min(part->end, window.end) - std::max(part->begin, window.begin);
  return sum;
}

/// Classes by priority: a moment counts for the first one that is active.
class Priorities {
 public:
  void add(const std::vector<TraceInterval>& parts) {
    std::vector<TraceInterval> all = unions_.empty() ? std::vector<TraceInterval>() : unions_.back();
    all.insert(all.end(), parts.begin(), parts.end());
    unions_.push_back(united(std::move(all)));
  }
  /// Of each class in the window.
  std::vector<std::int64_t> lengths(TraceInterval window) const {
    std::vector<std::int64_t> result;
    std::int64_t before = 0;
    for (const std::vector<TraceInterval>& one : unions_) {
      const std::int64_t now = length_within(one, window);
      result.push_back(now - before);
      before = now;
    }
    return result;
  }

 private:
  std::vector<std::vector<TraceInterval>> unions_;  ///< of each class and those before it
};

[[noreturn]] void refuse_rule(const ForeignTrace& trace, ReferenceRule rule, std::string_view lack) {
  throw Error(fmt::format("explain --rule {}: {} {}", reference_rules[rule], shown_text(trace.file, 300), lack));
}

/// A kernel by its category: AMD's runtime copies and fills memory with kernels.
bool is_recorded_kernel(const ForeignTrace& trace, const DeviceEvent& event) {
  return event.work == DeviceWork::kernel || event.work == DeviceWork::communication ||
         trace.text(event).find("__amd_rocclr_") != std::string::npos;
}

struct KinetoStep {
  std::string name;
  TraceInterval host, time;
  std::size_t device_events = 0;
  std::int64_t first_device = INT64_MAX, last_device = INT64_MIN;
};

/// Without marks the whole of the operators is one step.
std::vector<KinetoStep> host_steps(const ForeignTrace& trace) {
  constexpr std::string_view mark = "ProfilerStep#";
  std::vector<KinetoStep> steps;
  std::optional<TraceInterval> all;
  for (const HostEvent& event : trace.host) {
    const std::string& name = trace.text(event);
    const bool is_step = event.record != HostRecord::other && name.starts_with(mark);
    if (is_step) steps.push_back({.name = name.substr(mark.size()), .host = event.time, .time = event.time});
    if (!is_step && event.record != HostRecord::op) continue;
    if (!all) all = event.time;
    all = {std::min(all->begin, event.time.begin), std::max(all->end, event.time.end)};
  }
  std::ranges::stable_sort(steps, {}, [](const KinetoStep& step) { return step.host.begin; });
  if (steps.empty() && all) steps.push_back({.name = "0", .host = *all, .time = *all});
  return steps;
}

/// The step whose call launched the event; nullptr where the call is not wholly in a step.
KinetoStep* step_of(const ForeignTrace& trace, const DeviceEvent& event, std::vector<KinetoStep>& steps) {
  if (event.launch == DeviceEvent::no_launch) return nullptr;
  const HostEvent& call = trace.host[event.launch];
  if (call.record != HostRecord::call) return nullptr;
  const auto after =
      std::ranges::upper_bound(steps, call.time.begin, {}, [](const KinetoStep& step) { return step.host.begin; });
  if (after == steps.begin()) return nullptr;
  KinetoStep& step = *std::prev(after);
  return call.time.end <= step.host.end ? &step : nullptr;
}

/// A step begins when the one before has ended, and ends when the work that it launched is done. The first one also
/// waits for work of earlier steps that ended before its own.
void extend_to_device(const ForeignTrace& trace, std::vector<KinetoStep>& steps) {
  std::vector<TraceInterval> others;
  bool has_device = false;
  for (const DeviceEvent& event : trace.device) {
    if (event.work == DeviceWork::wait) continue;
    KinetoStep* const step = step_of(trace, event, steps);
    if (step == nullptr) {
      others.push_back(event.time);
      continue;
    }
    has_device = true;
    ++step->device_events;
    step->first_device = std::min(step->first_device, event.time.begin);
    step->last_device = std::max(step->last_device, event.time.end);
  }
  if (!has_device) return;
  std::int64_t before = steps.front().host.begin;
  for (const TraceInterval& other : others)
    if (steps.front().device_events > 0 && other.end < steps.front().first_device) before = std::max(before, other.end);
  for (KinetoStep& step : steps) {
    step.time.begin = std::max(before, step.host.begin);
    step.time.end = std::max({step.host.end, step.last_device, step.time.begin});
    before = step.time.end;
  }
}

/// The profiler may have missed work of the last steps.
void drop_incomplete_steps(std::vector<KinetoStep>& steps) {
  constexpr double least_share = 0.8;
  const auto has_device = [](const KinetoStep& step) { return step.device_events > 0; };
  if (steps.size() < 2 || std::ranges::none_of(steps, has_device)) return;
  while (!has_device(steps.back())) steps.pop_back();
  if (steps.size() < 2) return;
  const auto before = static_cast<double>(steps[steps.size() - 2].device_events);
  if (static_cast<double>(steps.back().device_events) < least_share * before) steps.pop_back();
}

bool is_data_loader(std::string_view name) {
  return (name.starts_with("enumerate(DataLoader)#") && name.ends_with(".__next__")) ||
         name.starts_with("enumerate(DataPipe)#");
}

bool is_exchange(std::string_view name) {
  constexpr std::array<std::string_view, 5> exchanges = {"broadcast", "reduce", "all_reduce", "all_gather",
                                                         "reduce_scatter"};
  if (!name.starts_with("nccl:") && !name.starts_with("gloo:")) return false;
  return std::ranges::find(exchanges, name.substr(5)) != exchanges.end();
}

ReferenceTable kineto_table(const ForeignTrace& trace) {
  enum : std::uint8_t { kernel, copy, memset, exchange, runtime, loader, op, class_count };
  ReferenceTable table{
      .classes = {"Kernel", "Memcpy", "Memset", "Communication", "Runtime", "DataLoader", "CPU Exec", "Other", "Total"},
      .rows = {}};
  std::vector<KinetoStep> steps = host_steps(trace);
  if (steps.empty()) refuse_rule(trace, ReferenceRule::kineto, "has neither a ProfilerStep nor an operator");
  extend_to_device(trace, steps);
  drop_incomplete_steps(steps);

  std::array<std::vector<TraceInterval>, class_count> parts;
  for (const DeviceEvent& event : trace.device) {
    if (event.work == DeviceWork::wait) continue;
    if (is_recorded_kernel(trace, event))
      parts[is_exchange(trace.names.text(event.op)) ? exchange : kernel].push_back(event.time);
    else
      parts[event.work == DeviceWork::copy ? copy : memset].push_back(event.time);
  }
  for (const HostEvent& event : trace.host) {
    if (event.record == HostRecord::other || event.work == HostWork::step) continue;
    const std::string& name = trace.text(event);
    std::size_t own = op;
    if (event.record == HostRecord::call)
      own = runtime;
    else if (is_data_loader(name))
      own = loader;
    else if (is_exchange(name))
      own = exchange;
    parts[own].push_back(event.time);
  }
  Priorities priorities;
  for (const std::vector<TraceInterval>& own : parts) priorities.add(own);

  std::vector<double> sums(table.classes.size());
  for (const KinetoStep& step : steps) {
    std::vector<double> times;
    std::int64_t rest = step.time.length();
    for (const std::int64_t length : priorities.lengths(step.time)) {
      times.push_back(in_us(length));
      rest -= length;
    }
    times.push_back(in_us(rest));
    times.push_back(in_us(step.time.length()));
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += times[i];
    table.rows.push_back({step.name, std::move(times)});
  }
  for (double& sum : sums) sum /= static_cast<double>(steps.size());
  table.rows.push_back({"average", std::move(sums)});
  return table;
}

TraceInterval hull(const std::vector<TraceInterval>& parts) {
  TraceInterval result = parts.front();
  for (const TraceInterval& part : parts) result = {std::min(result.begin, part.begin), std::max(result.end, part.end)};
  return result;
}

/// HTA keeps whole microseconds: begins are rounded up, ends down. Its times are doubles, which hold those since the
/// epoch to 0.25 us only.
TraceInterval in_whole_us(TraceInterval time) {
  const auto us = [](std::int64_t ns) { return static_cast<double>(static_cast<long double>(ns) / ns_per_us); };
  const double begin = us(time.begin), end = begin + us(time.length());
  return {static_cast<std::int64_t>(std::ceil(begin)), static_cast<std::int64_t>(std::floor(end))};
}

ReferenceTable hta_table(const ForeignTrace& trace) {
  std::vector<std::int64_t> steps;
  for (const HostEvent& event : trace.host)
    if (event.record != HostRecord::other && event.work == HostWork::step) steps.push_back(event.time.begin);
  std::ranges::sort(steps);
  const auto counts = [&](const DeviceEvent& event) {
    if (steps.empty()) return true;
    if (steps.size() == 1) return event.time.begin >= steps.front();
    if (event.launch == DeviceEvent::no_launch) return false;
    const std::int64_t launch = trace.host[event.launch].time.begin;
    return launch >= steps.front() && launch < steps.back();
  };
  std::vector<TraceInterval> compute, others;
  for (const DeviceEvent& event : trace.device) {
    if (!counts(event)) continue;
    const std::string& name = trace.text(event);
    const bool is_compute = !name.starts_with("nccl") && !name.starts_with("Memcpy") && !name.starts_with("Memset") &&
                            !name.starts_with("dma");
    (is_compute ? compute : others).push_back(in_whole_us(event.time));
  }
  std::vector<TraceInterval> all = compute;
  all.insert(all.end(), others.begin(), others.end());
  if (all.empty()) refuse_rule(trace, ReferenceRule::hta, "has no work of a device in its steps");
  const TraceInterval window = hull(all);
  Priorities priorities;
  priorities.add(compute);
  priorities.add(others);
  const std::vector<std::int64_t> lengths = priorities.lengths(window);
  ReferenceTable::Row row{"all devices", {}};
  for (const std::int64_t time : {window.length() - lengths[0] - lengths[1], lengths[0], lengths[1], window.length()})
    row.times_us.push_back(static_cast<double>(time));
  return {.classes = {"idle", "compute", "non_compute", "window"}, .rows = {std::move(row)}};
}

using DeviceEvents = std::vector<const DeviceEvent*>;

ReferenceTable::Row tracelens_row(const ForeignTrace& trace, std::string name, const DeviceEvents& events) {
  std::vector<TraceInterval> compute, exchanges, copies;
  for (const DeviceEvent* const event : events) {
    if (trace.text(*event).find("nccl") != std::string::npos)
      exchanges.push_back(event->time);
    else
      (event->work == DeviceWork::copy && !is_recorded_kernel(trace, *event) ? copies : compute).push_back(event->time);
  }
  Priorities priorities;
  std::vector<TraceInterval> all;
  for (const auto* parts : {&compute, &exchanges, &copies}) {
    priorities.add(*parts);
    all.insert(all.end(), parts->begin(), parts->end());
  }
  const TraceInterval window = hull(all);
  const std::vector<std::int64_t> lengths = priorities.lengths(window);
  const std::int64_t busy = lengths[0] + lengths[1] + lengths[2];
  ReferenceTable::Row row{std::move(name), {}};
  for (const std::int64_t time : {lengths[0], lengths[1], lengths[2], busy, window.length() - busy, window.length(),
                                  length_within(united(exchanges), window), length_within(united(copies), window)})
    row.times_us.push_back(in_us(time));
  return row;
}

/// Events without a launch are of steps before the trace, unless the trace has no launches at all. TraceLens keeps the
/// devices of XPlane apart, those of a rank of Kineto not.
ReferenceTable tracelens_table(const ForeignTrace& trace) {
  ReferenceTable table{.classes = {"computation_time", "exposed_comm_time", "exposed_memcpy_time", "busy_time",
                                   "idle_time", "total_time", "total_comm_time", "total_memcpy_time"},
                       .rows = {}};
  const bool has_launches =
      std::ranges::any_of(trace.device, [](const DeviceEvent& one) { return one.launch != DeviceEvent::no_launch; });
  const bool is_xplane = trace.format == xplane_format;
  std::vector<DeviceEvents> devices(is_xplane ? trace.devices.size() : 1);
  for (const DeviceEvent& event : trace.device) {
    if (event.work == DeviceWork::wait || (has_launches && event.launch == DeviceEvent::no_launch)) continue;
    devices[is_xplane ? event.device : 0].push_back(&event);
  }
  for (std::size_t i = 0; i < devices.size(); ++i)
    if (!devices[i].empty())
      table.rows.push_back(tracelens_row(trace, is_xplane ? trace.devices[i].name : "all devices", devices[i]));
  if (table.rows.empty()) refuse_rule(trace, ReferenceRule::tracelens, "has no work of a device");
  return table;
}

}  // namespace

std::string_view words_of(ReferenceRule rule) {
  switch (rule) {
    case ReferenceRule::kineto:
      return "the rule of PyTorch's profiler plugin for TensorBoard (pytorch/kineto, tb_plugin): a moment of a step "
             "counts for the first class that is active";
    case ReferenceRule::hta:
      return "the rule of Holistic Trace Analysis (HTA): work that was launched between the begins of the first and the "
             "last ProfilerStep";
    case ReferenceRule::tracelens:
      break;
  }
  return "the rule of TraceLens (AMD-AGI): all work that has a launch, from its first begin to its last end";
}

ReferenceTable reference_table(const ForeignTrace& trace, ReferenceRule rule) {
  const bool is_for_xplane = rule == ReferenceRule::tracelens;
  if (trace.format != kineto_format && !(is_for_xplane && trace.format == xplane_format))
    refuse_rule(trace, rule,
                fmt::format("is {}; the rule is for {}, which torch.profiler writes{}", trace.format, kineto_format,
                            is_for_xplane ? fmt::format(", and for {}", xplane_format) : ""));
  switch (rule) {
    case ReferenceRule::kineto:
      return kineto_table(trace);
    case ReferenceRule::hta:
      return hta_table(trace);
    case ReferenceRule::tracelens:
      break;
  }
  return tracelens_table(trace);
}

}  // namespace gpubench
