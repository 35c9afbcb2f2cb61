// Products of matrices by cuBLASLt: float32 (in TF32 where the device allows it), float16 and bfloat16, summed in
// float32. Planning throws Error where cuBLASLt has no algorithm.
#include "core/ops/matmul.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <memory>
#include <vector>

#include "core/backend/cuda/cuda_device.h"
#include "core/backend/cuda/cuda_kernels.h"
#include "core/backend/cuda/device_choices.h"
#include "core/backend/cuda/elementwise.h"
#include "core/backend/cuda/kernels/elementwise.h"
#include "core/backend/cuda/launch_kernel.h"
#include "core/backend/cuda/matmul_algorithms.h"
#include "core/backend/cuda/matmul_descriptors.h"
#include "core/backend/cuda/search.h"
#include "core/backend/cuda/status.h"
#include "core/base/error.h"
#include "core/math/functions.h"
#include "core/ops/bias.h"
#include "core/ops/fused_matmul.h"

namespace gpubench::cuda {
namespace {

// Whether summing a factor in a product's epilogue gains time. The sum alone takes a small part of a large product's
// time, and algorithms that also sum may be slower by more than that (NVIDIA/CUDALibrarySamples#90: 1.6 times).

/// Products below these flops save a launch, which takes longer than what they could lose.
constexpr double fewest_flops_to_time = 1e9;

/// Two timings of one kernel differ by as much.
constexpr double least_gain = 0.02;

/// Times the product with the sum in it against a product and a sum behind it (search.h). False where the device has no
/// memory for that, because two kernels are never slower by much.
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

ElementwiseLaunch activation_launch(Activation activation) {
  switch (activation) {
    case Activation::sigmoid:
      return elementwise_launch<math::Sigmoid>();
    case Activation::tanh:
      return elementwise_launch<math::Tanh>();
    case Activation::gelu:
      return elementwise_launch<math::Gelu>();
    default:  // none, or done by the epilogue
      return nullptr;
  }
}

class MatmulKernel final : public Kernel {
 public:
  MatmulKernel(MatmulCall call, const MatmulAlgorithm& algorithm, const TensorType& result, CudaDevice& device)
      : call_(std::move(call)),
        descriptors_(call_.problem),
        algorithm_(algorithm),
        handle_(device.cublaslt()),
        multiprocessors_(device.properties().multiprocessors),
        element_bytes_(size_of(result.dtype)),
        activation_(activation_launch(call_.after)) {
    access_.elements = result.elements();
    access_.extent[0] = access_.elements;
    access_.stride[0][0] = 1;
    access_.input_types[0] = access_.output_type = result.dtype;
  }

  std::string_view implementation() const override { return algorithm_.name; }
  std::size_t workspace_bytes() const override { return algorithm_.workspace_bytes; }

  void run(Stream& stream, Views inputs, Views outputs, std::span<std::byte> workspace) override {
    const auto memory = [&](const std::optional<TensorPlace>& place) -> std::byte* {
      return place ? (place->output ? outputs : inputs)[place->index].data : nullptr;
    };
    const auto at = [&](const TensorView& view, std::int64_t elements) {
      return view.data + static_cast<std::size_t>(elements) * element_bytes_;
    };
    descriptors_.set_epilogue(memory(call_.vector), memory(call_.aux));
    for (const MatmulGeometry::Start& start : call_.launches) {
      multiply(handle_, descriptors_, algorithm_.algorithm,
               {.left = at(inputs[1], start.left),
                .right = at(inputs[0], start.right),
                .result = at(outputs[0], start.result),
                .workspace = workspace.first(algorithm_.workspace_bytes),
                .sum = memory(call_.sum)},
               handle_of(stream));
    }
    if (activation_ == nullptr) return;
    const std::array<const void*, 1> in{outputs[0].data};
    check(activation_({handle_of(stream), multiprocessors_}, access_, outputs[0].data, in.data()),
          "matmul: activation");
  }

