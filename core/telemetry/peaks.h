// Theoretical peaks of GPUs, always for dense matrices: the peaks for sparse matrices, which data sheets show first,
// are twice as high and irrelevant for ordinary training. A GPU that is not in the table has no peak; none is guessed.
#pragma once
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "core/device/device_slice.h"

namespace gpubench {

/// Operand types of a multiply-add; sums are float32, except for int8. tf32 rounds float32 operands.
enum class Arithmetic { float32, tf32, float16, bfloat16, float8, int8 };
inline constexpr std::array all_arithmetic = {Arithmetic::float32,  Arithmetic::tf32,   Arithmetic::float16,
                                              Arithmetic::bfloat16, Arithmetic::float8, Arithmetic::int8};
/// "bfloat16".
std::string_view to_string(Arithmetic arithmetic);

/// Operations per second (a multiply-add counts as two) of the whole GPU with the driver's name `product` ("NVIDIA
/// H200"). Nothing if the vendor publishes none, or the GPU does not support it.
std::optional<double> dense_peak(std::string_view product, Arithmetic arithmetic);

/// A slice's share of the multiprocessors of its GPU, and so of its dense_peak(). Nothing if the GPU is not in the
/// table.
std::optional<double> share_of_multiprocessors(std::string_view product, const DeviceSlice& slice);
/// "16 of 132 multiprocessors"; "16 multiprocessors" of a GPU that is not in the table.
std::string multiprocessors_text(std::string_view product, const DeviceSlice& slice);

/// Bytes per second; all current memory types transfer two bits per clock and line.
double memory_bandwidth(double memory_clock_hz, unsigned bus_bits);

}  // namespace gpubench
