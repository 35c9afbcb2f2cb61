// Changes inputs for libFuzzer. Half of them get the checksums and lengths that belong to the changed bytes: behind a
// wrong one most readers look at nothing.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "core/codec/checksum.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace gpubench {
namespace {

using Bytes = std::span<std::uint8_t>;

template <class T>
T number_at(Bytes bytes, std::size_t at) {
  T value{};
  if (at <= bytes.size() && bytes.size() - at >= sizeof(T)) std::memcpy(&value, &bytes[at], sizeof(T));
  return value;
}

template <class T>
void set_number(Bytes bytes, std::size_t at, T value) {
  if (at <= bytes.size() && bytes.size() - at >= sizeof(T)) std::memcpy(&bytes[at], &value, sizeof(T));
}

std::span<const std::byte> part(Bytes bytes, std::size_t at, std::size_t count) {
  return std::as_bytes(bytes.subspan(at, count));
}

/// Chunks: length, kind, data, checksum of kind and data.
void mend_png(Bytes bytes) {
  constexpr std::size_t signature = 8, around = 12;
  for (std::size_t at = signature; at + around <= bytes.size();) {
    const std::size_t length = __builtin_bswap32(number_at<std::uint32_t>(bytes, at));
    if (length > bytes.size() - at - around) return;
    set_number(bytes, at + 8 + length, __builtin_bswap32(crc32_of(part(bytes, at + 4, length + 4))));
    at += length + around;
  }
}

/// Records: length, its checksum, data, its checksum.
void mend_records(Bytes bytes) {
  constexpr std::size_t header = 12, around = 16;
  for (std::size_t at = 0; at + around <= bytes.size();) {
    set_number(bytes, at + 8, masked_crc32c(crc32c(part(bytes, at, 8))));
    const auto length = number_at<std::uint64_t>(bytes, at);
    if (length > bytes.size() - at - around) return;
    set_number(bytes, at + header + length, masked_crc32c(crc32c(part(bytes, at + header, length))));
    at += length + around;
  }
}

/// The length of the text of JSON behind it.
void mend_safetensors(Bytes bytes) {
  int depth = 0;
  for (std::size_t at = 8; at < bytes.size(); ++at) {
    depth += bytes[at] == '{' ? 1 : bytes[at] == '}' ? -1 : 0;
    if (depth > 0) continue;
    do ++at;
    while (at < bytes.size() && bytes[at] == ' ');
    return set_number<std::uint64_t>(bytes, 0, at - 8);
  }
}

void mend_model(Bytes bytes) {
  const auto end = std::ranges::find(bytes, 0);
  if (end != bytes.end()) mend_safetensors({end + 1, bytes.end()});
}

/// The length of the header, which ends with its line.
void mend_npy(Bytes bytes) {
  constexpr std::size_t before = 10;
  if (bytes.size() < before) return;
  const auto end = std::ranges::find(bytes.subspan(before), '\n');
  if (end != bytes.end()) set_number(bytes, 8, static_cast<std::uint16_t>(end + 1 - bytes.begin() - before));
}

/// The end of a cache: the index with its checksum, of as many elements as are in it.
void mend_cache(Bytes bytes) {
  constexpr std::size_t footer = 32;
  if (bytes.size() < footer) return;
  const std::size_t end = bytes.size() - footer;
  const auto elements = std::min<std::uint64_t>(number_at<std::uint64_t>(bytes, end + 8), end / 8);
  const std::size_t index = end - elements * 8;
  set_number<std::uint64_t>(bytes, end, index);
  set_number<std::uint64_t>(bytes, end + 8, elements);
  set_number(bytes, end + 16, crc32_of(part(bytes, index, elements * 8)));
  std::memcpy(&bytes[end + 24], "1HCACBPG", 8);
}

const std::map<std::string_view, std::function<void(Bytes)>> mended = {{"cache", mend_cache},
                                                                       {"model", mend_model},
                                                                       {"npy", mend_npy},
                                                                       {"png", mend_png},
                                                                       {"safetensors", mend_safetensors},
                                                                       {"state", mend_safetensors},
                                                                       {"tfrecord", mend_records}};

}  // namespace
}  // namespace gpubench

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  size = LLVMFuzzerMutate(data, size, most);
  const char* const reader = std::getenv("SAFETY_READER");
  const auto mend = gpubench::mended.find(reader == nullptr ? "" : reader);
  if (seed % 2 == 0 && mend != gpubench::mended.end()) mend->second({data, size});
  return size;
}
