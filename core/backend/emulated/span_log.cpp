#include "core/backend/emulated/span_log.h"

#include <fmt/format.h>
#include <unistd.h>
#include <utility>

#include "core/base/error.h"

namespace gpubench {

void SpanLog::add(Entry entry) {
  const std::lock_guard lock(mutex_);
  if (records()) entries_.push_back(std::move(entry));
}

void SpanLog::start() {
  const std::lock_guard lock(mutex_);
  if (records()) throw Error("tracing: another trace of the emulated devices is running; only one can");
  entries_.clear();
  records_ = true;
}

void SpanLog::stop(Timeline& timeline) {
  const std::lock_guard lock(mutex_);
  records_ = false;
  for (const Entry& entry : entries_) {
    Span span;
    span.span_class = entry.span_class;
    span.name = timeline.name(*entry.name);
    span.lane = timeline.name(*entry.lane);
    span.gpu = entry.device;
    span.correlation = entry.correlation;
    span.node = entry.node;
    span.begin = entry.time.begin;
    span.end = entry.time.end;
    timeline.add(span);
  }
  entries_.clear();
}

void SpanLog::discard() {
  const std::lock_guard lock(mutex_);
  records_ = false;
  entries_.clear();
}

std::shared_ptr<const std::string> host_lane() {
  thread_local const auto lane = std::make_shared<const std::string>(fmt::format("host thread {}", gettid()));
  return lane;
}

EmulatedTracer::~EmulatedTracer() {
  if (started_) log_->discard();
}

void EmulatedTracer::start() {
  log_->start();
  started_ = true;
}

std::size_t EmulatedTracer::stop(Timeline& timeline) {
  log_->stop(timeline);
  started_ = false;
  return 0;
}

}  // namespace gpubench
