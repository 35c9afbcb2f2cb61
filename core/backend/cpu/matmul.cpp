// Products of matrices by oneDNN: its matmul primitive, or its plain sgemm where that was measured to be faster.
#include "core/ops/matmul.h"

#include <algorithm>
#include <cstring>
#include <omp.h>
#include <string_view>
#include <utility>
#include <vector>

#include "core/backend/cpu/cpu_kernels.h"
#include "core/backend/cpu/empty_sums.h"
#include "core/backend/cpu/loop_kernel.h"
#include "core/backend/cpu/matmul_panels.h"
#include "core/backend/cpu/onednn_kernel.h"
#include "core/backend/cpu/small_matmul.h"
#include "core/backend/cpu/widened.h"
#include "core/ops/fused_matmul.h"

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

/// A part of a matrix that lies where the whole has it.
struct Part {
  OneDnnDims dims;
  std::size_t offset = 0;  ///< in bytes
};

Part part_of(const Operand& whole, Dtype dtype, const Panel* rows, const Panel* columns) {
  Part part{whole.dims};
  const std::size_t rank = whole.dims.size();
  const auto narrow = [&](std::size_t axis, const Panel* panel) {
    if (panel == nullptr) return;
    part.dims[axis] = panel->count;
    part.offset += static_cast<std::size_t>(panel->first * whole.strides[axis]) * size_of(dtype);
  };
  narrow(rank - 2, rows);
  narrow(rank - 1, columns);
  return part;
}

/// What oneDNN calls it, since version 2.
constexpr std::string_view packing_implementation = "gemm:jit";

std::unique_ptr<Kernel> plan_primitive(const Matmul& op, const TensorType& a, const TensorType& b, const TensorType& c,
                                       Onto onto, Device& device) {
  const std::size_t rank = c.shape.size();
  const Operand left = operand(a, rank, op.options.transpose_a), right = operand(b, rank, op.options.transpose_b);
  const Operand result = operand(c, rank, false);
  const Operand bias{OneDnnDims(rank, 1), OneDnnDims(rank, 1)};
  const dnnl::primitive_attr epilogue =
      onto == Onto::result ? accumulating_attributes() : attributes_with(op.options.activation);

  auto kernel = std::make_unique<OneDnnKernel>(device);
  const std::int64_t m = result.dims[rank - 2], n = result.dims[rank - 1], k = left.dims[rank - 1];
  const bool is_float32 = a.dtype == Dtype::f32;
  const bool packs = is_float32 && rank == 2 && packing_is_faster(op.options, m, n, k);
  const Panels panels =
      is_float32 ? Panels{{{0, m}}, {{0, n}}} : matmul_panels(op.options, m, n, omp_get_max_threads());
  for (const Panel& columns : panels.columns) {
    for (const Panel& rows : panels.rows) {
      const Part x = part_of(left, a.dtype, &rows, nullptr), y = part_of(right, b.dtype, nullptr, &columns);
      const Part z = part_of(result, c.dtype, &rows, &columns), shift = part_of(bias, c.dtype, nullptr, &columns);
      const auto x_desc = strided(op.name(), a.dtype, x.dims, left.strides);
      const auto y_desc = strided(op.name(), b.dtype, y.dims, right.strides);
      const auto z_desc = strided(op.name(), c.dtype, z.dims, result.strides);
      const auto shift_desc = strided(op.name(), c.dtype, shift.dims, bias.strides);
      const auto desc = describe_matmul(x_desc, y_desc, op.options.bias ? &shift_desc : nullptr, z_desc, epilogue,
                                        packs ? packing_implementation : "");
      std::vector<std::pair<int, OneDnnKernel::Slot>> arguments = {
          {DNNL_ARG_SRC, kernel->input(0, x_desc, x.offset)},
          {DNNL_ARG_WEIGHTS, kernel->input(1, y_desc, y.offset)},
          {DNNL_ARG_DST, kernel->output(0, z_desc, z.offset)}};
      if (op.options.bias) arguments.emplace_back(DNNL_ARG_BIAS, kernel->input(2, shift_desc, shift.offset));
      kernel->add(desc, dnnl::matmul(desc), arguments);
    }
  }
  return kernel;
}

std::unique_ptr<Kernel> plan_product(const Matmul& op, const TensorType& a, const TensorType& b, const TensorType& c,
                                     Onto onto, Device& device);

/// The extent over which is summed, counted from the last.
std::int64_t& terms_of(TensorType& type, std::size_t from_end) {
  return type.shape[type.shape.size() - from_end];
}

std::unique_ptr<Kernel> plan_empty_sums(const Matmul& op, TensorType a, TensorType b, const TensorType& c, Onto onto,
                                        Device& device) {
  terms_of(a, op.options.transpose_a ? 2 : 1) = 1;
  terms_of(b, op.options.transpose_b ? 1 : 2) = 1;
  return std::make_unique<EmptySums>(a, b, plan_product(op, a, b, c, onto, device));
}

/// c = a b, or c += a b.
std::unique_ptr<Kernel> plan_product(const Matmul& op, const TensorType& a, const TensorType& b, const TensorType& c,
                                     Onto onto, Device& device) {
  if (a.elements() == 0) return plan_empty_sums(op, a, b, c, onto, device);
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

std::unique_ptr<Kernel> plan_matmul(const Matmul& op, const Signature& signature, Device& device) {
  if (needs_widening(signature)) return plan_widened<&plan_matmul>(op, signature, device);
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

}  // namespace

void add_matmul(KernelTable& table) {
  add_row<&plan_matmul>(table);
  add_float32_row<&plan_matmul_accumulate>(table);
}

}  // namespace gpubench::cpu
