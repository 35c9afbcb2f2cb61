// Updates of variables, and learning rates as functions of the step. Values that change from step to step are read from
// GPU memory, so that a replayed CUDA graph stays correct.
#pragma once
#include <cstdint>

#include "core/backend/cuda/kernels/launch.h"
#include "core/tensor/dtype.h"

namespace gpubench::cuda {

/// variable = kept * variable + taken * value; both of a floating `type`.
cudaError_t launch_moving_average(const LaunchOn& on, std::int64_t elements, Dtype type, void* variable,
                                  const void* value, float kept, float taken);

/// state[0] += the sum of the values, state[1] += their number.
cudaError_t launch_accumulate_mean(const LaunchOn& on, float* state, const float* values, std::int64_t count);

/// state[0] = the sum of the values, state[1] = their number.
cudaError_t launch_sum_and_count(const LaunchOn& on, float* state, const float* values, std::int64_t count);

/// F: any of core/math/schedule.h.
template <class F>
cudaError_t launch_schedule(const LaunchOn& on, float* rate, const std::int64_t* step, const F& f);

}  // namespace gpubench::cuda
