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
#include "core/codec/protobuf.h"

namespace gpubench {
namespace {

constexpr std::string_view kind_of_message = "tf.train.Example";

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
  WireReader fields(feature, example, kind_of_message);
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
  WireReader fields(list_, example_, kind_of_message);
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
  WireReader fields(list_, example_, kind_of_message);
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
  WireReader fields(list_, example_, kind_of_message);
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
  WireReader fields(entry, example, kind_of_message);
  while (fields.next()) {
    if (fields.field() == entry_name) name = characters_of(fields.bytes());
    if (fields.field() == entry_feature) feature = fields.bytes();
  }
  const std::size_t place = place_of(name);
  if (place < features_.size()) features_[place] = FeatureView(feature, example);
}

std::span<const FeatureView> ExampleReader::read(std::span<const std::byte> example) {
  std::fill(features_.begin(), features_.end(), FeatureView());
  WireReader parts(example, example, kind_of_message);
  while (parts.next()) {
    if (parts.field() != example_features) continue;
    WireReader entries(parts.bytes(), example, kind_of_message);
    while (entries.next()) {
      if (entries.field() == features_entry) read_entry(entries.bytes(), example);
    }
  }
  return features_;
}

}  // namespace gpubench
