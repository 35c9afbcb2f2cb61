// A map whose function runs on a device with its own memory, in the consumer's thread, one element (for example a
// batch) at a time, in order with the device's kernels, so that the following step needs no wait on the host. Elements
// in host memory are copied to the device first.
#pragma once
#include <memory>

#include "core/data/dataset.h"
#include "core/data/device/device_place.h"
#include "core/data/function/element_function.h"

namespace gpubench {

/// An epoch of `map`, whose function runs at `place`.
std::unique_ptr<Cursor> open_device_map(const Dataset& map, std::shared_ptr<const ElementFunction> function,
                                        const DevicePlace& place, std::uint64_t epoch, const CursorOptions& options);

}  // namespace gpubench
