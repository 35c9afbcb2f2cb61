// Padding of tensors: one element of it, and rows of a batch filled with values and padding.
#pragma once
#include <array>
#include <cstddef>

#include "core/tensor/tensor_type.h"

namespace gpubench {

/// One element of padding, as it is stored.
using Padding = std::array<std::byte, 8>;

/// Throws Error when `dtype` cannot hold the value.
Padding padding_of(double value, Dtype dtype);

/// Copies tensors of type `from` to the start of ones of type `to`, which are at least as large, and pads the rest. The
/// arguments must outlive it.
class Padder {
 public:
  Padder(const TensorType& from, const TensorType& to, const Padding& padding)
      : from_(from.shape), to_(to.shape), unit_(size_of(from.dtype)), padding_(padding) {}

  void fill(const std::byte* source, std::byte* target) const { fill(0, source, target); }

 private:
  void fill(std::size_t axis, const std::byte* source, std::byte* target) const;
  void pad(std::byte* target, std::size_t bytes) const;
  /// Of one index along `axis`.
  std::size_t bytes_after(const Shape& shape, std::size_t axis) const;

  const Shape& from_;
  const Shape& to_;
  std::size_t unit_;
  const Padding& padding_;
};

}  // namespace gpubench
