// The checksums of file formats: they detect damage, not tampering.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace gpubench {

/// CRC-32 of `bytes`, the checksum of zip and gzip, continuing the checksum `before` of the preceding bytes.
std::uint32_t crc32_of(std::span<const std::byte> bytes, std::uint32_t before = 0);

/// CRC-32C (Castagnoli), the checksum of TFRecord files and iSCSI (RFC 3720, appendix B.4). Uses the processor's
/// instruction if there is one, else tables.
std::uint32_t crc32c(std::span<const std::byte> bytes);
/// The table version, for processors without the instruction.
std::uint32_t crc32c_by_tables(std::span<const std::byte> bytes);
/// TFRecord's form of a checksum: rotated and offset, so that data which contains checksums is still protected.
inline std::uint32_t masked_crc32c(std::uint32_t crc) {
  constexpr std::uint32_t moved_by = 0xa282ead8;
  return ((crc >> 15) | (crc << 17)) + moved_by;
}

}  // namespace gpubench
