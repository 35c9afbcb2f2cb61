#include "core/backend/cpu/widened.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <string>
#include <vector>

#include "core/backend/cpu/cpu_kernels.h"
#include "core/backend/cpu/onednn.h"
#include "core/base/align.h"
#include "core/ops/cast.h"

namespace gpubench::cpu {
namespace {

constexpr std::size_t cast_alignment = 64;

std::vector<TensorType> widened_types(TensorTypes types, IsNarrow is_narrow) {
  std::vector<TensorType> wide(types.begin(), types.end());
  for (TensorType& type : wide)
    if (is_narrow(type.dtype)) type.dtype = Dtype::f32;
  return wide;
}

bool has_any(const Signature& signature, IsNarrow is_narrow) {
  const auto narrow = [is_narrow](const TensorType& type) { return is_narrow(type.dtype); };
  return std::any_of(signature.inputs.begin(), signature.inputs.end(), narrow) ||
         std::any_of(signature.outputs.begin(), signature.outputs.end(), narrow);
}

/// Tensors of a kernel's caller, and the same in the types that the kernel inside computes in.
class Widening {
 public:
  Widening(TensorTypes given, std::size_t& workspace, IsNarrow is_narrow)
      : types_(widened_types(given, is_narrow)), casts_(given.size()) {
    offsets_.resize(given.size());
    for (std::size_t i = 0; i < given.size(); ++i) {
      views_.push_back({&types_[i], nullptr});
      if (!is_narrow(given[i].dtype)) continue;
      offsets_[i] = workspace;
      workspace += align_up(types_[i].bytes(), cast_alignment);
    }
  }

  const std::vector<TensorType>& types() const { return types_; }
  std::unique_ptr<Kernel>& cast(std::size_t i) { return casts_[i]; }
  /// Makes tensor `i` share the widened memory of tensor `from` of `other`.
  void put_in_place(std::size_t i, const Widening& other, std::size_t from) { offsets_[i] = other.offsets_[from]; }

  std::span<const TensorView> bind(std::span<const TensorView> given, std::span<std::byte> workspace) {
    for (std::size_t i = 0; i < given.size(); ++i)
      views_[i].data = casts_[i] != nullptr ? workspace.data() + offsets_[i] : given[i].data;
    return views_;
  }

 private:
  std::vector<TensorType> types_;
  std::vector<std::unique_ptr<Kernel>> casts_;  // null where the type stays
  std::vector<std::size_t> offsets_;
  std::vector<TensorView> views_;
};

class WidenedKernel final : public Kernel {
 public:
  WidenedKernel(const Op& op, const Signature& signature, Device& device, Planner plan, IsNarrow is_narrow)
      : inputs_(signature.inputs, own_bytes_, is_narrow), outputs_(signature.outputs, own_bytes_, is_narrow) {
    for (const Alias& alias : op.aliases()) {
      if (alias.kind != Alias::Kind::in_place) continue;
      outputs_.put_in_place(static_cast<std::size_t>(alias.output), inputs_, static_cast<std::size_t>(alias.input));
    }
    for (std::size_t i = 0; i < signature.inputs.size(); ++i)
      plan_cast_between(signature.inputs[i], inputs_.types()[i], device, inputs_.cast(i));
    for (std::size_t i = 0; i < signature.outputs.size(); ++i)
      plan_cast_between(outputs_.types()[i], signature.outputs[i], device, outputs_.cast(i));
    kernel_ = plan(op, {inputs_.types(), outputs_.types()}, device);
    implementation_ = "float32:" + std::string(kernel_->implementation());
  }

  std::string_view implementation() const override { return implementation_; }
  std::size_t workspace_bytes() const override { return own_bytes_ + kernel_->workspace_bytes(); }

  void run(Stream& stream, std::span<const TensorView> inputs, std::span<const TensorView> outputs,
           std::span<std::byte> workspace) override {
    const auto wide_inputs = inputs_.bind(inputs, workspace), wide_outputs = outputs_.bind(outputs, workspace);
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (Kernel* cast = inputs_.cast(i).get()) cast->run(stream, inputs.subspan(i, 1), wide_inputs.subspan(i, 1), {});
    kernel_->run(stream, wide_inputs, wide_outputs, workspace.subspan(own_bytes_));
    for (std::size_t i = 0; i < outputs.size(); ++i)
      if (Kernel* cast = outputs_.cast(i).get())
        cast->run(stream, wide_outputs.subspan(i, 1), outputs.subspan(i, 1), {});
  }

 private:
  static void plan_cast_between(const TensorType& from, const TensorType& to, Device& device,
                                std::unique_ptr<Kernel>& cast) {
    if (from.dtype == to.dtype) return;
    cast = plan_kernel(Cast(to.dtype), {{&from, 1}, {&to, 1}}, device);
    assert(cast->workspace_bytes() == 0);
  }

  std::size_t own_bytes_ = 0;
  Widening inputs_, outputs_;
  std::unique_ptr<Kernel> kernel_;
  std::string implementation_;
};

}  // namespace

bool onednn_computes_in(Dtype dtype) {
  static const bool has_bfloat16 =
      (dnnl_get_effective_cpu_isa() & dnnl_cpu_isa_avx512_core) == dnnl_cpu_isa_avx512_core;
  return dtype == Dtype::bf16 ? has_bfloat16 : dtype != Dtype::f16;
}

bool needs_widening(const Signature& signature) {
  return has_any(signature, [](Dtype dtype) { return !onednn_computes_in(dtype); });
}

bool has_16_bits(Dtype dtype) {
  return dtype == Dtype::f16 || dtype == Dtype::bf16;
}

std::unique_ptr<Kernel> plan_widened(const Op& op, const Signature& signature, Device& device, Planner plan,
                                     IsNarrow is_narrow) {
  return std::make_unique<WidenedKernel>(op, signature, device, plan, is_narrow);
}

std::unique_ptr<Kernel> plan_in_float32(const Op& op, const Signature& signature, Device& device, Planner plan) {
  if (!has_any(signature, &has_16_bits)) return plan(op, signature, device);
  if (auto chain = plan_as_chain(op, signature, device)) return chain;
  return plan_widened(op, signature, device, plan, &has_16_bits);
}

}  // namespace gpubench::cpu
