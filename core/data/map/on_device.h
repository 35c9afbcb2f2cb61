// A map whose function runs on a device with memory of its own, in the consumer's thread: element by element (a batch
// is one), in the order of the device's kernels, so that the step that follows it waits for nothing on the host.
// Elements that are not on the device yet are copied there.
#pragma once
#include <memory>

#include "core/data/dataset.h"
#include "core/data/device/device_place.h"
#include "core/data/function/element_function.h"

namespace gpubench {

/// An epoch of `map` whose function runs at `place`.
std::unique_ptr<Cursor> open_device_map(const Dataset& map, std::shared_ptr<const ElementFunction> function,
                                        const DevicePlace& place, std::uint64_t epoch, const CursorOptions& options);

}  // namespace gpubench
