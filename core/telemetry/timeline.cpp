#include "core/telemetry/timeline.h"

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

WorkId Timeline::work(const Work& work) {
  const std::lock_guard lock(mutex_);
  const auto known = work_ids_.find({work.op, work.layer, work.role});
  if (known != work_ids_.end()) return known->second;
  const Work& own = works_.emplace_back(work);
  const auto id = static_cast<WorkId>(works_.size());
  work_ids_.emplace(std::array<std::string_view, 3>{own.op, own.layer, own.role}, id);
  return id;
}

const Work& Timeline::work(WorkId work) const {
  const std::lock_guard lock(mutex_);
  assert(work != WorkId::none && static_cast<std::size_t>(work) <= works_.size());
  return works_[static_cast<std::size_t>(work) - 1];
}

std::span<const Span> Timeline::spans() const {
  return std::span(spans_).first(std::min(next_.load(), spans_.size()));
}

std::size_t Timeline::dropped() const {
  const std::size_t added = next_.load();
  return added > spans_.size() ? added - spans_.size() : 0;
}

}  // namespace gpubench
