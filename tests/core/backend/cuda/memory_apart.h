// Device memory for tests, each piece from the CUDA runtime by itself and exactly as large as asked for, so that
// compute-sanitizer sees every access beside it and every read of what was not written.
#pragma once
#include <cstddef>
#include <memory>

#include "core/device/memory_pool.h"

namespace gpubench {

/// On the current GPU. Throws OutOfMemory.
std::shared_ptr<Buffer> allocate_apart(std::size_t bytes);

}  // namespace gpubench
