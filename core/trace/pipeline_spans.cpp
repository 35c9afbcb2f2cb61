#include "core/trace/pipeline_spans.h"

#include <atomic>
#include <mutex>
#include <utility>

namespace gpubench {
namespace {

constexpr std::size_t share_of_capacity = 4;

std::mutex mutex;  // held while a span is added
std::atomic<Timeline*> traced{nullptr};
std::size_t room = 0;  // guarded by mutex
thread_local std::string own_lane = "pipeline";

}  // namespace

PipelineSpans::PipelineSpans(Timeline& timeline) : timeline_(timeline) {
  const std::lock_guard lock(mutex);
  traced = &timeline;
  room = timeline.capacity() / share_of_capacity;
}

PipelineSpans::~PipelineSpans() {
  const std::lock_guard lock(mutex);
  if (traced == &timeline_) traced = nullptr;
}

void name_pipeline_thread(std::string lane) {
  own_lane = std::move(lane);
}

PipelineSpan::PipelineSpan(std::string_view name) : name_(name) {
  if (traced.load(std::memory_order_relaxed) != nullptr) begin_ = Clock::now();
}

PipelineSpan::~PipelineSpan() {
  if (begin_ == Clock::time_point{}) return;
  Span span;
  span.span_class = SpanClass::host_compute;
  span.replica = Span::of_pipeline;
  span.begin = begin_;
  span.end = Clock::now();
  const std::lock_guard lock(mutex);
  Timeline* const timeline = traced;
  if (timeline == nullptr) return;
  if (room == 0) {
    timeline->leave_out();
    return;
  }
  --room;
  span.name = timeline->name(name_);
  span.lane = timeline->name(own_lane);
  timeline->add(span);
}

}  // namespace gpubench
