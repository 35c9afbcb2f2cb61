// Times candidates for one problem against each other on the device: algorithms of matrix products, engines of
// convolutions.
#pragma once
#include <cstddef>
#include <functional>
#include <vector>

#include "core/backend/cuda/cuda_device.h"

namespace gpubench::cuda {

/// Memory of random elements of `dtype`, uniform in [-1, 1), as int8 in all of its range: a GPU that multiplies zeros
/// draws less power and clocks higher than in real use. Blocks until they are there. Throws OutOfMemory.
Buffer random_buffer(CudaDevice& device, std::size_t bytes, Dtype dtype);

/// For each candidate the median time of several runs; `queue(i)` puts one run of candidate `i` on the device's stream.
/// Blocks until that stream is idle.
std::vector<Seconds> median_times(CudaDevice& device, std::size_t candidates,
                                  const std::function<void(std::size_t)>& queue);

/// The candidate with the lowest of these (ties: the first).
std::size_t fastest(CudaDevice& device, std::size_t candidates, const std::function<void(std::size_t)>& queue);

}  // namespace gpubench::cuda
