#include "core/codec/checksum.h"

#include <array>
#include <cstring>
#include <zlib.h>

namespace gpubench {
namespace {

constexpr std::size_t word = sizeof(std::uint64_t);
using Tables = std::array<std::array<std::uint32_t, 256>, word>;

/// tables[k][b]: what byte b adds to the checksum when k bytes follow it in its word.
constexpr Tables make_tables() {
  constexpr std::uint32_t polynomial = 0x82f63b78;  // bits reversed
  Tables tables{};
  for (std::uint32_t byte = 0; byte < tables[0].size(); ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? polynomial : 0);
    tables[0][byte] = crc;
  }
  for (std::size_t k = 1; k < tables.size(); ++k) {
    for (std::size_t byte = 0; byte < tables[k].size(); ++byte) {
      const std::uint32_t before = tables[k - 1][byte];
      tables[k][byte] = (before >> 8) ^ tables[0][before & 0xff];
    }
  }
  return tables;
}

constexpr Tables crc32c_tables = make_tables();

std::uint64_t word_at(const std::byte* bytes) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes, word);
  return value;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) std::uint32_t crc32c_by_instruction(std::span<const std::byte> bytes) {
  std::uint64_t crc = ~std::uint32_t{0};
  for (; bytes.size() >= word; bytes = bytes.subspan(word)) crc = __builtin_ia32_crc32di(crc, word_at(bytes.data()));
  auto rest = static_cast<std::uint32_t>(crc);
  for (const std::byte byte : bytes) rest = __builtin_ia32_crc32qi(rest, static_cast<unsigned char>(byte));
  return ~rest;
}
bool has_instruction() {
  return __builtin_cpu_supports("sse4.2") != 0;
}
#else
std::uint32_t crc32c_by_instruction(std::span<const std::byte> bytes) {
  return crc32c_by_tables(bytes);
}
bool has_instruction() {
  return false;
}
#endif

}  // namespace

std::uint32_t crc32_of(std::span<const std::byte> bytes, std::uint32_t before) {
  return static_cast<std::uint32_t>(crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

std::uint32_t crc32c_by_tables(std::span<const std::byte> bytes) {
  std::uint32_t crc = ~std::uint32_t{0};
  for (; bytes.size() >= word; bytes = bytes.subspan(word)) {
    std::uint64_t mixed = word_at(bytes.data()) ^ crc;
    crc = 0;
    for (std::size_t k = word; k-- > 0; mixed >>= 8) crc ^= crc32c_tables[k][mixed & 0xff];
  }
  for (const std::byte byte : bytes)
    crc = (crc >> 8) ^ crc32c_tables[0][(crc ^ static_cast<std::uint32_t>(byte)) & 0xff];
  return ~crc;
}

std::uint32_t crc32c(std::span<const std::byte> bytes) {
  static const bool by_instruction = has_instruction();
  return by_instruction ? crc32c_by_instruction(bytes) : crc32c_by_tables(bytes);
}

}  // namespace gpubench
