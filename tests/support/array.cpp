#include "tests/support/array.h"

#include <cmath>
#include <cstring>
#include <stdexcept>

namespace gpubench::support {
namespace {

/// A binary floating-point format of 16 bits with this many bits of significand after the point.
struct SmallFloat {
  int fraction_bits;
  int exponent_bits;

  int bias() const { return (1 << (exponent_bits - 1)) - 1; }

  double decode(std::uint16_t bits) const {
    const int exponent = bits >> fraction_bits & ((1 << exponent_bits) - 1);
    const int fraction = bits & ((1 << fraction_bits) - 1);
    const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
    if (exponent == (1 << exponent_bits) - 1) return fraction != 0 ? NAN : sign * INFINITY;
    const double magnitude = exponent == 0
                                 ? std::ldexp(fraction, 1 - bias() - fraction_bits)
                                 : std::ldexp(fraction + (1 << fraction_bits), exponent - bias() - fraction_bits);
    return sign * magnitude;
  }

  std::uint16_t encode(double value) const {
    const unsigned sign = std::signbit(value) ? 0x8000U : 0U;
    const unsigned infinity = ((1U << exponent_bits) - 1U) << fraction_bits;
    if (std::isnan(value)) return static_cast<std::uint16_t>(infinity | 1U << (fraction_bits - 1));
    // Consecutive bit patterns are consecutive numbers, so a search finds the nearest; ties go to the even pattern.
    unsigned low = 0, high = infinity;
    while (high - low > 1) {
      const unsigned middle = (low + high) / 2;
      (decode(static_cast<std::uint16_t>(middle)) <= std::abs(value) ? low : high) = middle;
    }
    const double below = decode(static_cast<std::uint16_t>(low));
    const double above = high == infinity ? 2 * below - decode(static_cast<std::uint16_t>(low - 1))
                                          : decode(static_cast<std::uint16_t>(high));
    const double up = above - std::abs(value), down = std::abs(value) - below;
    const bool round_up = up < down || (up == down && low % 2 == 1);
    return static_cast<std::uint16_t>(sign | (round_up ? high : low));
  }
};

constexpr SmallFloat half{10, 5}, brain{7, 8};

template <class T>
void store(const Array& array, const HostTensor& tensor) {
  T* const data = reinterpret_cast<T*>(tensor.data());
  for (std::int64_t i = 0; i < array.size(); ++i) data[i] = static_cast<T>(array[i]);
}

template <class T>
void load(const HostTensor& tensor, Array& array) {
  const T* const data = reinterpret_cast<const T*>(tensor.data());
  for (std::int64_t i = 0; i < array.size(); ++i) array[i] = static_cast<double>(data[i]);
}

void store_small(const Array& array, const HostTensor& tensor, const SmallFloat& format) {
  for (std::int64_t i = 0; i < array.size(); ++i) {
    const std::uint16_t bits = format.encode(array[i]);
    std::memcpy(tensor.data() + 2 * i, &bits, 2);
  }
}

void load_small(const HostTensor& tensor, Array& array, const SmallFloat& format) {
  for (std::int64_t i = 0; i < array.size(); ++i) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, tensor.data() + 2 * i, 2);
    array[i] = format.decode(bits);
  }
}

}  // namespace

HostTensor to_tensor(const Array& array) {
  HostTensor tensor(array.type);
  switch (array.type.dtype) {
    case Dtype::f32:
      store<float>(array, tensor);
      break;
    case Dtype::f16:
      store_small(array, tensor, half);
      break;
    case Dtype::bf16:
      store_small(array, tensor, brain);
      break;
    case Dtype::i64:
      store<std::int64_t>(array, tensor);
      break;
    case Dtype::i32:
      store<std::int32_t>(array, tensor);
      break;
    case Dtype::i16:
      store<std::int16_t>(array, tensor);
      break;
    case Dtype::i8:
      store<std::int8_t>(array, tensor);
      break;
    case Dtype::u8:
      store<std::uint8_t>(array, tensor);
      break;
    case Dtype::boolean:
      store<bool>(array, tensor);
      break;
    case Dtype::bytes:
      throw std::logic_error("no reference has bytes");
  }
  return tensor;
}

Array to_array(const HostTensor& tensor) {
  Array array(tensor.type());
  switch (array.type.dtype) {
    case Dtype::f32:
      load<float>(tensor, array);
      break;
    case Dtype::f16:
      load_small(tensor, array, half);
      break;
    case Dtype::bf16:
      load_small(tensor, array, brain);
      break;
    case Dtype::i64:
      load<std::int64_t>(tensor, array);
      break;
    case Dtype::i32:
      load<std::int32_t>(tensor, array);
      break;
    case Dtype::i16:
      load<std::int16_t>(tensor, array);
      break;
    case Dtype::i8:
      load<std::int8_t>(tensor, array);
      break;
    case Dtype::u8:
      load<std::uint8_t>(tensor, array);
      break;
    case Dtype::boolean:
      load<bool>(tensor, array);
      break;
    case Dtype::bytes:
      throw std::logic_error("no reference has bytes");
  }
  return array;
}

Shape coordinates(std::int64_t index, const Shape& shape) {
  Shape result(shape.size());
  for (std::size_t i = shape.size(); i-- > 0;) {
    result[i] = index % shape[i];
    index /= shape[i];
  }
  return result;
}

std::int64_t offset(const Shape& coordinates, const Shape& shape) {
  std::int64_t result = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) result = result * shape[i] + (shape[i] == 1 ? 0 : coordinates[i]);
  return result;
}

std::int64_t broadcast_offset(std::int64_t index, const Shape& to, const Shape& from) {
  Shape place = coordinates(index, to);
  place.erase(place.begin(), place.begin() + static_cast<std::ptrdiff_t>(to.size() - from.size()));
  return offset(place, from);
}

}  // namespace gpubench::support
