#include "core/trace/host_spans.h"

#include <algorithm>

#include "core/trace/launching_node.h"

namespace gpubench {
namespace {

thread_local NodeId launching = NodeId::none;

}  // namespace

NodeId launching_node() {
  return launching;
}

LaunchingNode::LaunchingNode(NodeId node) {
  launching = node;
}

LaunchingNode::~LaunchingNode() {
  launching = NodeId::none;
}

HostSpans::HostSpans(Timeline& timeline, std::string_view lane, int replica)
    : timeline_(timeline), lane_(timeline.name(lane)), replica_(replica) {
  for (std::size_t i = 0; i < span_class_count; ++i)
    class_names_[i] = timeline.name(to_string(static_cast<SpanClass>(i)));
}

NodeId HostSpans::node(std::string_view op, std::string_view layer, std::string_view role) {
  if (const auto known = known_.find({op, layer, role}); known != known_.end()) return known->second;
  const NodeId id = timeline_.node({std::string(op), std::string(layer), std::string(role)});
  const NodeName& own = timeline_.node(id);
  known_.emplace(NodeTexts{own.op, own.layer, own.role}, id);
  const auto index = static_cast<std::size_t>(id);
  names_.resize(std::max(names_.size(), index + 1));
  names_[index] = timeline_.name(op);
  return id;
}

Seconds cost_of_span() {
  // Several attempts, because another program may interrupt one of them.
  constexpr int attempts = 5, spans = 500;
  Timeline timeline(spans);
  HostSpans host(timeline);
  Seconds least = Seconds::max();
  for (int attempt = 0; attempt < attempts; ++attempt) {
    timeline.clear();
    const Stopwatch watch;
    Clock::time_point begin = host.now();
    for (int i = 0; i < spans; ++i) {
      const Clock::time_point end = host.now();
      host.add(SpanClass::compute, begin, end);
      begin = end;
    }
    least = std::min(least, watch.elapsed() / spans);
  }
  return least;
}

}  // namespace gpubench
