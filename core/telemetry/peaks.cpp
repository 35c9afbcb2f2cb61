#include "core/telemetry/peaks.h"

#include <algorithm>

namespace gpubench {
namespace {

constexpr double tera = 1e12;
constexpr double none = 0;
constexpr double bits_per_byte = 8;
constexpr double transfers_per_clock = 2;

struct Row {
  /// The drivers' names, without "NVIDIA" and "Tesla". Compared as a whole, because cards with similar names differ.
  std::array<std::string_view, 4> products;
  /// 10^12 operations in a second, in the order of Arithmetic.
  std::array<double, all_arithmetic.size()> peaks;
};

constexpr std::array rows = {
    // "NVIDIA HGX B200" in nvidia.com/en-us/data-center/hgx, shown for eight GPUs and with sparsity; what its pages say
    // of float32 differs between them and is left out.
    Row{{"B200"}, {none, 1100, 2250, 2250, 4500, 4500}},
    // nvidia.com/en-us/data-center/h200, shown with sparsity.
    Row{{"H200"}, {67, 494.7, 989.4, 989.4, 1978.9, 1978.9}},
    Row{{"H200 NVL"}, {60, 417.5, 835.5, 835.5, 1670.5, 1670.5}},
    // "NVIDIA H100 Tensor Core GPU Architecture", table 2, and nvidia.com/en-us/data-center/h100.
    Row{{"H100 80GB HBM3"}, {67, 494.7, 989.4, 989.4, 1978.9, 1978.9}},
    Row{{"H100 PCIe"}, {51, 378, 756, 756, 1513, 1513}},
    Row{{"H100 NVL"}, {60, 417.5, 835.5, 835.5, 1670.5, 1670.5}},
    // nvidia.com/en-us/data-center/grace-hopper-superchip, shown with sparsity.
    Row{{"GH200 480GB", "GH200 120GB", "GH200 144G HBM3e"}, {67, 494.7, 989.4, 989.4, 1978.9, 1978.9}},
    // "NVIDIA A100 Tensor Core GPU", datasheet of June 2021.
    Row{{"A100-SXM4-40GB", "A100-SXM4-80GB", "A100-PCIE-40GB", "A100 80GB PCIe"}, {19.5, 156, 312, 312, none, 624}},
    // Datasheets "NVIDIA A30 Tensor Core GPU" and "NVIDIA A10 Tensor Core GPU".
    Row{{"A30"}, {10.3, 82, 165, 165, none, 330}},
    Row{{"A10"}, {31.2, 62.5, 125, 125, none, 250}},
    // nvidia.com/en-us/data-center/l40s and /l40, /l4 (the last is shown with sparsity).
    Row{{"L40S"}, {91.6, 183, 362, 362, 733, 733}},
    Row{{"L40"}, {90.5, 90.5, 181, 181, 362, 362}},
    Row{{"L4"}, {30.3, 60, 121, 121, 242.5, 242.5}},
    // Datasheets "NVIDIA V100 Tensor Core GPU" and "NVIDIA T4".
    Row{{"V100-SXM2-16GB", "V100-SXM2-32GB"}, {15.7, none, 125, none, none, none}},
    Row{{"V100-PCIE-16GB", "V100-PCIE-32GB"}, {14, none, 112, none, none, none}},
    Row{{"T4"}, {8.1, none, 65, none, none, 130}},
    // "NVIDIA Ada GPU Architecture", appendix A, and "NVIDIA Ampere GA102 GPU Architecture", appendix A: with float32
    // sums, which these cards take at half the rate.
    Row{{"GeForce RTX 4090"}, {82.6, 82.6, 165.2, 165.2, 330.3, 660.6}},
    Row{{"GeForce RTX 3090"}, {35.6, 35.6, 71, 71, none, 284}},
};

constexpr std::array<std::string_view, all_arithmetic.size()> arithmetic_names = {"float32",  "tf32",   "float16",
                                                                                  "bfloat16", "float8", "int8"};

std::string_view without_maker(std::string_view product) {
  for (const std::string_view maker : {"NVIDIA ", "Tesla "}) {
    if (product.starts_with(maker)) product.remove_prefix(maker.size());
  }
  return product;
}

}  // namespace

std::string_view to_string(Arithmetic arithmetic) {
  return arithmetic_names[static_cast<std::size_t>(arithmetic)];
}

std::optional<double> dense_peak(std::string_view product, Arithmetic arithmetic) {
  const std::string_view name = without_maker(product);
  if (name.empty()) return std::nullopt;  // rows with few names end with empty ones
  const auto row = std::ranges::find_if(rows, [&](const Row& one) { return std::ranges::count(one.products, name); });
  if (row == rows.end()) return std::nullopt;
  const double peak = row->peaks[static_cast<std::size_t>(arithmetic)];
  return peak == none ? std::nullopt : std::optional(peak * tera);
}

double memory_bandwidth(double memory_clock_hz, unsigned bus_bits) {
  return memory_clock_hz * transfers_per_clock * bus_bits / bits_per_byte;
}

}  // namespace gpubench
