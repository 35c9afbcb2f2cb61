#include "core/backend/cuda/fused_sum.h"

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "core/backend/cuda/cuda_kernels.h"
#include "core/backend/cuda/launch_kernel.h"
#include "core/backend/cuda/search.h"
#include "core/base/error.h"
#include "core/ops/bias.h"

namespace gpubench::cuda {
namespace {

/// Two timings of one kernel differ by as much.
constexpr double least_gain = 0.02;

}  // namespace

bool sums_faster(const MatmulBiasGradient& op, const Signature& signature, CudaDevice& device) {
  const std::size_t factor = op.summed == Factor::first ? 0 : 1;
  const auto summed = signature.inputs.subspan(factor, 1);
  const auto product_type = signature.outputs.first(1), sum_type = signature.outputs.subspan(1, 1);
  const std::unique_ptr<Kernel> fused = plan_kernel(op, signature, device);
  const std::unique_ptr<Kernel> product = plan_kernel(Matmul(op.options), {signature.inputs, product_type}, device);
  const std::unique_ptr<Kernel> sum = plan_kernel(BiasGradient(), {summed, sum_type}, device);
  try {
    std::vector<Buffer> buffers;
    std::vector<TensorView> inputs, outputs;
    for (const TensorType& type : signature.inputs) {
      inputs.push_back({&type, buffers.emplace_back(random_buffer(device, type.bytes(), type.dtype)).data()});
    }
    for (const TensorType& type : signature.outputs) {
      outputs.push_back(
          {&type, buffers.emplace_back(device.memory().allocate(type.bytes(), "search of fusions")).data()});
    }
    const std::size_t bytes = std::max({fused->workspace_bytes(), product->workspace_bytes(), sum->workspace_bytes()});
    const Buffer workspace = device.memory().allocate(bytes, "search of fusions");
    const std::span<std::byte> memory(workspace.data(), bytes);
    const Views in = inputs, out = outputs;
    constexpr std::size_t in_one = 0, apart = 1;
    const std::vector<Seconds> times = median_times(device, 2, [&](std::size_t candidate) {
      Stream& stream = device.stream();
      if (candidate == in_one) {
        fused->run(stream, in, out, memory);
      } else {
        product->run(stream, in, out.first(1), memory);
        sum->run(stream, in.subspan(factor, 1), out.subspan(1, 1), memory);
      }
    });
    return times[in_one] < times[apart] * (1 - least_gain);
  } catch (const OutOfMemory&) {
    return false;
  }
}

}  // namespace gpubench::cuda
