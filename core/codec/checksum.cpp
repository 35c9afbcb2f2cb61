#include "core/codec/checksum.h"

#include <zlib.h>

namespace gpubench {

std::uint32_t crc32_of(std::span<const std::byte> bytes, std::uint32_t before) {
  return static_cast<std::uint32_t>(crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace gpubench
