// From what stages count to what a plan needs: times per element of the pipeline's output, as if every thread had had a
// core to itself.
#pragma once
#include <span>

#include "core/data/tune/autotune_plan.h"

namespace gpubench {

/// A stage and what it did in a window.
struct StageWindow {
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  std::size_t consumer = none;  ///< index of the next stage with threads of its own
  Knob knob = Knob::none;
  int setting = 1;
  StageProgress done;
};

/// What the pipeline's own consumer got: of the last stage.
std::int64_t delivered(std::span<const StageWindow> stages);
/// Of a window in which something was delivered.
PipelineLoad pipeline_load(std::span<const StageWindow> stages, Seconds window);

}  // namespace gpubench
