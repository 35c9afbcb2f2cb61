#include "core/traces/analysis.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "core/base/error.h"
#include "core/base/shown_text.h"
#include "core/measure/estimate.h"
#include "core/results/doubt.h"
#include "core/results/profile_info.h"
#include "core/results/step_classes.h"
#include "core/results/steps_of.h"
#include "core/telemetry/peaks.h"
#include "core/trace/profile.h"
#include "core/traces/causes.h"
#include "core/traces/typical_step.h"

namespace gpubench {
namespace {

Clock::time_point at(std::int64_t nanoseconds) {
  return Clock::time_point(std::chrono::nanoseconds(nanoseconds));
}

/// Of a profile. Programs that name each kernel anew have as many as kernels: those that come later count as one.
constexpr std::size_t most_nodes = 2000;

/// Templates and arguments of C++ names tell nothing in a table.
std::string short_name(std::string_view name) {
  constexpr std::size_t most = 80;
  if (name.starts_with("void ")) name.remove_prefix(5);
  return name.size() <= most ? std::string(name) : std::string(name.substr(0, most - 3)) + "...";
}

class TimelineMaker {
 public:
  explicit TimelineMaker(const TraceAnalysis& analysis) : analysis_(analysis), trace_(analysis.trace) {
    std::size_t spans = 0;
    for (const std::vector<IdlePart>& parts : analysis.idle) spans += parts.size();
    for (const DeviceEvent& event : trace_.device) spans += is_inside(event) ? 1 : 0;
    timeline_ = std::make_unique<Timeline>(spans);
    names_.resize(trace_.names.size());
  }

  std::unique_ptr<Timeline> make() {
    for (const DeviceEvent& event : trace_.device)
      if (is_inside(event)) add(event);
    for (std::size_t device = 0; device < analysis_.idle.size(); ++device)
      for (const IdlePart& part : analysis_.idle[device]) add(part, static_cast<std::int32_t>(device));
    mark_steps();
    return std::move(timeline_);
  }

 private:
  bool is_inside(const DeviceEvent& event) const {
    return event.work != DeviceWork::wait && event.time.end > analysis_.window.begin &&
           event.time.begin < analysis_.window.end && event.time.length() > 0;
  }

  NameId name(NameId own) {
    NameId& known = names_[static_cast<std::size_t>(own)];
    if (known == NameId{}) known = timeline_->name(trace_.names.text(own));
    return known;
  }

  NodeId node(NameId name, NameId op) {
    NodeId& known = nodes_[{name, op}];
    if (known == NodeId::none)
      known = timeline_->node(nodes_.size() > most_nodes ? NodeName{.op = "other kernels", .layer = {}, .role = {}}
                                                         : NodeName{.op = short_name(trace_.names.text(name)),
                                                                    .layer = short_name(trace_.names.text(op)),
                                                                    .role = {}});
    return known;
  }

  NameId lane_of(const DeviceEvent& event) {
    const auto [place, is_new] = lanes_.try_emplace({event.device, event.stream});
    if (is_new)
      place->second = timeline_->name(fmt::format("{} stream {}", trace_.devices[event.device].name, event.stream));
    return place->second;
  }

  void add(const DeviceEvent& event) {
    Span span;
    span.span_class = class_of(event.work);
    span.name = name(event.name);
    span.lane = lane_of(event);
    span.gpu = event.device;
    span.node = node(event.name, event.op);
    span.begin = at(event.time.begin);
    span.end = at(event.time.end);
    timeline_->add(span);
  }

  void add(const IdlePart& part, std::int32_t device) {
    Span span;
    span.span_class = analysis_.class_of(part.kind);
    if (span.span_class == SpanClass::other) return;  // as where nothing is recorded at all
    span.name = part.name == NameId{} ? timeline_->name(text_of(part.kind).name) : name(part.name);
    span.lane = timeline_->name("launching thread");
    span.gpu = analysis_.is_host_only ? -1 : device;
    if (span.span_class == SpanClass::compute) span.node = node(part.name, NameId{});
    span.begin = at(part.time.begin);
    span.end = at(part.time.end);
    timeline_->add(span);
  }

