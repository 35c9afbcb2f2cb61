#include "core/traces/quality.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <numeric>

#include "core/base/shown_text.h"
#include "core/base/units.h"
#include "core/traces/event_kinds.h"
#include "core/traces/graph_replays.h"

namespace gpubench {
namespace {

constexpr double material = 0.10;  // of the window
constexpr std::size_t least_events = 20;
constexpr double least_work_ns = 1e7;

std::string seconds_text(std::int64_t nanoseconds) {
  return format_seconds(static_cast<double>(nanoseconds) * 1e-9);
}

std::string percent(double share) {
  return fmt::format("{:.{}f} %", 100 * share, share < 0.1 ? 1 : 0);
}

double share_of(double part, TraceInterval window, std::size_t devices = 1) {
  return window.length() > 0
             ? part / static_cast<double>(window.length()) / static_cast<double>(std::max<std::size_t>(devices, 1))
             : 0;
}

/// In nanoseconds, the sum over events that may overlap.
double busy_time(const ForeignTrace& trace) {
  double busy = 0;
  for (const DeviceEvent& event : trace.device)
    if (event.work != DeviceWork::wait) busy += static_cast<double>(event.time.length());
  return busy;
}

std::size_t count_launches(const ForeignTrace& trace) {
  return static_cast<std::size_t>(std::ranges::count(trace.host, HostWork::launch, &HostEvent::work));
}

struct Inputs {
  const ForeignTrace& trace;
  const TraceSteps& steps;
  TraceInterval window;
  const std::vector<std::vector<IdlePart>>& idle;

