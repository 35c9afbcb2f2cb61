#include "core/backend/emulated/kernel_time.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <typeindex>
#include <unordered_map>

#include "core/base/enum_names.h"
#include "core/ops/attention.h"
#include "core/ops/batch_norm.h"
#include "core/ops/conv.h"
#include "core/ops/fused_matmul.h"
#include "core/ops/layer_norm.h"
#include "core/ops/loss.h"
#include "core/ops/matmul.h"
#include "core/ops/quantized_linear.h"
#include "core/ops/recurrent.h"
#include "core/ops/softmax.h"

namespace gpubench {
namespace {

constexpr EnumNames<KernelKind, 4> kinds{"unknown kind of kernel", {"elements", "product", "softmax", "normalization"}};

/// All other ops are of kind elements.
KernelKind kind_of(const Op& op) {
  using enum KernelKind;
  static const std::unordered_map<std::type_index, KernelKind> ops = {
      {typeid(Attention), product},
      {typeid(AttentionGradient), product},
      {typeid(BatchNorm), normalization},
      {typeid(BatchNormGradient), normalization},
      {typeid(BatchNormInferenceGradient), normalization},
      {typeid(Conv2D), product},
      {typeid(Conv2DFilterGradient), product},
      {typeid(Conv2DInputGradient), product},
      {typeid(Conv2DMaxPool), product},
      {typeid(Conv2DMaxPoolFilterGradient), product},
      {typeid(LayerNorm), softmax},
      {typeid(LayerNormGradient), softmax},
      {typeid(LogSoftmax), softmax},
      {typeid(LogSoftmaxGradient), softmax},
      {typeid(Matmul), product},
      {typeid(MatmulAccumulate), product},
      {typeid(MatmulActivationGradient), product},
      {typeid(MatmulAux), product},
      {typeid(MatmulBiasGradient), product},
      {typeid(QuantizedConv2D), product},
      {typeid(QuantizedMatmul), product},
      {typeid(Recurrence), product},
      {typeid(RecurrenceGradient), product},
      {typeid(RmsNorm), softmax},
      {typeid(RmsNormGradient), softmax},
      {typeid(Softmax), softmax},
      {typeid(SoftmaxCrossEntropy), softmax},
      {typeid(SoftmaxCrossEntropyGradient), softmax},
      {typeid(SoftmaxGradient), softmax},
      {typeid(SparseSoftmaxCrossEntropy), softmax},
      {typeid(SparseSoftmaxCrossEntropyGradient), softmax},
  };
  const auto found = ops.find(typeid(op));
  return found == ops.end() ? elements : found->second;
}

/// Statistics of a normalization go over all images, softmax goes over the last dimension.
double row_bytes_of(KernelKind kind, const TensorType& type) {
  if (type.shape.empty() || type.elements() == 0) return 0;
  const auto last = static_cast<double>(type.shape.back());
  const auto bytes = static_cast<double>(type.bytes());
  if (kind == KernelKind::normalization) return bytes / last;
  return last * static_cast<double>(size_of(type.dtype));
}

/// The largest power of two, up to 16, of which the rows of the operands and of the first result are multiples, in
/// bytes.
int alignment_of(const Signature& signature) {
  constexpr std::int64_t aligned = 16;
  std::int64_t bytes = aligned;
  const auto add = [&](const TensorType& type) {
    if (type.shape.size() < 2) return;  // such as a bias
    bytes = std::gcd(bytes, type.shape.back() * static_cast<std::int64_t>(size_of(type.dtype)));
  };
  for (const TensorType& type : signature.inputs) {
    if (type.dtype == signature.inputs[0].dtype) add(type);  // no mask and no step
  }
  add(signature.outputs[0]);
  return static_cast<int>(bytes);
}

/// Each step of a recurrence is a product with the state and a kernel for the cells, as in our own CUDA kernels. The
/// first step has no state. The gradient ends with a product over all steps.
void divide_into_steps(KernelWork& work, const TensorType& states, bool is_gradient) {
  const std::int64_t steps = recurrent_extents(states).steps;
  work.products = steps - 1 + (is_gradient ? 1 : 0);
  work.kernels = work.products + steps;
}

double slowness_of(int alignment) {
  constexpr double eight = 1.25, four = 2, fewer = 4;
  if (alignment >= 16) return 1;
  return alignment == 8 ? eight : alignment == 4 ? four : fewer;
}

/// Memory traffic, relative to one read and one write. The exponent is that at which the measured times of three
/// accelerators agree best.
double passes_of(const Profile& profile, const KernelWork& work) {
  constexpr double exponent = 4, softmax_reads = 1.0, normalization_reads = 0.5, normalization_row = 0.25;
  if (work.kind == KernelKind::elements || work.kind == KernelKind::product) return 1;
  const bool is_softmax = work.kind == KernelKind::softmax;
  const double length = work.row_bytes / (profile.row_bytes * (is_softmax ? 1 : normalization_row));
  const double missed = 1 - 1 / (1 + std::pow(length, exponent));
  return 1 + (is_softmax ? softmax_reads : normalization_reads) * missed;
}

}  // namespace

KernelKind parse_kernel_kind(std::string_view name) {
  return kinds.parse(name);
}

KernelWork work_of(const Op& op, const Signature& signature) {
  constexpr std::size_t half_bytes = 2;
  KernelWork work;
  work.kind = kind_of(op);
  work.flops = op.flops(signature.inputs, signature.outputs);
  work.bytes = op.bytes(signature.inputs, signature.outputs);
  if (signature.inputs.empty()) return work;
  const TensorType& first = signature.inputs[0];
  work.half = size_of(first.dtype) <= half_bytes;
  if (work.kind == KernelKind::product && work.half) work.alignment = alignment_of(signature);
  if (work.kind == KernelKind::softmax || work.kind == KernelKind::normalization)
    work.row_bytes = row_bytes_of(work.kind, first);
  if (dynamic_cast<const Recurrence*>(&op) != nullptr) divide_into_steps(work, signature.outputs[0], false);
  if (dynamic_cast<const RecurrenceGradient*>(&op) != nullptr) divide_into_steps(work, signature.inputs[1], true);
  return work;
}

double kernel_seconds(const Profile& profile, const KernelWork& work) {
  const double flops_per_s =
      work.half ? profile.float16_flops_per_s / slowness_of(work.alignment) : profile.float32_flops_per_s;
  const double arithmetic = work.flops / flops_per_s;
  const double memory = work.bytes * passes_of(profile, work) / profile.memory_bytes_per_s;
  const double roofline = static_cast<double>(work.kernels) * profile.kernel_s + std::max(arithmetic, memory);
  if (work.kind == KernelKind::elements) return roofline;
  if (work.kind != KernelKind::product) return roofline + profile.ramp_s;
  return roofline + std::sqrt(static_cast<double>(work.products) * arithmetic * profile.ramp_s);
}

}  // namespace gpubench