  void mark_steps() {
    StepMarks marks;
    marks.begin = at(analysis_.window.begin);
    for (const TraceInterval& step : analysis_.steps.counted()) marks.ends.push_back(at(step.end));
    if (marks.ends.empty()) marks.ends.push_back(at(analysis_.window.end));
    for (std::size_t device = 0; device < analysis_.idle.size(); ++device)
      marks.devices.push_back({.gpu = analysis_.is_host_only ? -1 : static_cast<int>(device), .replica = -1});
    timeline_->set_steps(std::move(marks));
  }

  const TraceAnalysis& analysis_;
  const ForeignTrace& trace_;
  std::unique_ptr<Timeline> timeline_;
  std::vector<NameId> names_;
  std::map<std::pair<NameId, NameId>, NodeId> nodes_;
  std::map<std::pair<std::uint16_t, std::int32_t>, NameId> lanes_;
};

/// Devices without any work were not used; they are not idle.
void drop_unused_devices(ForeignTrace& trace) {
  std::vector<bool> is_used(trace.devices.size());
  for (const DeviceEvent& event : trace.device)
    if (event.work != DeviceWork::wait) is_used[event.device] = true;
  std::vector<std::uint16_t> places(trace.devices.size());
  std::vector<ForeignDevice> kept;
  for (std::size_t i = 0; i < trace.devices.size(); ++i) {
    places[i] = static_cast<std::uint16_t>(kept.size());
    if (is_used[i]) kept.push_back(trace.devices[i]);
  }
  std::erase_if(trace.device, [&](const DeviceEvent& event) { return !is_used[event.device]; });
  for (DeviceEvent& event : trace.device) event.device = places[event.device];
  trace.devices = std::move(kept);
}

std::vector<std::vector<IdlePart>> idle_of(const TraceAnalysis& analysis) {
  const ForeignTrace& trace = analysis.trace;
  const HostActivity activity(trace);
  std::vector<std::vector<IdlePart>> idle;
  if (analysis.is_host_only && analysis.window.length() > 0 && !trace.threads.empty())
    idle.push_back(main_thread_parts(activity, analysis.window));
  for (std::size_t device = 0; device < trace.devices.size(); ++device)
    idle.push_back(idle_parts(trace, activity, static_cast<std::uint16_t>(device), analysis.window));
  return idle;
}

std::string device_names(const TraceAnalysis& analysis) {
  if (analysis.is_host_only) return "cpu:0";
  std::string names;
  for (const ForeignDevice& device : analysis.trace.devices) names += (names.empty() ? "" : " ") + device.name;
  return names;
}

void set_step_times(Record& row, const TraceAnalysis& analysis) {
  const std::vector<double> times = analysis.steps.seconds();
  if (times.empty()) return;
  row.set("steps", static_cast<std::int64_t>(times.size()));
  const Estimate median = estimate_median(times);
  row.set("step_time_s", median.value);
  if (times.size() < least_for_interval) return;
  row.set_measured("step_time_s_low", median.interval.low);
  row.set_measured("step_time_s_high", median.interval.high);
}

std::int64_t count_kernels(const TraceAnalysis& analysis) {
  return std::ranges::count_if(analysis.trace.device, [&](const DeviceEvent& event) {
    return event.work == DeviceWork::kernel && analysis.window.contains(event.time.begin);
  });
}

}  // namespace

SpanClass TraceAnalysis::class_of(IdleKind kind) const {
  if (is_on_cpu && kind == IdleKind::operators) return SpanClass::compute;
  if (is_on_cpu && kind == IdleKind::exchange) return SpanClass::communication;
  return text_of(kind).span_class;
}

const QualityIssue* TraceAnalysis::blocking() const {
  const auto found = std::ranges::find(issues, true, &QualityIssue::blocks);
  return found == issues.end() ? nullptr : &*found;
}

TraceAnalysis analyse(ForeignTrace trace, const AnalysisOptions& options) {
  TraceAnalysis analysis;
  analysis.trace = std::move(trace);
  ForeignTrace& own = analysis.trace;
  correct_device_times(own);
  drop_unused_devices(own);
  analysis.issues = leave_out_single_events(own);
  analysis.is_host_only = own.device.empty();
  analysis.is_on_cpu = std::ranges::all_of(own.devices, &ForeignDevice::is_processor);
  analysis.known_steps = options.known_steps;
  if (!options.whole) analysis.steps = find_steps(own, options.mark);
  analysis.window = analysis.steps.count() > 0 ? analysis.steps.window() : recorded_window(own);
  analysis.idle = idle_of(analysis);
  for (QualityIssue& issue : check_quality(own, analysis.steps, analysis.window, analysis.idle))
    analysis.issues.push_back(std::move(issue));
  analysis.timeline = TimelineMaker(analysis).make();
  return analysis;
}

void require_work(const std::vector<TraceAnalysis>& ranks) {
  if (std::ranges::any_of(ranks, [](const TraceAnalysis& rank) { return rank.window.length() > 0; })) return;
  std::string found;
  for (const QualityIssue& issue : ranks.front().issues)
    if (issue.check != QualityCheck::no_steps) found += (found.empty() ? "" : "; ") + issue.found;
  throw Error(fmt::format("explain: {}: {}", shown_text(ranks.front().trace.file, 300), found));
}

Record row_of(const TraceAnalysis& analysis) {
  Record row{{"status", std::string("ok")},
             {"device", device_names(analysis)},
             {"steps_of", std::string(steps_of_names[StepsOf::foreign])}};
  if (const QualityIssue* const issue = analysis.blocking()) set_doubt(row, {DoubtKind::trace, issue->found});
  std::string unknown;
  for (const QualityIssue& issue : analysis.issues)
    if (issue.unknown > 0) unknown += (unknown.empty() ? "" : "; ") + issue.found;
  if (!unknown.empty()) row.set("detail", unknown);
  if (analysis.window.length() <= 0) return row;
  set_step_times(row, analysis);
  const StepMarks& marks = analysis.timeline->steps();
  const int steps = std::max(analysis.counted_steps(), 1);
  set_breakdown(row, break_down_each(analysis.timeline->spans(), marks.devices, marks.window()), steps);
  if (analysis.step_count() > 0) set_share_intervals(row, break_down_steps(analysis.timeline->spans(), marks));
  if (!analysis.is_host_only)
    row.set("kernels",
            static_cast<double>(count_kernels(analysis)) / steps / static_cast<double>(marks.devices.size()));
  set_causes(row, analysis);
  return row;
}

Info profile_of(const TraceAnalysis& analysis) {
  Info info = profile_info(profile_steps(*analysis.timeline, analysis.timeline->steps()));
  info.set("idle", idle_info(analysis));
  info.set("on_processors", analysis.is_on_cpu);
  info.set("typical_step", typical_step(analysis));
  return info;
}

Info::List devices_of(const ForeignTrace& trace) {
  Info::List devices;
  for (const ForeignDevice& device : trace.devices) {
    Info one(Info::Fields{{"name", device.name}, {"shares_host_memory", device.is_processor()}});
    if (!device.description.empty()) one.set("description", device.description);
    if (device.memory_bytes > 0) one.set("memory_bytes", device.memory_bytes);
    Info::Fields peaks;
    for (const Arithmetic arithmetic : all_arithmetic)
      if (const auto peak = dense_peak(device.description, arithmetic))
        peaks.emplace_back(fmt::format("{}_flops_per_s", to_string(arithmetic)), *peak);
    if (!peaks.empty()) one.set("peaks", std::move(peaks));
    devices.push_back(std::move(one));
  }
  return devices;
}

Info facts_of(const TraceAnalysis& analysis) {
  const ForeignTrace& trace = analysis.trace;
  Info facts(Info::Fields{{"file", shown_text(trace.file, 500)},
                          {"format", trace.format},
                          {"framework", std::string(to_string(trace.framework))},
                          {"events", static_cast<std::int64_t>(trace.report.events)},
                          {"window_s", analysis.window_s()},
                          {"steps", static_cast<std::int64_t>(analysis.steps.steps.size())},
                          {"steps_that_count", analysis.step_count()}});
  if (!analysis.steps.rule.empty()) facts.set("step_rule", analysis.steps.rule);
  if (trace.rank >= 0) facts.set("rank", trace.rank);
  if (trace.world_size > 0) facts.set("world_size", trace.world_size);
  if (!trace.machine.empty()) facts.set("machine", shown_text(trace.machine));
  facts.set("host_only", analysis.is_host_only);
  Info::List issues;
  for (const QualityIssue& issue : analysis.issues) {
    Info one(Info::Fields{{"blocks", issue.blocks}, {"found", shown_text(issue.found, 400)}});
    if (issue.unknown > 0) one.set("unknown_share", issue.unknown);
    if (!issue.to_do.empty()) one.set("to_do", issue.to_do);
    issues.push_back(std::move(one));
  }
  facts.set("issues", std::move(issues));
  return facts;
}

}  // namespace gpubench
