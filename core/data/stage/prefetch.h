// Runs everything before it in a thread of its own, at most `capacity` elements ahead. While the buffer is neither full
// nor empty, neither side enters the kernel.
//
//   prefetch(batch(digits, 32), autotune)
#pragma once
#include "core/data/dataset.h"

namespace gpubench {

/// `autotune` starts with as many elements as fit 8 MiB, at least 2 and at most 64; a pipeline's tuner gives it more
/// when both sides wait, and less where memory is short. Throws Error when `capacity` is neither positive nor
/// `autotune`.
DatasetPtr prefetch(DatasetPtr source, std::int64_t capacity = autotune);

/// An epoch of `source` with a thread ahead of the consumer, as a cursor of `stage`.
std::unique_ptr<Cursor> open_prefetch(const Dataset& stage, const Dataset& source, std::uint64_t epoch,
                                      std::int64_t capacity, const CursorOptions& options);

}  // namespace gpubench
