// The spans of pipelines' threads, in lanes of their own beside the step loop. They belong to no step: a step pays for
// its input only where it waits for it.
#pragma once
#include <string>
#include <string_view>

#include "core/trace/timeline.h"

namespace gpubench {

/// While one exists, threads of pipelines add spans to its timeline, up to a quarter of its capacity; the latest one
/// counts. From its end on, none is added.
class PipelineSpans {
 public:
  explicit PipelineSpans(Timeline& timeline);
  ~PipelineSpans();
  PipelineSpans(const PipelineSpans&) = delete;
  PipelineSpans& operator=(const PipelineSpans&) = delete;

 private:
  Timeline& timeline_;
};

/// The lane of the calling thread: "map worker 2".
void name_pipeline_thread(std::string lane);

/// What the calling thread does from construction to destruction. `name` must outlive it.
class PipelineSpan {
 public:
  explicit PipelineSpan(std::string_view name);
  ~PipelineSpan();
  PipelineSpan(const PipelineSpan&) = delete;
  PipelineSpan& operator=(const PipelineSpan&) = delete;

 private:
  std::string_view name_;
  Clock::time_point begin_{};  // zero: nothing is traced
};

}  // namespace gpubench
