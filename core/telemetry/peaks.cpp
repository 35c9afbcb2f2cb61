#include "core/telemetry/peaks.h"

#include <algorithm>
#include <fmt/format.h>

namespace gpubench {
namespace {

constexpr double tera = 1e12;
constexpr double none = 0;
constexpr double bits_per_byte = 8;
constexpr double transfers_per_clock = 2;

struct Row {
  /// The drivers' names, without "NVIDIA" and "Tesla". Compared as a whole, because cards with similar names differ.
  std::array<std::string_view, 4> products;
  /// Of the whole GPU, by the same sources and NVIDIA's architecture whitepapers.
  int multiprocessors;
  /// 10^12 operations in a second, in the order of Arithmetic.
  std::array<double, all_arithmetic.size()> peaks;
};

constexpr std::array rows = {
    // "NVIDIA HGX B200" in nvidia.com/en-us/data-center/hgx, shown for eight GPUs and with sparsity; what its pages say
    // of float32 differs between them and is left out.
    Row{{"B200"}, 148, {none, 1100, 2250, 2250, 4500, 4500}},
    // nvidia.com/en-us/data-center/h200, shown with sparsity.
    Row{{"H200"}, 132, {67, 494.7, 989.4, 989.4, 1978.9, 1978.9}},
    Row{{"H200 NVL"}, 132, {60, 417.5, 835.5, 835.5, 1670.5, 1670.5}},
    // "NVIDIA H100 Tensor Core GPU Architecture", table 2, and nvidia.com/en-us/data-center/h100.
    Row{{"H100 80GB HBM3"}, 132, {67, 494.7, 989.4, 989.4, 1978.9, 1978.9}},
    Row{{"H100 PCIe"}, 114, {51, 378, 756, 756, 1513, 1513}},
    Row{{"H100 NVL"}, 132, {60, 417.5, 835.5, 835.5, 1670.5, 1670.5}},
    // nvidia.com/en-us/data-center/grace-hopper-superchip, shown with sparsity.
    Row{{"GH200 480GB", "GH200 120GB", "GH200 144G HBM3e"}, 132, {67, 494.7, 989.4, 989.4, 1978.9, 1978.9}},
    // "NVIDIA A100 Tensor Core GPU", datasheet of June 2021.
    Row{{"A100-SXM4-40GB", "A100-SXM4-80GB", "A100-PCIE-40GB", "A100 80GB PCIe"},
        108,
        {19.5, 156, 312, 312, none, 624}},
    // Datasheets "NVIDIA A30 Tensor Core GPU" and "NVIDIA A10 Tensor Core GPU".
    Row{{"A30"}, 56, {10.3, 82, 165, 165, none, 330}},
    Row{{"A10"}, 72, {31.2, 62.5, 125, 125, none, 250}},
    // nvidia.com/en-us/data-center/l40s and /l40, /l4 (the last is shown with sparsity).
    Row{{"L40S"}, 142, {91.6, 183, 362, 362, 733, 733}},
    Row{{"L40"}, 142, {90.5, 90.5, 181, 181, 362, 362}},
    Row{{"L4"}, 58, {30.3, 60, 121, 121, 242.5, 242.5}},
    // Datasheets "NVIDIA V100 Tensor Core GPU" and "NVIDIA T4".
    Row{{"V100-SXM2-16GB", "V100-SXM2-32GB"}, 80, {15.7, none, 125, none, none, none}},
    Row{{"V100-PCIE-16GB", "V100-PCIE-32GB"}, 80, {14, none, 112, none, none, none}},
    Row{{"T4"}, 40, {8.1, none, 65, none, none, 130}},
    // "NVIDIA Ada GPU Architecture", appendix A, and "NVIDIA Ampere GA102 GPU Architecture", appendix A: with float32
    // sums, which these cards take at half the rate.
    Row{{"GeForce RTX 4090"}, 128, {82.6, 82.6, 165.2, 165.2, 330.3, 660.6}},
    Row{{"GeForce RTX 3090"}, 82, {35.6, 35.6, 71, 71, none, 284}},
};

constexpr std::array<std::string_view, all_arithmetic.size()> arithmetic_names = {"float32",  "tf32",   "float16",
                                                                                  "bfloat16", "float8", "int8"};

std::string_view without_maker(std::string_view product) {
  for (const std::string_view maker : {"NVIDIA ", "Tesla "}) {
    if (product.starts_with(maker)) product.remove_prefix(maker.size());
  }
  return product;
}

/// nullptr for a GPU that is not in the table. `product`: also the name of a slice of the GPU.
const Row* find_row(std::string_view product) {
  const std::string_view name = without_maker(product.substr(0, product.find(" MIG ")));
  if (name.empty()) return nullptr;  // rows with few names end with empty ones
  const auto* const row =
      std::ranges::find_if(rows, [&](const Row& one) { return std::ranges::count(one.products, name); });
  return row == rows.end() ? nullptr : row;
}

}  // namespace

std::string_view to_string(Arithmetic arithmetic) {
  return arithmetic_names[static_cast<std::size_t>(arithmetic)];
}

std::optional<double> dense_peak(std::string_view product, Arithmetic arithmetic) {
  const Row* const row = find_row(product);
  if (row == nullptr || row->peaks[static_cast<std::size_t>(arithmetic)] == none) return std::nullopt;
  return row->peaks[static_cast<std::size_t>(arithmetic)] * tera;
}

std::optional<double> share_of_multiprocessors(std::string_view product, const DeviceSlice& slice) {
  const Row* const row = find_row(product);
  return row == nullptr ? std::nullopt : std::optional(static_cast<double>(slice.compute_units) / row->multiprocessors);
}

std::string multiprocessors_text(std::string_view product, const DeviceSlice& slice) {
  const Row* const row = find_row(product);
  return row == nullptr ? fmt::format("{} multiprocessors", slice.compute_units)
                        : fmt::format("{} of {} multiprocessors", slice.compute_units, row->multiprocessors);
}

double memory_bandwidth(double memory_clock_hz, unsigned bus_bits) {
  return memory_clock_hz * transfers_per_clock * bus_bits / bits_per_byte;
}

}  // namespace gpubench
