// The checksums of file formats, to tell whether bytes are the same; no defence against malice.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace gpubench {

/// CRC-32, the checksum of zip and gzip, of `bytes`, going on from the checksum of the bytes before them.
std::uint32_t crc32_of(std::span<const std::byte> bytes, std::uint32_t before = 0);

/// CRC-32C (Castagnoli), the checksum of TFRecord files and iSCSI (RFC 3720, appendix B.4): by the processor's
/// instruction where it has one, by tables elsewhere.
std::uint32_t crc32c(std::span<const std::byte> bytes);
/// The same by tables, as on processors without the instruction.
std::uint32_t crc32c_by_tables(std::span<const std::byte> bytes);
/// How TFRecord stores a checksum: rotated and moved, so that data which contains checksums still has a good one.
inline std::uint32_t masked_crc32c(std::uint32_t crc) {
  constexpr std::uint32_t moved_by = 0xa282ead8;
  return ((crc >> 15) | (crc << 17)) + moved_by;
}

}  // namespace gpubench
