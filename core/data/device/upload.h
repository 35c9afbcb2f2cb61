// Elements of a source in host memory, copied to a device: in the consumer's thread, or some of them ahead of it.
#pragma once
#include "core/data/dataset.h"
#include "core/data/device/device_place.h"

namespace gpubench {

/// The source's elements on the place's device, each copied when it is asked for. The copy runs beside the kernels, but
/// what the consumer queues next waits for it.
std::unique_ptr<Cursor> open_uploaded(const DatasetPtr& source, const DevicePlace& place, std::uint64_t epoch,
                                      const CursorOptions& options);
/// The same with copies started by a thread of `stage`, which is at most `capacity` elements ahead.
std::unique_ptr<Cursor> open_uploaded_ahead(const Dataset& stage, const DevicePlace& place, std::int64_t capacity,
                                            std::uint64_t epoch, const CursorOptions& options);

}  // namespace gpubench
