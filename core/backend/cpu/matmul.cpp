#include "core/backend/cpu/matmul.h"

#include <algorithm>
#include <cstring>

#include "core/backend/cpu/loop_kernel.h"
#include "core/backend/cpu/onednn_kernel.h"
#include "core/backend/cpu/outer_product.h"
#include "core/backend/cpu/small_matmul.h"
#include "core/backend/cpu/widened.h"

namespace gpubench::cpu {
namespace {

/// One matrix or a batch of them, with the leading dimensions of the result.
struct Operand {
  OneDnnDims dims, strides;
};

/// `type` as [leading..., rows, columns] with `rank` dimensions; the strides do the transposing.
Operand operand(const TensorType& type, std::size_t rank, bool transposed) {
  Operand result;
  result.dims.assign(rank - type.shape.size(), 1);
  result.dims.insert(result.dims.end(), type.shape.begin(), type.shape.end());
  result.strides.assign(rank, 1);
  for (std::size_t i = rank - 1; i > 0; --i) result.strides[i - 1] = result.strides[i] * result.dims[i];
  if (transposed) {
    std::swap(result.dims[rank - 1], result.dims[rank - 2]);
    std::swap(result.strides[rank - 1], result.strides[rank - 2]);
  }
  return result;
}

/// A batch of matrices times one matrix is one tall matrix times one matrix.
TensorType flattened(const TensorType& type) {
  return {{type.elements() / type.shape.back(), type.shape.back()}, type.dtype};
}

std::unique_ptr<Kernel> plan_primitive(const Matmul& op, const TensorType& a, const TensorType& b, const TensorType& c,
                                       Onto onto, Device& device) {
  const std::size_t rank = c.shape.size();
  const auto describe = [&](const TensorType& type, bool transposed) {
    const Operand matrix = operand(type, rank, transposed);
    return strided(op.name(), type.dtype, matrix.dims, matrix.strides);
  };
  OneDnnDims bias_dims(rank, 1);
  bias_dims.back() = c.shape.back();
  const auto bias = strided(op.name(), c.dtype, bias_dims, OneDnnDims(rank, 1));

  auto kernel = std::make_unique<OneDnnKernel>(device);
  const auto desc = describe_matmul(
      describe(a, op.options.transpose_a), describe(b, op.options.transpose_b), op.options.bias ? &bias : nullptr,
      describe(c, false), onto == Onto::result ? accumulating_attributes() : attributes_with(op.options.activation));
  const auto left = kernel->input(0, desc.src_desc()), right = kernel->input(1, desc.weights_desc());
  const auto result = kernel->output(0, desc.dst_desc());
  const dnnl::matmul primitive(desc);
  if (op.options.bias) {
    kernel->add(desc, primitive,
                {{DNNL_ARG_SRC, left},
                 {DNNL_ARG_WEIGHTS, right},
                 {DNNL_ARG_BIAS, kernel->input(2, bias)},
                 {DNNL_ARG_DST, result}});
  } else {
    kernel->add(desc, primitive, {{DNNL_ARG_SRC, left}, {DNNL_ARG_WEIGHTS, right}, {DNNL_ARG_DST, result}});
  }
  return kernel;
}

/// c = a b, or c += a b.
std::unique_ptr<Kernel> plan_product(const Matmul& op, const TensorType& a, const TensorType& b, const TensorType& c,
                                     Onto onto, Device& device) {
  if (outer_product_applies(op.options, a, b)) return plan_outer_product(a, b, onto, device);
  if (small_matmul_is_faster(op, a, c)) return plan_small_matmul(op, a, c, onto, device);
  return plan_primitive(op, a, b, c, onto, device);
}

/// Lays the sum where the product is added to it, unless it is there already.
class AccumulatingKernel final : public Kernel {
 public:
  AccumulatingKernel(std::unique_ptr<Kernel> product, std::size_t sum_bytes)
      : product_(std::move(product)), sum_bytes_(sum_bytes) {}
  std::string_view implementation() const override { return product_->implementation(); }
  std::size_t workspace_bytes() const override { return product_->workspace_bytes(); }
  void run(Stream& stream, Views inputs, Views outputs, std::span<std::byte> workspace) override {
    if (inputs[2].data != outputs[0].data) std::memcpy(outputs[0].data, inputs[2].data, sum_bytes_);
    product_->run(stream, inputs.first(2), outputs, workspace);
  }

 private:
  std::unique_ptr<Kernel> product_;
  std::size_t sum_bytes_;
};

}  // namespace

std::unique_ptr<Kernel> plan_matmul(const Matmul& op, const Signature& signature, Device& device) {
  if (needs_widening(signature)) return plan_widened<Matmul, &plan_matmul>(op, signature, device);
  TensorType a = signature.inputs[0], c = signature.outputs[0];
  const TensorType& b = signature.inputs[1];
  if (b.rank() == 2 && !op.options.transpose_a && a.elements() > 0) {
    a = flattened(a);
    c = flattened(c);
  }
  return plan_product(op, a, b, c, Onto::nothing, device);
}

std::unique_ptr<Kernel> plan_matmul_accumulate(const MatmulAccumulate& op, const Signature& signature, Device& device) {
  const TensorType& sum = signature.outputs[0];
  return std::make_unique<AccumulatingKernel>(
      plan_product(Matmul(op.options), signature.inputs[0], signature.inputs[1], sum, Onto::result, device),
      sum.bytes());
}

bool fuses_accumulation(const Op& op, const Signature& signature) {
  // 16 bits are computed in float32: a sum in them would be widened at every product.
  return dynamic_cast<const MatmulAccumulate*>(&op) != nullptr && signature.outputs[0].dtype == Dtype::f32;
}

}  // namespace gpubench::cpu
