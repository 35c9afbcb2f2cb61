// Copies a source's elements from host memory to a device, in the consumer's thread or ahead of it.
#pragma once
#include <functional>
#include <memory>

#include "core/data/dataset.h"
#include "core/data/device/device_place.h"

namespace gpubench {

/// The source's elements on the place's device, each copied when it is requested. The copy runs beside kernels already
/// queued; work that the consumer queues afterwards waits for it.
std::unique_ptr<Cursor> open_uploaded(const DatasetPtr& source, const DevicePlace& place, std::uint64_t epoch,
                                      const CursorOptions& options);
/// Opens an epoch of `uploads`, a dataset that lives only during the call; each element that its cursor produces starts
/// a copy.
using OpenUploads = std::function<std::unique_ptr<Cursor>(const Dataset& uploads)>;
/// The same, but the copies are started ahead of the consumer, by a thread of the cursor that `open` returns. The last
/// stage of its statistics counts the copies as its own work.
std::unique_ptr<Cursor> open_uploaded_ahead(const DatasetPtr& source, const DevicePlace& place,
                                            const OpenUploads& open);

}  // namespace gpubench
