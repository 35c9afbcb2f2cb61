// Elements of a source in host memory, copied to a device: in the consumer's thread, or some of them ahead of it.
#pragma once
#include <functional>
#include <memory>

#include "core/data/dataset.h"
#include "core/data/device/device_place.h"

namespace gpubench {

/// The source's elements on the place's device, each copied when it is asked for. The copy runs beside the kernels, but
/// what the consumer queues next waits for it.
std::unique_ptr<Cursor> open_uploaded(const DatasetPtr& source, const DevicePlace& place, std::uint64_t epoch,
                                      const CursorOptions& options);
/// Opens an epoch of `uploads`, a dataset that is gone after the call; each element that its cursor makes starts a
/// copy.
using OpenUploads = std::function<std::unique_ptr<Cursor>(const Dataset& uploads)>;
/// The same with copies started ahead of the consumer, by a thread of the cursor that `open` gives. The last stage of
/// its statistics shows the copies as its own work.
std::unique_ptr<Cursor> open_uploaded_ahead(const DatasetPtr& source, const DevicePlace& place,
                                            const OpenUploads& open);

}  // namespace gpubench
