// Two measurements of the same training as one: every figure of the row is of both.
#pragma once
#include "core/experiment/training.h"

namespace gpubench {

/// Times and rates anew from all samples; shares and the like weighted by the time, others by the steps that they are
/// of; of memory and temperatures the higher, of the warm-ups the sum. The doubt is the first that there is.
TrainingMeasurement joined_halves(const TrainingMeasurement& first, const TrainingMeasurement& second,
                                  const TrainingOptions& options);

}  // namespace gpubench
