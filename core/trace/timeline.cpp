#include "core/trace/timeline.h"

#include <algorithm>
#include <array>
#include <cassert>

namespace gpubench {
namespace {

constexpr std::array<std::string_view, span_class_count> class_names = {
    "compute", "communication", "peer_wait",    "copy",    "memset", "input_wait",
    "launch",  "host_sync",     "host_compute", "compile", "other"};

}  // namespace

std::string_view to_string(SpanClass span_class) {
  return class_names[static_cast<std::size_t>(span_class)];
}

NameId Timeline::name(std::string_view text) {
  const std::lock_guard lock(mutex_);
  if (const auto known = names_.find(text); known != names_.end()) return known->second;
  const auto id = static_cast<NameId>(texts_.size());
  names_.emplace(texts_.emplace_back(text), id);
  return id;
}

std::string_view Timeline::text(NameId name) const {
  const std::lock_guard lock(mutex_);
  assert(static_cast<std::size_t>(name) < texts_.size());
  return texts_[static_cast<std::size_t>(name)];
}

NodeId Timeline::node(const NodeName& node) {
  const std::lock_guard lock(mutex_);
  const auto known = node_ids_.find({node.op, node.layer, node.role});
  if (known != node_ids_.end()) return known->second;
  const NodeName& own = nodes_.emplace_back(node);
  const auto id = static_cast<NodeId>(nodes_.size());
  node_ids_.emplace(std::array<std::string_view, 3>{own.op, own.layer, own.role}, id);
  return id;
}

const NodeName& Timeline::node(NodeId node) const {
  const std::lock_guard lock(mutex_);
  assert(node != NodeId::none && static_cast<std::size_t>(node) <= nodes_.size());
  return nodes_[static_cast<std::size_t>(node) - 1];
}

std::span<const Span> Timeline::spans() const {
  return std::span(spans_).first(size());
}

std::size_t Timeline::dropped() const {
  const std::size_t added = next_.load();
  return added > spans_.size() ? added - spans_.size() : 0;
}

}  // namespace gpubench
