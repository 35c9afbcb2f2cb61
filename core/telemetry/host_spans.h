// The spans of one host thread that launches work: the thread of a step loop, or of a replica. Executors, eager ops and
// communicators add theirs while Runtime::spans() is set. A pipeline's workers have no HostSpans: their time counts only
// where the step waits for them.
#pragma once
#include <string_view>

#include "core/telemetry/timeline.h"

namespace gpubench {

class HostSpans {
 public:
  /// `replica`: its index if the thread is a replica's own; -1 for the thread of the step loop.
  explicit HostSpans(Timeline& timeline, std::string_view lane = "step loop", int replica = -1);

  /// The number of a node, for add(). Allocates for a new one, so call it before the hot path.
  WorkId work(std::string_view op, std::string_view layer, std::string_view role);
  /// Name of spans that belong to a node.
  NameId name_of(WorkId work) const { return names_[static_cast<std::size_t>(work)]; }
  NameId name(std::string_view text) { return timeline_.name(text); }

  void add(SpanClass span_class, WorkId work, Clock::time_point begin, Clock::time_point end) {
    add(span_class, work, names_[static_cast<std::size_t>(work)], begin, end);
  }
  /// Named after its class.
  void add(SpanClass span_class, Clock::time_point begin, Clock::time_point end) {
    add(span_class, WorkId::none, class_names_[static_cast<std::size_t>(span_class)], begin, end);
  }
  void add(SpanClass span_class, WorkId work, NameId name, Clock::time_point begin, Clock::time_point end) {
    Span span;
    span.span_class = span_class;
    span.name = name;
    span.lane = lane_;
    span.replica = replica_;
    span.work = work;
    span.begin = begin;
    span.end = end;
    timeline_.add(span);
  }

 private:
  Timeline& timeline_;
  NameId lane_;
  std::int32_t replica_;
  std::vector<NameId> names_;  // by work
  std::array<NameId, span_class_count> class_names_{};
};

/// Time that adding one span takes, clock included: the median over many, on a timeline of its own.
Seconds cost_of_span();

}  // namespace gpubench
