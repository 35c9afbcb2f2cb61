#include "core/backend/cpu/matmul.h"

#include <algorithm>

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
                                       Device& device) {
  const std::size_t rank = c.shape.size();
  const auto describe = [&](const TensorType& type, bool transposed) {
    const Operand matrix = operand(type, rank, transposed);
    return strided(op.name(), type.dtype, matrix.dims, matrix.strides);
  };
  OneDnnDims bias_dims(rank, 1);
  bias_dims.back() = c.shape.back();
  const auto bias = strided(op.name(), c.dtype, bias_dims, OneDnnDims(rank, 1));

  auto kernel = std::make_unique<OneDnnKernel>(device);
  const auto desc =
      describe_matmul(describe(a, op.options.transpose_a), describe(b, op.options.transpose_b),
                      op.options.bias ? &bias : nullptr, describe(c, false), attributes_with(op.options.activation));
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

}  // namespace

std::unique_ptr<Kernel> plan_matmul(const Matmul& op, const Signature& signature, Device& device) {
  if (needs_widening(signature)) return plan_widened<Matmul, &plan_matmul>(op, signature, device);
  TensorType a = signature.inputs[0], c = signature.outputs[0];
  const TensorType& b = signature.inputs[1];
  if (b.rank() == 2 && !op.options.transpose_a && a.elements() > 0) {
    a = flattened(a);
    c = flattened(c);
  }
  if (outer_product_applies(op.options, a, b)) return plan_outer_product(a, b, device);
  if (small_matmul_is_faster(op, a, c)) return plan_small_matmul(op, a, c, device);
  return plan_primitive(op, a, b, c, device);
}

}  // namespace gpubench::cpu
