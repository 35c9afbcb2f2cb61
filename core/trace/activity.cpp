#include "core/trace/activity.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <unordered_set>

namespace gpubench {
namespace {

struct CallClass {
  std::string_view part;
  SpanClass span_class;
};

// The first part that a call's name contains decides; a call that fits none is the host's own work. Waiting comes
// first: "cudaStreamWaitEvent" makes the device wait, not the host, and so is a launch.
constexpr std::array call_classes = {CallClass{"Synchronize", SpanClass::host_sync},
                                     CallClass{"EventQuery", SpanClass::host_sync},
                                     CallClass{"StreamQuery", SpanClass::host_sync},
                                     CallClass{"Launch", SpanClass::launch},
                                     CallClass{"Async", SpanClass::launch},
                                     CallClass{"EventRecord", SpanClass::launch},
                                     CallClass{"WaitEvent", SpanClass::launch},
                                     CallClass{"Memcpy", SpanClass::host_sync},
                                     CallClass{"Memset", SpanClass::launch},
                                     CallClass{"ModuleLoad", SpanClass::compile},
                                     CallClass{"LibraryLoad", SpanClass::compile},
                                     CallClass{"Link", SpanClass::compile},
                                     CallClass{"GraphInstantiate", SpanClass::compile}};

bool is_device_work(const CuptiActivity& activity) {
  return activity.kind == CuptiActivity::Kind::kernel || activity.kind == CuptiActivity::Kind::copy ||
         activity.kind == CuptiActivity::Kind::peer_copy || activity.kind == CuptiActivity::Kind::memset;
}

bool is_launch_of_graph(const CuptiActivity& activity) {
  return activity.kind == CuptiActivity::Kind::api_call && is_graph_launch(activity.name);
}

SpanClass class_of(const CuptiActivity& activity) {
  switch (activity.kind) {
    case CuptiActivity::Kind::kernel:
      return class_of_kernel(activity.name);
    case CuptiActivity::Kind::copy:
      return SpanClass::copy;
    case CuptiActivity::Kind::peer_copy:
      return SpanClass::communication;
    case CuptiActivity::Kind::memset:
      return SpanClass::memset;
    case CuptiActivity::Kind::api_call:
      return class_of_call(activity.name);
    case CuptiActivity::Kind::synchronization:
      return SpanClass::host_sync;
    case CuptiActivity::Kind::graph:
      break;
  }
  return SpanClass::compute;
}

std::string lane_of(const CuptiActivity& activity) {
  if (activity.kind == CuptiActivity::Kind::synchronization) return "host waiting";
  if (activity.kind == CuptiActivity::Kind::api_call) return fmt::format("host thread {}", activity.thread);
  return fmt::format("gpu:{} stream {}", activity.device, activity.stream);
}

bool overlap(const CuptiActivity& a, const CuptiActivity& b) {
  return a.thread == b.thread && a.begin_ns <= b.end_ns && b.begin_ns <= a.end_ns;
}

// The runtime's call and the driver's inside it are records of their own, and the nodes name one of the two.
class GraphLaunches {
 public:
  explicit GraphLaunches(std::span<const CuptiActivity> activities) {
    std::unordered_set<std::uint32_t> causes;
    for (const CuptiActivity& activity : activities) {
      if (is_device_work(activity)) causes.insert(activity.correlation);
    }
    for (const CuptiActivity& activity : activities) {
      if (is_launch_of_graph(activity) && causes.contains(activity.correlation)) timed_.push_back(activity);
    }
    std::ranges::sort(timed_, {}, &CuptiActivity::begin_ns);
  }

  bool has_node_times(const CuptiActivity& launch) const {
    // Launches of a thread follow each other, and threads are few: the candidates lie close together.
    const auto after = std::ranges::upper_bound(timed_, launch.end_ns, {}, &CuptiActivity::begin_ns);
    return std::any_of(timed_.begin(), after, [&](const CuptiActivity& timed) { return overlap(timed, launch); });
  }

 private:
  std::vector<CuptiActivity> timed_;
};

}  // namespace

ClockConversion::ClockConversion(ClockPair first, ClockPair last) : first_(first), rate_(1) {
  if (last.cupti_ns <= first.cupti_ns) return;
  rate_ = std::chrono::duration<double, std::nano>(last.ours - first.ours).count() /
          static_cast<double>(last.cupti_ns - first.cupti_ns);
}

Clock::time_point ClockConversion::operator()(std::uint64_t cupti_ns) const {
  const auto past = static_cast<double>(static_cast<std::int64_t>(cupti_ns - first_.cupti_ns));
  return first_.ours + std::chrono::nanoseconds(std::llround(past * rate_));
}

SpanClass class_of_call(std::string_view name) {
  for (const CallClass& one : call_classes) {
    if (name.find(one.part) != std::string_view::npos) return one.span_class;
  }
  return SpanClass::host_compute;
}

SpanClass class_of_kernel(std::string_view name) {
  return name.starts_with("nccl") ? SpanClass::communication : SpanClass::compute;
}

bool is_graph_launch(std::string_view name) {
  return name.find("GraphLaunch") != std::string_view::npos;
}

std::size_t add_spans(std::span<const CuptiActivity> activities, const ClockConversion& conversion,
                      Timeline& timeline) {
  const GraphLaunches graph_launches(activities);
  std::size_t lost = 0;
  for (const CuptiActivity& activity : activities) {
    if (activity.begin_ns == 0 || activity.end_ns == 0) {
      // Calls and waits that were under way at an end of the trace have no time; work of the GPU without one is
      // missing.
      if (is_device_work(activity) || activity.kind == CuptiActivity::Kind::graph) ++lost;
      continue;
    }
    Span span;
    span.span_class = class_of(activity);
    span.name = timeline.name(activity.name);
    span.lane = timeline.name(lane_of(activity));
    if (is_device_work(activity) || activity.kind == CuptiActivity::Kind::graph)
      span.gpu = static_cast<std::int32_t>(activity.device);
    span.correlation = activity.correlation;
    span.is_exact = activity.kind != CuptiActivity::Kind::graph &&
                    (!is_launch_of_graph(activity) || graph_launches.has_node_times(activity));
    span.begin = conversion(activity.begin_ns);
    span.end = conversion(activity.end_ns);
    timeline.add(span);
  }
  return lost;
}

}  // namespace gpubench
