// A map whose function runs on a device with memory of its own, in the consumer's thread: element by element (a batch
// is one), in the order of the device's kernels, so that the step that follows it waits for nothing on the host.
// Elements that are not on the device yet are copied there.
#pragma once
#include "core/data/map/map_dataset.h"

namespace gpubench {

/// An epoch of a map whose options name such a place.
std::unique_ptr<Cursor> open_device_map(const MapDataset& dataset, std::uint64_t epoch, const CursorOptions& options);

}  // namespace gpubench
