// The spans of one host thread that launches work: the thread of a step loop, or of a replica. Executors, eager ops and
// communicators add theirs while Runtime::spans() is set. Those of a pipeline's threads are PipelineSpans.
#pragma once
#include <array>
#include <functional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/trace/copy_path.h"
#include "core/trace/span_clock.h"
#include "core/trace/timeline.h"

namespace gpubench {

/// Only add() may be called by several threads at a time.
class HostSpans {
 public:
  /// `replica`: its index if the thread is a replica's own; -1 for the thread of the step loop.
  explicit HostSpans(Timeline& timeline, std::string_view lane = "step loop", int replica = -1);

  /// The number of a node, for add(). Allocates for a new one, so call it before the hot path.
  NodeId node(std::string_view op, std::string_view layer, std::string_view role);
  NameId name(std::string_view text) { return timeline_.name(text); }

  /// A kernel or launch of a node, named after its op.
  void add(SpanClass span_class, NodeId node, Clock::time_point begin, Clock::time_point end) {
    add(span_class, node, names_[static_cast<std::size_t>(node)], begin, end);
  }
  /// Named after its class.
  void add(SpanClass span_class, Clock::time_point begin, Clock::time_point end) {
    add(span_class, NodeId::none, class_names_[static_cast<std::size_t>(span_class)], begin, end);
  }
  void add(SpanClass span_class, NodeId node, NameId name, Clock::time_point begin, Clock::time_point end) {
    Span span;
    span.span_class = span_class;
    span.name = name;
    span.lane = lane_;
    span.replica = replica_;
    span.node = node;
    span.begin = begin;
    span.end = end;
    timeline_.add(span);
  }
  /// For spans of kernels, which are many.
  Clock::time_point now() const { return clock_.now(); }

 private:
  Timeline& timeline_;
  SpanClock clock_;
  NameId lane_;
  std::int32_t replica_;
  std::vector<NameId> names_{1};  // by node; unused for NodeId::none
  std::array<NameId, span_class_count> class_names_{};
  using NodeTexts = std::array<std::string_view, 3>;
  struct Hash {
    std::size_t operator()(const NodeTexts& texts) const {
      constexpr std::size_t factor = 31;
      std::size_t hash = texts[2].size();
      hash = hash * factor + std::hash<std::string_view>{}(texts[0]);
      hash = hash * factor + std::hash<std::string_view>{}(texts[1]);
      return hash;
    }
  };
  std::unordered_map<NodeTexts, NodeId, Hash> known_;  // texts of the timeline; avoids its lock
};

/// A span from construction to destruction; nothing without `spans`.
class SpanScope {
 public:
  SpanScope(HostSpans* spans, SpanClass span_class) : spans_(spans), span_class_(span_class) {
    if (spans_ != nullptr) begin_ = Clock::now();
  }
  /// Named differently from its class.
  SpanScope(HostSpans* spans, SpanClass span_class, std::string_view name) : SpanScope(spans, span_class) {
    name_ = name;
  }
  SpanScope(HostSpans* spans, CopyPath path) : SpanScope(spans, SpanClass::copy, span_name(path)) {}
  ~SpanScope() {
    if (spans_ == nullptr) return;
    const Clock::time_point end = Clock::now();
    if (name_.empty())
      spans_->add(span_class_, begin_, end);
    else
      spans_->add(span_class_, NodeId::none, spans_->name(name_), begin_, end);
  }
  SpanScope(const SpanScope&) = delete;
  SpanScope& operator=(const SpanScope&) = delete;

 private:
  HostSpans* spans_;
  SpanClass span_class_;
  std::string_view name_;
  Clock::time_point begin_;
};

/// What adding one span costs its thread, clock included, measured on a timeline of its own.
Seconds cost_of_span();

}  // namespace gpubench
