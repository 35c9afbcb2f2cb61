// Runs all stages before it in its own thread, at most `capacity` elements ahead. While the buffer is neither full nor
// empty, neither side makes a system call.
//
//   prefetch(batch(digits, 32), autotune)
#pragma once
#include "core/data/dataset.h"

namespace gpubench {

struct DevicePlace;

/// `autotune` starts with as many elements as fit 8 MiB, at least 2 and at most 64; the pipeline's tuner increases that
/// when both sides wait, and reduces it when memory is short. Throws Error if `capacity` is neither positive nor
/// `autotune`.
DatasetPtr prefetch(DatasetPtr source, std::int64_t capacity = autotune);

/// The same, and its thread copies the elements to a device, from page-locked memory on its own stream, so that copies
/// overlap the steps. Only maps on the same device and stages that select elements (take, repeat) may follow. On a
/// device that works in host memory, elements are created in the device's memory and nothing is copied. Throws Error if
/// the device does not exist or `capacity` is below 1.
///
///   prefetch_to_device(batch(digits, 32), {devices, gpu}, 2)
DatasetPtr prefetch_to_device(DatasetPtr source, const DevicePlace& place, std::int64_t capacity = 2);

}  // namespace gpubench
