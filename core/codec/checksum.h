// The checksum of zip and gzip, to tell whether two data sets are the same bytes; no defence against malice.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace gpubench {

/// CRC-32 of `bytes`, going on from the checksum of the bytes before them.
std::uint32_t crc32_of(std::span<const std::byte> bytes, std::uint32_t before = 0);

}  // namespace gpubench
