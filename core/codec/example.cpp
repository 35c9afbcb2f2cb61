#include "core/codec/example.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fmt/format.h>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/error.h"

namespace gpubench {
namespace {

constexpr unsigned group_bits = 7;
constexpr unsigned kind_bits = 3;
constexpr std::uint64_t continues = 0x80;

/// The wire format of protocol buffers, as far as messages of strings, numbers and messages need it: fields in the
/// order of the bytes. Nothing is copied, and no length is trusted.
class WireReader {
 public:
  enum class Kind : unsigned char { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

  /// `message` lies in `whole`, from whose start errors count bytes.
  WireReader(std::span<const std::byte> message, std::span<const std::byte> whole)
      : at_(message.data()), end_(message.data() + message.size()), start_(whole.data()) {}

  /// Goes to the next field; false at the end. Throws Error where the bytes are no message.
  bool next();
  std::uint32_t field() const { return field_; }
  Kind kind() const { return kind_; }
  /// The value of a field of kind `bytes`; throws Error for other kinds.
  std::span<const std::byte> bytes() const;
  /// The value of a varint or a fixed number.
  std::uint64_t number() const { return number_; }

  /// A varint at the start of `bytes`, which it shortens. Throws Error when it does not end.
  std::uint64_t take_varint(std::span<const std::byte>& bytes) const;
  [[noreturn]] void fail(const std::byte* where, std::string_view what) const;

 private:
  std::span<const std::byte> take(std::size_t count, std::string_view what);

