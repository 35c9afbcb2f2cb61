// tf.train.Example: named lists of byte strings, float32 or int64 in one protocol buffer message, the usual content of
// TFRecord files.
#pragma once
#include <map>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "core/tensor/host_tensor.h"

namespace gpubench {

using FeatureValues = std::variant<std::vector<std::string>, std::vector<float>, std::vector<std::int64_t>>;

/// The encoded message, with features sorted by name.
std::string encode_example(const std::map<std::string, FeatureValues>& features);

/// The values of one feature, read from the example's bytes without copying.
class FeatureView {
 public:
  FeatureView() = default;
  /// `feature` is a Feature message in `example`.
  FeatureView(std::span<const std::byte> feature, std::span<const std::byte> example);

  bool missing() const { return kind_ == Kind::none; }
  /// "float32", "int64", "bytes" or "no".
  std::string_view kind() const;

  /// Returns the number of values and stores as many as fit into `to`. Throws Error if they are of another kind.
  std::size_t read(std::span<float> to) const;
  std::size_t read(std::span<std::int64_t> to) const;
  std::size_t read(std::span<std::span<const std::byte>> to) const;

 private:
  enum class Kind : unsigned char { none = 0, bytes = 1, floats = 2, ints = 3 };
  void expect(Kind kind) const;

  Kind kind_ = Kind::none;
  std::span<const std::byte> list_;
  std::span<const std::byte> example_;
};

/// Finds features by name; keeps the names.
class ExampleReader {
 public:
  explicit ExampleReader(std::vector<std::string> names) : names_(std::move(names)), features_(names_.size()) {}
  /// The features in the order of the names; valid until the next call. Throws Error if the bytes are no example.
  std::span<const FeatureView> read(std::span<const std::byte> example);

 private:
  void read_entry(std::span<const std::byte> entry, std::span<const std::byte> example);
  std::size_t place_of(std::string_view name);

  std::vector<std::string> names_;
  std::vector<FeatureView> features_;
  std::size_t expected_ = 0;  ///< most files store the features of all examples in the same order
};

}  // namespace gpubench
