#include "core/data/element/padding.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <limits>

#include "core/base/error.h"
#include "core/math/half.h"

namespace gpubench {
namespace {

template <class T>
Padding stored(T value) {
  Padding bytes{};
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

template <class T>
Padding integer(double value) {
  // The limits of int64 are not doubles: values above 2^63 round to it.
  const bool fits = value >= static_cast<double>(std::numeric_limits<T>::min()) &&
                    (sizeof(T) == 8 ? value < 0x1p63 : value <= static_cast<double>(std::numeric_limits<T>::max()));
  if (!fits || value != static_cast<double>(static_cast<T>(value))) {
    throw Error(fmt::format("{} cannot be stored as {}", value, to_string(dtype_of<T>)));
  }
  return stored(static_cast<T>(value));
}

Padding boolean(double value) {
  if (value != 0 && value != 1) throw Error(fmt::format("{} cannot be stored as bool", value));
  return stored(value != 0);
}

struct Store {
  Dtype dtype;
  Padding (*store)(double);
};

constexpr std::array stores{
    Store{Dtype::f32, [](double value) { return stored(static_cast<float>(value)); }},
    Store{Dtype::f16, [](double value) { return stored(math::to_float16(static_cast<float>(value))); }},
    Store{Dtype::bf16, [](double value) { return stored(math::to_bfloat16(static_cast<float>(value))); }},
    Store{Dtype::i64, &integer<std::int64_t>},
    Store{Dtype::i32, &integer<std::int32_t>},
    Store{Dtype::i16, &integer<std::int16_t>},
    Store{Dtype::i8, &integer<std::int8_t>},
    Store{Dtype::u8, &integer<std::uint8_t>},
    Store{Dtype::boolean, &boolean},
};

/// Throws Error if `dtype` cannot hold the value.
Padding padding_of(double value, Dtype dtype) {
  const auto* found = std::find_if(stores.begin(), stores.end(), [&](const Store& s) { return s.dtype == dtype; });
  if (found == stores.end()) throw Error(fmt::format("no padding for {}", to_string(dtype)));
  return found->store(value);
}

/// Copies tensors of type `from` to the start of tensors of type `to`, which are at least as large, and pads the rest.
/// The arguments must outlive it.
class Padder {
 public:
  Padder(const TensorType& from, const TensorType& to, const Padding& padding)
      : from_(from.shape), to_(to.shape), unit_(size_of(from.dtype)), padding_(padding) {}

  void fill(const std::byte* source, std::byte* target) const { fill(0, source, target); }

 private:
  void fill(std::size_t axis, const std::byte* source, std::byte* target) const;
  void pad(std::byte* target, std::size_t bytes) const;
  /// Bytes of one index along `axis`.
  std::size_t bytes_after(const Shape& shape, std::size_t axis) const;

  const Shape& from_;
  const Shape& to_;
  std::size_t unit_;
  const Padding& padding_;
};

void Padder::fill(std::size_t axis, const std::byte* source, std::byte* target) const {
  const std::size_t inner_from = bytes_after(from_, axis), inner_to = bytes_after(to_, axis);
  if (axis == from_.size() || std::equal(from_.begin() + static_cast<std::ptrdiff_t>(axis), from_.end(),
                                         to_.begin() + static_cast<std::ptrdiff_t>(axis))) {
    std::memcpy(target, source, axis == from_.size() ? unit_ : inner_from * static_cast<std::size_t>(from_[axis]));
    return;
  }
  const auto given = static_cast<std::size_t>(from_[axis]), wanted = static_cast<std::size_t>(to_[axis]);
  if (axis + 1 == from_.size()) {
    std::memcpy(target, source, given * unit_);
  } else {
    for (std::size_t i = 0; i < given; ++i) fill(axis + 1, source + i * inner_from, target + i * inner_to);
  }
  pad(target + given * inner_to, (wanted - given) * inner_to);
}

void Padder::pad(std::byte* target, std::size_t bytes) const {
  const bool zeros = std::all_of(padding_.begin(), padding_.end(), [](std::byte b) { return b == std::byte{0}; });
  if (zeros) {
    std::memset(target, 0, bytes);
    return;
  }
  for (std::size_t i = 0; i < bytes; i += unit_) std::memcpy(target + i, padding_.data(), unit_);
}

std::size_t Padder::bytes_after(const Shape& shape, std::size_t axis) const {
  std::size_t bytes = unit_;
  for (std::size_t i = axis + 1; i < shape.size(); ++i) bytes *= static_cast<std::size_t>(shape[i]);
  return bytes;
}

}  // namespace

std::vector<Padding> paddings(std::string_view stage, std::span<const double> values, TensorTypes types) {
  if (!values.empty() && values.size() != types.size()) {
    throw Error(fmt::format("{}: {} padding values for the {} tensors of {}", stage, values.size(), types.size(),
                            to_string(types)));
  }
  std::vector<Padding> padding;
  for (std::size_t i = 0; i < types.size(); ++i) {
    try {
      padding.push_back(padding_of(values.empty() ? 0.0 : values[i], types[i].dtype));
    } catch (const Error& error) {
      throw Error(fmt::format("{}: {}", stage, error.what()));
    }
  }
  return padding;
}

void PaddedStack::stack(std::span<const Element> rows, BlockPool& pool, Element& batch, std::int64_t length) {
  row_types_ = padded_;
  for (TensorType& type : row_types_) {
    if (!type.shape.empty() && type.shape[0] == varying) type.shape[0] = length;
  }
  for (const Element& row : rows) widen(row);
  batch_types_ = stacked(row_types_, std::ssize(rows));
  pool.allocate(batch_types_, batch);
  for (std::size_t i = 0; i < batch.size(); ++i) {
    std::byte* target = batch[i].data();
    for (const Element& row : rows) {
      Padder(row[i].type(), row_types_[i], padding_[i]).fill(row[i].data(), target);
      target += row_types_[i].bytes();
    }
  }
}

/// Enlarges the batch's row types to include `row`.
void PaddedStack::widen(const Element& row) {
  for (std::size_t i = 0; i < row.size(); ++i) {
    for (std::size_t axis = 0; axis < row[i].shape().size(); ++axis) {
      const std::int64_t extent = row[i].shape()[axis], limit = padded_[i].shape[axis];
      if (limit != varying && extent > limit) {
        throw Error(fmt::format("{}: an element has {}, which is larger than the padded {}", stage_,
                                to_string(row[i].type()), to_text(padded_[i])));
      }
      row_types_[i].shape[axis] = std::max(row_types_[i].shape[axis], extent);
    }
  }
}

}  // namespace gpubench
