// What a GPU could do at most, on paper. Always dense: peaks for sparse matrices, which datasheets show first, are
// twice as high and reached by no ordinary training. A GPU that is not in the table has no peak; none is guessed.
#pragma once
#include <array>
#include <optional>
#include <string_view>

namespace gpubench {

/// What a multiply-add works on; sums are float32 but for int8's. tf32 takes float32 operands and rounds them.
enum class Arithmetic { float32, tf32, float16, bfloat16, float8, int8 };
inline constexpr std::array all_arithmetic = {Arithmetic::float32,  Arithmetic::tf32,   Arithmetic::float16,
                                              Arithmetic::bfloat16, Arithmetic::float8, Arithmetic::int8};
/// "bfloat16".
std::string_view to_string(Arithmetic arithmetic);

/// Operations in a second, of which a multiply-add is two, of the GPU that the driver calls `product` ("NVIDIA H200").
/// Nothing where the maker publishes none, or the GPU cannot.
std::optional<double> dense_peak(std::string_view product, Arithmetic arithmetic);

/// Bytes in a second: memory of all present kinds moves two bits a clock and line.
double memory_bandwidth(double memory_clock_hz, unsigned bus_bits);

}  // namespace gpubench
