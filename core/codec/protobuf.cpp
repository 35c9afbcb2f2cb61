#include "core/codec/protobuf.h"

#include <cstring>
#include <fmt/format.h>
#include <utility>

#include "core/base/error.h"

namespace gpubench {
namespace {

constexpr unsigned bits_of_group = 7;
constexpr std::uint64_t has_next_group = 0x80;

}  // namespace

void WireReader::fail(const std::byte* where, std::string_view what) const {
  throw Error(fmt::format("no valid {}: at byte {}: {}", what_, where - start_, what));
}

std::uint64_t WireReader::take_varint(std::span<const std::byte>& bytes) const {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += bits_of_group) {
    const std::size_t place = shift / bits_of_group;
    if (place == bytes.size()) fail(bytes.data(), "a number does not end");
    const auto group = std::to_integer<std::uint64_t>(bytes[place]);
    value |= (group & ~has_next_group) << shift;
    if ((group & has_next_group) == 0) {
      bytes = bytes.subspan(place + 1);
      return value;
    }
  }
  fail(bytes.data(), "a number is longer than 64 bits");
}

std::span<const std::byte> WireReader::take(std::size_t count, std::string_view what) {
  if (static_cast<std::size_t>(end_ - at_) < count) {
    fail(at_, fmt::format("{} needs {} bytes, {} are left", what, count, end_ - at_));
  }
  return {std::exchange(at_, at_ + count), count};
}

bool WireReader::next() {
  if (at_ == end_) return false;
  const std::byte* const start = at_;
  std::span<const std::byte> rest(at_, end_);
  const std::uint64_t tag = take_varint(rest);
  field_ = static_cast<std::uint32_t>(tag >> kind_bits);
  kind_ = static_cast<Kind>(tag & ((1U << kind_bits) - 1));
  number_ = 0;
  bytes_ = {};
  if (kind_ == Kind::varint) number_ = take_varint(rest);
  const std::uint64_t length = kind_ == Kind::bytes ? take_varint(rest) : 0;
  at_ = rest.data();
  if (kind_ == Kind::bytes) {
    bytes_ = take(length, "a field");
  } else if (kind_ == Kind::fixed64 || kind_ == Kind::fixed32) {
    const std::size_t size = kind_ == Kind::fixed64 ? sizeof(std::uint64_t) : sizeof(std::uint32_t);
    std::memcpy(&number_, take(size, "a number").data(), size);
  } else if (kind_ != Kind::varint) {
    fail(start, fmt::format("a field of kind {}", static_cast<int>(kind_)));
  }
  return true;
}

std::span<const std::byte> WireReader::bytes() const {
  if (kind_ != Kind::bytes) fail(at_, fmt::format("field {} is no string or message", field_));
  return bytes_;
}

std::string_view WireReader::text() const {
  const std::span<const std::byte> own = bytes();
  return {reinterpret_cast<const char*>(own.data()), own.size()};
}

void put_varint(std::string& to, std::uint64_t value) {
  for (; value >= has_next_group; value >>= bits_of_group)
    to += static_cast<char>((value & ~has_next_group & 0xff) | has_next_group);
  to += static_cast<char>(value);
}

void put_bytes(std::string& to, std::uint32_t field, std::string_view bytes) {
  put_varint(to, (std::uint64_t{field} << WireReader::kind_bits) | static_cast<unsigned>(WireReader::Kind::bytes));
  put_varint(to, bytes.size());
  to += bytes;
}

void put_number(std::string& to, std::uint32_t field, std::uint64_t value) {
  put_varint(to, (std::uint64_t{field} << WireReader::kind_bits) | static_cast<unsigned>(WireReader::Kind::varint));
  put_varint(to, value);
}

}  // namespace gpubench
