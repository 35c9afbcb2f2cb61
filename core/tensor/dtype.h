// Element types, with one string table for Lua, CSV and messages.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace gpubench {

enum class Dtype : std::uint8_t { f32, f16, bf16, i64, i32, i16, i8, u8, boolean, bytes };

/// "float32", "int64", "bool", ...: the names that Keras and NumPy use.
std::string_view to_string(Dtype dtype);
/// Accepts the names of to_string(); throws Error listing them.
Dtype parse_dtype(std::string_view name);
/// Bytes of one element. Throws Error for `bytes`, whose elements have no fixed size.
std::size_t size_of(Dtype dtype);
bool is_floating(Dtype dtype);

/// The Dtype under which a C++ type is stored.
template <class T>
inline constexpr Dtype dtype_of = [] {
  static_assert(sizeof(T) == 0, "no Dtype is stored as this type");
  return Dtype::f32;
}();
template <>
inline constexpr Dtype dtype_of<float> = Dtype::f32;
template <>
inline constexpr Dtype dtype_of<std::int64_t> = Dtype::i64;
template <>
inline constexpr Dtype dtype_of<std::int32_t> = Dtype::i32;
template <>
inline constexpr Dtype dtype_of<std::int16_t> = Dtype::i16;
template <>
inline constexpr Dtype dtype_of<std::int8_t> = Dtype::i8;
template <>
inline constexpr Dtype dtype_of<std::uint8_t> = Dtype::u8;
template <>
inline constexpr Dtype dtype_of<bool> = Dtype::boolean;

}  // namespace gpubench
