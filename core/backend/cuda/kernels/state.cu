#include "core/backend/cuda/kernels/metric.cuh"
#include "core/backend/cuda/kernels/state.h"
#include "core/math/schedule.h"

namespace gpubench::cuda {
namespace {

__global__ void moving_average_kernel(std::int64_t elements, Dtype type, void* variable, const void* value, float kept,
                                      float taken) {
  for (std::int64_t i = first_index(); i < elements; i += index_step()) {
    store_as<float>(variable, type, i,
                    kept * load_as<float>(variable, type, i) + taken * load_as<float>(value, type, i));
  }
}

// One block: the values are an example's each, and one order of summing gives one result.
__global__ void accumulate_mean_kernel(float* state, const float* values, std::int64_t count, bool adds) {
  accumulate(state, values, count, adds);
}

template <class F>
__global__ void schedule_kernel(float* rate, const std::int64_t* step, const __grid_constant__ F f) {
  *rate = static_cast<float>(f(static_cast<double>(*step)));
}

}  // namespace

cudaError_t launch_moving_average(const LaunchOn& on, std::int64_t elements, Dtype type, void* variable,
                                  const void* value, float kept, float taken) {
  if (elements == 0) return cudaSuccess;
  return launch(on, blocks_for(on, elements), block_threads, &moving_average_kernel, elements, type, variable, value,
                kept, taken);
}

cudaError_t launch_accumulate_mean(const LaunchOn& on, float* state, const float* values, std::int64_t count) {
  return launch(on, 1, block_threads, &accumulate_mean_kernel, state, values, count, true);
}

cudaError_t launch_sum_and_count(const LaunchOn& on, float* state, const float* values, std::int64_t count) {
  return launch(on, 1, block_threads, &accumulate_mean_kernel, state, values, count, false);
}

template <class F>
cudaError_t launch_schedule(const LaunchOn& on, float* rate, const std::int64_t* step, const F& f) {
  return launch(on, 1, 1, &schedule_kernel<F>, rate, step, f);
}

template cudaError_t launch_schedule(const LaunchOn&, float*, const std::int64_t*, const math::CosineDecay&);
template cudaError_t launch_schedule(const LaunchOn&, float*, const std::int64_t*, const math::CosineDecayRestarts&);
template cudaError_t launch_schedule(const LaunchOn&, float*, const std::int64_t*, const math::ExponentialDecay&);
template cudaError_t launch_schedule(const LaunchOn&, float*, const std::int64_t*, const math::InverseTimeDecay&);
template cudaError_t launch_schedule(const LaunchOn&, float*, const std::int64_t*, const math::NadamMomentum&);
template cudaError_t launch_schedule(const LaunchOn&, float*, const std::int64_t*, const math::PiecewiseConstant&);
template cudaError_t launch_schedule(const LaunchOn&, float*, const std::int64_t*, const math::PolynomialDecay&);

}  // namespace gpubench::cuda