 private:
  MatmulCall call_;
  MatmulDescriptors descriptors_;
  const MatmulAlgorithm& algorithm_;  // the device's, which outlives its kernels
  cublasLtHandle_t handle_;
  int multiprocessors_;
  std::size_t element_bytes_;
  ElementwiseLaunch activation_;
  ElementwiseAccess access_;
};

template <class O>
MatmulCall call_on(const CudaDevice& gpu, const O& op, const Signature& signature) {
  return matmul_call(op, signature, matmul_rules(gpu.allows_tf32()));
}

/// A fused op reaches the planner only if fuses_matmul() has accepted it.
template <class O>
bool has_algorithm(const Op& op, const Signature& signature, CudaDevice& gpu) {
  const auto* const known = dynamic_cast<const O*>(&op);
  const TensorType& result = signature.outputs[0];
  if (known == nullptr || !is_floating(result.dtype) || result.elements() == 0 || signature.inputs[0].elements() == 0) {
    return false;
  }
  return algorithm_for(gpu, call_on(gpu, *known, signature).problem) != nullptr;
}

bool fuses_sum(const Op& op, const Signature& signature, CudaDevice& gpu) {
  if (!has_algorithm<MatmulBiasGradient>(op, signature, gpu)) return false;
  const auto& with_sum = dynamic_cast<const MatmulBiasGradient&>(op);
  if (op.flops(signature.inputs, signature.outputs) < fewest_flops_to_time) return true;
  return gpu.choices().faster_sums.find(call_on(gpu, with_sum, signature).problem,
                                        [&] { return sums_faster(with_sum, signature, gpu); });
}

template <class O>
std::unique_ptr<Kernel> plan_product(const O& op, const Signature& signature, Device& device) {
  const TensorType& result = signature.outputs[0];
  require_floating(op, result);
  if (result.elements() == 0) refuse(op, "an empty result is not supported");
  if (signature.inputs[0].elements() == 0) refuse(op, "sums of no products are not supported");
  CudaDevice& gpu = cuda_device(device);
  MatmulCall call = call_on(gpu, op, signature);
  const MatmulAlgorithm* const algorithm = algorithm_for(gpu, call.problem);
  if (algorithm == nullptr) {
    refuse(op, fmt::format("cuBLASLt has no algorithm for {} times {}", to_string(signature.inputs[0]),
                           to_string(signature.inputs[1])));
  }
  return std::make_unique<MatmulKernel>(std::move(call), *algorithm, result, gpu);
}

std::unique_ptr<Kernel> plan_matmul(const Matmul& op, const Signature& signature, Device& device) {
  if (signature.outputs[0].elements() == 0) {
    require_floating(op, signature.outputs[0]);
    return launch_kernel(op, device, [](const LaunchOn&, Views, Views) { return cudaSuccess; });
  }
  return plan_product(op, signature, device);
}

std::unique_ptr<Kernel> plan_matmul_accumulate(const MatmulAccumulate& op, const Signature& signature, Device& device) {
  return plan_product(op, signature, device);
}

std::unique_ptr<Kernel> plan_matmul_bias_gradient(const MatmulBiasGradient& op, const Signature& signature,
                                                  Device& device) {
  return plan_product(op, signature, device);
}

std::unique_ptr<Kernel> plan_matmul_aux(const MatmulAux& op, const Signature& signature, Device& device) {
  return plan_product(op, signature, device);
}

std::unique_ptr<Kernel> plan_matmul_activation_gradient(const MatmulActivationGradient& op, const Signature& signature,
                                                        Device& device) {
  return plan_product(op, signature, device);
}

}  // namespace

void add_matmul(KernelTable& table) {
  add_row<&plan_matmul>(table);
  add_row<&plan_matmul_accumulate>(table);
  add_row<&plan_matmul_bias_gradient>(table);
  add_row<&plan_matmul_aux>(table);
  add_row<&plan_matmul_activation_gradient>(table);
}

bool fuses_matmul(const Op& op, const Signature& signature, Device& device) {
  CudaDevice& gpu = cuda_device(device);
  return has_algorithm<MatmulAccumulate>(op, signature, gpu) || fuses_sum(op, signature, gpu) ||
         has_algorithm<MatmulAux>(op, signature, gpu) || has_algorithm<MatmulActivationGradient>(op, signature, gpu);
}

}  // namespace gpubench::cuda
