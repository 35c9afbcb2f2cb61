// Which pieces of recorded work have to wait for which others, by the memory that they touch: the order that is left
// when pieces which share no memory may run beside each other.
#pragma once
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "core/device/stream.h"

namespace gpubench {

struct MemoryRange {
  const void* begin = nullptr;
  std::size_t bytes = 0;
};

/// All memory that a piece of work touches. What it both reads and writes may stand in `writes` alone.
struct TouchedMemory {
  std::vector<MemoryRange> reads, writes;
};

/// A piece of work that a device records (Device::record).
struct RecordedWork {
  TouchedMemory memory;
  std::function<void(Stream&)> queue;
};

/// For each piece the earlier ones that must have ended before it starts: those that wrote what it touches, and those
/// that read what it writes. Left out is what follows from the others. Indices ascend.
std::vector<std::vector<std::size_t>> predecessors(std::span<const RecordedWork> work);

}  // namespace gpubench