  std::int64_t idle_of(IdleKind kind) const {
    std::int64_t sum = 0;
    for (const std::vector<IdlePart>& device : idle)
      for (const IdlePart& part : device)
        if (part.kind == kind) sum += part.time.length();
    return sum;
  }
  double idle_share(IdleKind kind) const { return share_of(static_cast<double>(idle_of(kind)), window, idle.size()); }
};

using Found = std::optional<QualityIssue>;

Found damaged(const Inputs& in) {
  const ReadReport& report = in.trace.report;
  if (report.damaged == 0 && report.cut_at == 0 && report.damage.empty()) return {};
  QualityIssue issue{.check = QualityCheck::damaged, .found = {}};
  if (report.damaged > 0)
    issue.found = fmt::format("{} could not be read, the first at byte {}: {}",
                              format_count(static_cast<std::int64_t>(report.damaged), "event"), report.first_damage,
                              report.damage);
  else if (!report.damage.empty())
    issue.found = fmt::format("at byte {}: {}", report.first_damage, report.damage);
  if (report.cut_at > 0)
    issue.found += fmt::format("{}the file is cut at byte {}; what is whole before it counts",
                               issue.found.empty() ? "" : "; ", report.cut_at);
  return issue;
}

Found no_work(const Inputs& in) {
  if (in.window.length() > 0) return {};
  return QualityIssue{.check = QualityCheck::no_work,
                      .blocks = true,
                      .unknown = 1,
                      .found = "there are no events of operators, calls or kernels",
                      .to_do = "profile some steps of the running job"};
}

Found no_device_events(const Inputs& in) {
  const std::size_t launches = count_launches(in.trace);
  if (launches == 0 || !in.trace.device.empty()) return {};
  return QualityIssue{
      .check = QualityCheck::no_device_events,
      .blocks = true,
      .unknown = 1,
      .found = fmt::format("kernels were not recorded: there are {}, and no work of a device",
                           format_count(static_cast<std::int64_t>(launches), "launch")),
      .to_do =
          "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]; and end other profilers, as one alone can "
          "record kernels"};
}

constexpr std::array<std::string_view, 4> capture_marks = {"capture_", "_capture_graph", "_dummy_run",
                                                           "CUDAGraph.capture"};

bool is_capture_mark(std::string_view name) {
  return std::ranges::any_of(capture_marks,
                             [&](std::string_view mark) { return name.find(mark) != std::string_view::npos; });
}

bool is_little(const ForeignTrace& trace) {
  if (trace.device.empty()) return trace.host.size() < least_events;
  return trace.device.size() < least_events && busy_time(trace) < least_work_ns;
}

Found capture(const Inputs& in) {
  const auto mark = std::ranges::find_if(in.trace.host, [&](const HostEvent& event) {
    return (event.work == HostWork::annotation || event.work == HostWork::python) &&
           is_capture_mark(in.trace.text(event));
  });
  const double busy = share_of(busy_time(in.trace), in.window, in.trace.devices.size());
  if (mark == in.trace.host.end() || busy > 0.02) return {};
  return QualityIssue{.check = QualityCheck::capture,
                      .blocks = true,
                      .unknown = 1,
                      .found = fmt::format("this is the capture of a graph ({}), not the workload: {} of a device",
                                           shown_text(in.trace.text(*mark), 60),
                                           format_count(static_cast<std::int64_t>(in.trace.device.size()), "event")),
                      .to_do = "begin the profile after the warm-up, when captured graphs are replayed"};
}

Found too_little(const Inputs& in) {
  if (!is_little(in.trace) || in.window.length() <= 0) return {};
  const std::size_t events = in.trace.device.empty() ? in.trace.host.size() : in.trace.device.size();
  return QualityIssue{
      .check = QualityCheck::too_little,
      .blocks = true,
      .unknown = 1,
      .found = fmt::format("too little to judge: {} {}", format_count(static_cast<std::int64_t>(events), "event"),
                           in.trace.device.empty() ? "of the host" : "of devices"),
      .to_do = "profile at least three steps"};
}

/// Of a program on processors alone: what is compiled once, in a window that has no steps behind it.
Found start_up_on_host(const Inputs& in) {
  constexpr std::size_t least_steps = 3;
  const double compile = in.idle_share(IdleKind::compile);
  if (in.steps.count() >= least_steps || compile <= 0.40) return {};
  return QualityIssue{
      .check = QualityCheck::start_up,
      .blocks = true,
      .unknown = 1,
      .found = fmt::format("start-up is in the window: {} of it is tracing and compiling, and {} "
                           "can be told from it",
                           percent(compile), format_count(static_cast<std::int64_t>(in.steps.count()), "step")),
      .to_do = "begin the profile after some steps: what is compiled once is done then"};
}

Found start_up(const Inputs& in) {
  const bool has_gpu =
      std::ranges::any_of(in.trace.devices, [](const ForeignDevice& one) { return !one.is_processor(); });
  if (in.trace.device.empty() || !has_gpu) return start_up_on_host(in);
  double compute = 0;
  for (const DeviceEvent& event : in.trace.device)
    if (event.work == DeviceWork::kernel) compute += static_cast<double>(event.time.length());
  const double starting = in.idle_share(IdleKind::sync) + in.idle_share(IdleKind::allocation) +
                          in.idle_share(IdleKind::first_use) + in.idle_share(IdleKind::compile) +
                          in.idle_share(IdleKind::drained);
  const double first = in.idle_share(IdleKind::first_use) + in.idle_share(IdleKind::allocation);
  if (share_of(compute, in.window, in.trace.devices.size()) >= 0.02 || starting <= 0.40 || first <= 0) return {};
  return QualityIssue{
      .check = QualityCheck::start_up,
      .blocks = true,
      .unknown = 1,
      .found = fmt::format("start-up is in the window: {} of it are waits, allocation and first uses of "
                           "kernels, and kernels run {}",
                           percent(starting), percent(share_of(compute, in.window, in.trace.devices.size()))),
      .to_do = "schedule=torch.profiler.schedule(wait=5, warmup=2, active=5): a window after the warm-up"};
}

Found partial_replays(const Inputs& in) {
  const GraphReplays replays = graph_replays(in.trace);
  constexpr std::size_t least_graphs = 3;
  if (replays.launches < least_graphs) return {};
  if (replays.kernels == 0)
    return QualityIssue{
        .check = QualityCheck::partial_replays,
        .blocks = true,
        .unknown = 1,
        .found = fmt::format("{} launches of graphs, and none of their kernels was recorded", replays.launches),
        .to_do =
            "record the nodes of graphs: nsys --cuda-graph-trace=node; of PyTorch, profile a run "
            "without CUDA graphs"};
  if (static_cast<double>(replays.partial) <= 0.05 * static_cast<double>(replays.launches)) return {};
  return QualityIssue{
      .check = QualityCheck::partial_replays,
      .blocks = true,
      .unknown = 1,
      .found = fmt::format("{} launches of graphs, of which {} have less than half of the kernels that others of the "
                           "same graph have: replays were recorded in part, and idle time is unknown",
                           replays.launches, replays.partial),
      .to_do = "profile fewer steps, or a run without graphs"};
}

Found device_wait(const Inputs& in) {
  const double share = in.idle_share(IdleKind::device_wait);
  if (share <= material) return {};
  return QualityIssue{.check = QualityCheck::device_wait,
                      .unknown = share,
                      .found = fmt::format("in {} of the window work that was launched before waits on the device, for "
                                           "what the trace does not say",
                                           percent(share)),
                      .to_do = "record all streams and events (nsys --trace=cuda,nvtx --cuda-event-trace=true)"};
}

Found cropped(const Inputs& in) {
  const double share = in.idle_share(IdleKind::behind_unknown);
  if (share <= material) return {};
  return QualityIssue{
      .check = QualityCheck::cropped,
      .blocks = true,
      .unknown = share,
      .found = fmt::format("{} of the window the first work waits behind work that is not in the trace: "
                           "the trace is cropped",
                           percent(share)),
      .to_do = "let the profile begin after a synchronization, or profile whole steps"};
}

Found no_launches(const Inputs& in) {
  const double share = in.idle_share(IdleKind::no_launch);
  const auto orphans = std::ranges::count(in.trace.device, DeviceEvent::no_launch, &DeviceEvent::launch);
  if (share > material)
    return QualityIssue{
        .check = QualityCheck::no_launches,
        .unknown = share,
        .found = fmt::format("{} of the window is idle before work of which the trace has no launch ({} of "
                             "{} events of devices): why is unknown",
                             percent(share), orphans, in.trace.device.size()),
        .to_do = "record the host too: ProfilerActivity.CPU, nsys --trace=cuda,osrt,nvtx"};
  return {};
}

Found steps_without_work(const Inputs& in) {
  if (in.steps.without_work == 0) return {};
  return QualityIssue{.check = QualityCheck::steps_without_work,
                      .found = fmt::format("{} {} left out, as the device does next to nothing there",
                                           format_count(static_cast<std::int64_t>(in.steps.without_work), "step"),
                                           in.steps.without_work == 1 ? "was" : "were")};
}

Found profiler_cost(const Inputs& in) {
  const ReadReport& report = in.trace.report;
  const double share = share_of(report.overhead_ns, in.window);
  const bool has_many = report.python_events > report.op_events && in.trace.framework == Framework::pytorch;
  if (!has_many && share <= 0.02) return {};
  return QualityIssue{.check = QualityCheck::profiler_cost,
                      .found = has_many
                                   ? fmt::format("the profiler recorded {} Python calls, which makes the host slower: "
                                                 "its shares are upper bounds",
                                                 report.python_events)
                                   : fmt::format("the profiler itself took {} of the window", percent(share)),
                      .to_do = has_many ? "with_stack=False for times, with_stack=True for places" : ""};
}

Found short_window(const Inputs& in) {
  if (in.steps.steps.empty() || in.steps.count() >= 3) return {};
  return QualityIssue{.check = QualityCheck::short_window,
                      .found = fmt::format("{} counted: no interval can be given",
                                           format_count(static_cast<std::int64_t>(in.steps.count()), "step")),
                      .to_do = "profile 8 steps or more"};
}

Found no_steps(const Inputs& in) {
  if (!in.steps.steps.empty()) return {};
  return QualityIssue{
      .check = QualityCheck::no_steps,
      .found = "no steps: nothing marks them or repeats, so the whole trace counts as one",
      .to_do = in.trace.format.starts_with("Nsight")
                   ? "put an NVTX range around each step: torch.cuda.nvtx.range(\"step\"), jax.named_scope"
               : in.trace.framework == Framework::jax
                   ? "with jax.profiler.StepTraceAnnotation('step', step_num=i): around each step"
               : in.trace.framework == Framework::tensorflow
                   ? "with tf.profiler.experimental.Trace('train', step_num=i, _r=1): around each step"
                   : "call prof.step() at the end of each iteration"};
}

Found ambiguous_steps(const Inputs& in) {
  if (in.steps.other_rule.empty()) return {};
  return QualityIssue{.check = QualityCheck::ambiguous_steps,
                      .found = fmt::format("steps by {} take {}, by {} {}", in.steps.rule,
                                           format_seconds(static_cast<double>(in.steps.window().length()) * 1e-9 /
                                                          static_cast<double>(in.steps.count())),
                                           in.steps.other_rule, format_seconds(in.steps.other_step_s)),
                      .to_do = fmt::format("--step '{}', if that is a step", in.steps.other_rule)};
}

Found moved_events(const Inputs& in) {
  const std::size_t moved = in.trace.report.moved_to_launch;
  if (in.trace.device.empty() || 100 * moved <= in.trace.device.size()) return {};
  return QualityIssue{
      .check = QualityCheck::moved_events,
      .found = fmt::format("{} of {} works of devices begin before their launch, as clocks differ; they "
                           "were moved to it",
                           moved, in.trace.device.size())};
}

Found other_events(const Inputs& in) {
  const ReadReport& report = in.trace.report;
  std::vector<std::string> parts;
  if (report.duplicates > 0) parts.push_back(fmt::format("{} equal events count once", report.duplicates));
  if (report.without_time > 0)
    parts.push_back(fmt::format("{} without a valid time were left out",
                                format_count(static_cast<std::int64_t>(report.without_time), "event")));
  if (report.shortened > 0)
    parts.push_back(fmt::format("{} kernels that run into the next one of their queue were cut", report.shortened));
  if (parts.empty()) return {};
  std::string found = parts.front();
  for (std::size_t i = 1; i < parts.size(); ++i) found += "; " + parts[i];
  return QualityIssue{.check = QualityCheck::other_events, .found = std::move(found)};
}

constexpr std::array checks = {
    &damaged,         &no_work,     &no_device_events, &capture,      &too_little,         &start_up,
    &partial_replays, &device_wait, &cropped,          &no_launches,  &steps_without_work, &profiler_cost,
    &short_window,    &no_steps,    &ambiguous_steps,  &moved_events, &other_events};

}  // namespace

std::vector<QualityIssue> leave_out_single_events(ForeignTrace& trace) {
  constexpr double large = 0.20;  // of the busy time
  constexpr std::int64_t times = 20;
  constexpr std::size_t least = 5;
  const double busy = busy_time(trace);
  std::map<NameId, std::vector<std::int64_t>> lengths;
  for (const DeviceEvent& event : trace.device)
    if (event.work != DeviceWork::wait) lengths[event.name].push_back(event.time.length());
  std::vector<QualityIssue> issues;
  std::erase_if(trace.device, [&](const DeviceEvent& event) {
    // The threads of a processor record what takes long and what does not under one name.
    if (trace.devices[event.device].is_processor() || event.work == DeviceWork::wait ||
        static_cast<double>(event.time.length()) <= large * busy)
      return false;
    std::vector<std::int64_t>& own = lengths[event.name];
    if (own.size() < least) return false;
    std::ranges::nth_element(own, own.begin() + static_cast<std::ptrdiff_t>(own.size() / 2));
    const std::int64_t median = own[own.size() / 2];
    if (event.time.length() <= times * median) return false;
    const bool is_exchange = event.work == DeviceWork::communication;
    issues.push_back(
        {.check = QualityCheck::one_event,
         .found = fmt::format("one {} took {}, the others {}: it was left out{}", shown_text(trace.text(event), 50),
                              seconds_text(event.time.length()), seconds_text(median),
                              is_exchange ? ", as ranks began to profile at different times" : "")});
    return true;
  });
  return issues;
}

std::vector<QualityIssue> check_quality(const ForeignTrace& trace, const TraceSteps& steps, TraceInterval window,
                                        const std::vector<std::vector<IdlePart>>& idle) {
  const Inputs inputs{trace, steps, window, idle};
  std::vector<QualityIssue> issues;
  for (const auto check : checks) {
    if (std::optional<QualityIssue> issue = check(inputs)) issues.push_back(std::move(*issue));
  }
  return issues;
}

}  // namespace gpubench
