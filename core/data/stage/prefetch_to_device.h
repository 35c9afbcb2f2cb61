// Runs everything before it in a thread of its own and copies the elements to a device, at most `capacity` of them
// ahead of the consumer: from page-locked memory, on a stream of its own, so that copies run beside the steps. The last
// stage, but for maps on the same device and stages that only choose among elements (take, repeat).
//
//   prefetch_to_device(batch(digits, 32), {devices, gpu}, 2)
#pragma once
#include "core/data/dataset.h"
#include "core/data/device/device_place.h"

namespace gpubench {

/// On a device that works in host memory it is prefetch() into the device's memory: nothing is copied.
/// Throws Error when there is no such device and when `capacity` is below 1.
DatasetPtr prefetch_to_device(DatasetPtr source, const DevicePlace& place, std::int64_t capacity = 2);

}  // namespace gpubench
