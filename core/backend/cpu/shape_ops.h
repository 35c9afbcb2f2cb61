// Kernels of core/ops/shape_ops.h: copies that look at the size of elements only. (Reshape is a view and has none.)
#pragma once
#include <memory>

#include "core/backend/backend.h"
#include "core/ops/reverse.h"
#include "core/ops/shape_ops.h"

namespace gpubench::cpu {

std::unique_ptr<Kernel> plan_transpose(const Transpose& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_reverse(const Reverse& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_slice(const Slice& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_slice_gradient(const SliceGradient& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_concat(const Concat& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_broadcast_to(const BroadcastTo& op, const Signature& signature, Device& device);

}  // namespace gpubench::cpu