  const std::byte* at_;
  const std::byte* end_;
  const std::byte* start_;
  std::uint32_t field_ = 0;
  Kind kind_ = Kind::varint;
  std::uint64_t number_ = 0;
  std::span<const std::byte> bytes_;
};

void WireReader::fail(const std::byte* where, std::string_view what) const {
  throw Error(fmt::format("no valid tf.train.Example: at byte {}: {}", where - start_, what));
}

std::uint64_t WireReader::take_varint(std::span<const std::byte>& bytes) const {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += group_bits) {
    const std::size_t place = shift / group_bits;
    if (place == bytes.size()) fail(bytes.data(), "a number does not end");
    const auto group = std::to_integer<std::uint64_t>(bytes[place]);
    value |= (group & ~continues) << shift;
    if ((group & continues) == 0) {
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

/// Appends a varint.
void put_varint(std::string& to, std::uint64_t value) {
  for (; value >= continues; value >>= group_bits) to += static_cast<char>((value & ~continues & 0xff) | continues);
  to += static_cast<char>(value);
}

/// Appends a field that holds bytes: a string, a message or packed numbers.
void put_bytes(std::string& to, std::uint32_t field, std::string_view bytes) {
  put_varint(to, (std::uint64_t{field} << kind_bits) | static_cast<unsigned>(WireReader::Kind::bytes));
  put_varint(to, bytes.size());
  to += bytes;
}

// Numbers of the messages' fields, from tensorflow/core/example/{example,feature}.proto.
constexpr std::uint32_t example_features = 1;
constexpr std::uint32_t features_entry = 1;
constexpr std::uint32_t entry_name = 1;
constexpr std::uint32_t entry_feature = 2;
constexpr std::uint32_t list_value = 1;

std::string packed(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

std::string packed(const std::vector<std::int64_t>& values) {
  std::string bytes;
  for (const std::int64_t value : values) put_varint(bytes, static_cast<std::uint64_t>(value));
  return bytes;
}

std::string list_of(const std::vector<std::string>& values) {
  std::string list;
  for (const std::string& value : values) put_bytes(list, list_value, value);
  return list;
}

template <class T>
std::string list_of(const std::vector<T>& values) {
  std::string list;
  put_bytes(list, list_value, packed(values));
  return list;
}

std::string_view characters_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

std::string encode_example(const std::map<std::string, FeatureValues>& features) {
  std::string entries;
  for (const auto& [name, values] : features) {
    std::string feature;
    const auto kind = static_cast<std::uint32_t>(values.index()) + 1;  // the variant has the order of the fields
    put_bytes(feature, kind, std::visit([](const auto& list) { return list_of(list); }, values));
    std::string entry;
    put_bytes(entry, entry_name, name);
    put_bytes(entry, entry_feature, feature);
    put_bytes(entries, features_entry, entry);
  }
  std::string example;
  put_bytes(example, example_features, entries);
  return example;
}

FeatureView::FeatureView(std::span<const std::byte> feature, std::span<const std::byte> example) : example_(example) {
  WireReader fields(feature, example);
  while (fields.next()) {
    if (fields.field() < 1 || fields.field() > 3) continue;
    kind_ = static_cast<Kind>(fields.field());
    list_ = fields.bytes();
  }
}

std::string_view FeatureView::kind() const {
  constexpr std::array<std::string_view, 4> names{"no", "bytes", "float32", "int64"};
  return names[static_cast<std::size_t>(kind_)];
}

void FeatureView::expect(Kind kind) const {
  if (kind_ == kind) return;
  FeatureView wanted;
  wanted.kind_ = kind;
  throw Error(fmt::format("holds {} values, {} was asked for", this->kind(), wanted.kind()));
}

std::size_t FeatureView::read(std::span<float> to) const {
  expect(Kind::floats);
  std::size_t count = 0;
  WireReader fields(list_, example_);
  while (fields.next()) {
    if (fields.field() != list_value) continue;
    if (fields.kind() == WireReader::Kind::fixed32) {
      if (count < to.size()) to[count] = std::bit_cast<float>(static_cast<std::uint32_t>(fields.number()));
      ++count;
      continue;
    }
    const std::span<const std::byte> values = fields.bytes();
    if (values.size() % sizeof(float) != 0) fields.fail(values.data(), "packed floats end within a number");
    const std::size_t found = values.size() / sizeof(float);
    const std::size_t fitting = std::min(found, to.size() - std::min(count, to.size()));
    if (fitting > 0) std::memcpy(to.data() + count, values.data(), fitting * sizeof(float));
    count += found;
  }
  return count;
}

std::size_t FeatureView::read(std::span<std::int64_t> to) const {
  expect(Kind::ints);
  std::size_t count = 0;
  const auto store = [&](std::uint64_t value) {
    if (count < to.size()) to[count] = static_cast<std::int64_t>(value);
    ++count;
  };
  WireReader fields(list_, example_);
  while (fields.next()) {
    if (fields.field() != list_value) continue;
    if (fields.kind() == WireReader::Kind::varint) {
      store(fields.number());
      continue;
    }
    std::span<const std::byte> values = fields.bytes();
    while (!values.empty()) store(fields.take_varint(values));
  }
  return count;
}

std::size_t FeatureView::read(std::span<std::span<const std::byte>> to) const {
  expect(Kind::bytes);
  std::size_t count = 0;
  WireReader fields(list_, example_);
  while (fields.next()) {
    if (fields.field() != list_value) continue;
    if (count < to.size()) to[count] = fields.bytes();
    ++count;
  }
  return count;
}

std::size_t ExampleReader::place_of(std::string_view name) {
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const std::size_t place = (expected_ + i) % names_.size();
    if (names_[place] != name) continue;
    expected_ = place + 1;
    return place;
  }
  return names_.size();
}

void ExampleReader::read_entry(std::span<const std::byte> entry, std::span<const std::byte> example) {
  std::string_view name;
  std::span<const std::byte> feature;
  WireReader fields(entry, example);
  while (fields.next()) {
    if (fields.field() == entry_name) name = characters_of(fields.bytes());
    if (fields.field() == entry_feature) feature = fields.bytes();
  }
  const std::size_t place = place_of(name);
  if (place < features_.size()) features_[place] = FeatureView(feature, example);
}

std::span<const FeatureView> ExampleReader::read(std::span<const std::byte> example) {
  std::fill(features_.begin(), features_.end(), FeatureView());
  WireReader parts(example, example);
  while (parts.next()) {
    if (parts.field() != example_features) continue;
    WireReader entries(parts.bytes(), example);
    while (entries.next()) {
      if (entries.field() == features_entry) read_entry(entries.bytes(), example);
    }
  }
  return features_;
}

}  // namespace gpubench
