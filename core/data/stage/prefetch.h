// Runs everything before it in a thread of its own, at most `capacity` elements ahead. While the buffer is neither full
// nor empty, neither side enters the kernel.
//
//   prefetch(batch(digits, 32), autotune)
#pragma once
#include "core/data/dataset.h"

namespace gpubench {

struct DevicePlace;

/// `autotune` starts with as many elements as fit 8 MiB, at least 2 and at most 64; a pipeline's tuner gives it more
/// when both sides wait, and less where memory is short. Throws Error when `capacity` is neither positive nor
/// `autotune`.
DatasetPtr prefetch(DatasetPtr source, std::int64_t capacity = autotune);

/// The same, and its thread copies the elements to a device: from page-locked memory, on a stream of its own, so that
/// copies run beside the steps. It is the last stage, but for maps on the same device and stages that only choose among
/// elements (take, repeat). On a device that works in host memory, the elements are made in the device's memory and
/// nothing is copied. Throws Error when there is no such device and when `capacity` is below 1.
///
///   prefetch_to_device(batch(digits, 32), {devices, gpu}, 2)
DatasetPtr prefetch_to_device(DatasetPtr source, const DevicePlace& place, std::int64_t capacity = 2);

}  // namespace gpubench
