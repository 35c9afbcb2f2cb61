#include "core/experiment/kernel_case.h"

#include <fmt/format.h>
#include <memory>

#include "core/base/error.h"
#include "core/ops/conv.h"
#include "core/ops/matmul.h"

namespace gpubench {
namespace {

void check_extent(std::string_view op, std::string_view what, std::int64_t extent) {
  if (extent >= 1) return;
  throw Error(fmt::format("measure.kernels: {}: {} must be at least 1, got {}", op, what, extent));
}

KernelCase checked(KernelCase one) {
  one.description->infer(one.inputs);
  return one;
}

}  // namespace

KernelCase matmul_case(const MatmulExtents& extents, Dtype dtype) {
  const auto [m, n, k] = extents;
  check_extent("matmul", "m", m);
  check_extent("matmul", "n", n);
  check_extent("matmul", "k", k);
  return checked({.op = "matmul",
                  .shape = fmt::format("{}x{}x{}", m, n, k),
                  .dtype = dtype,
                  .description = std::make_shared<const Matmul>(),
                  .inputs = {{{m, k}, dtype}, {{k, n}, dtype}}});
}

KernelCase conv2d_case(const Conv2DExtents& extents, Dtype dtype) {
  const auto& [batch, height, width, channels, filters, kernel_size, strides, padding] = extents;
  check_extent("conv2d", "batch", batch);
  check_extent("conv2d", "height", height);
  check_extent("conv2d", "width", width);
  check_extent("conv2d", "channels", channels);
  check_extent("conv2d", "filters", filters);
  check_extent("conv2d", "kernel_size", kernel_size);
  check_extent("conv2d", "strides", strides);
  return checked(
      {.op = "conv2d",
       .shape = fmt::format("{}x{}x{}x{} filters {}x{}x{} strides {} {}", batch, height, width, channels, filters,
                            kernel_size, kernel_size, strides, to_string(padding)),
       .dtype = dtype,
       .description =
           std::make_shared<const Conv2D>(Conv2DAttributes{.strides = {strides, strides}, .padding = padding}),
       .inputs = {{{batch, height, width, channels}, dtype}, {{kernel_size, kernel_size, channels, filters}, dtype}}});
}

}  // namespace gpubench
