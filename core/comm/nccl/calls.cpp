#include "core/comm/nccl/calls.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/error.h"

namespace gpubench::nccl {
namespace {

struct Elements {
  ncclDataType_t type;
  std::size_t count;
};

/// As NCCL moves them: types that it does not know as bytes, which only sums and maxima mind.
Elements elements_of(const TensorType& type) {
  const auto count = static_cast<std::size_t>(type.elements());
  switch (type.dtype) {
    case Dtype::f32:
      return {ncclFloat32, count};
    case Dtype::f16:
      return {ncclFloat16, count};
    case Dtype::bf16:
      return {ncclBfloat16, count};
    case Dtype::i64:
      return {ncclInt64, count};
    case Dtype::i32:
      return {ncclInt32, count};
    case Dtype::i8:
      return {ncclInt8, count};
    default:
      return {ncclUint8, type.bytes()};
  }
}

bool can_reduce(Dtype dtype, Reduction reduction) {
  if (dtype == Dtype::boolean) return reduction == Reduction::max;
  return dtype != Dtype::i16 && dtype != Dtype::bytes;
}

bool reduces(CollectiveKind kind) {
  return kind == CollectiveKind::all_reduce || kind == CollectiveKind::reduce_scatter;
}

void check_parts(const Collective& collective, int size) {
  const bool gathers = collective.kind == CollectiveKind::all_gather;
  if (!gathers && collective.kind != CollectiveKind::reduce_scatter) return;
  const bool pair = collective.tensors.size() == 2;
  const TensorType* const part = pair ? collective.tensors[gathers ? 0 : 1].type : nullptr;
  const TensorType* const whole = pair ? collective.tensors[gathers ? 1 : 0].type : nullptr;
  if (pair && part->dtype == whole->dtype && part->elements() * size == whole->elements()) return;
  throw Error(fmt::format(
      "{} of {} ranks takes a part and a whole of {} such parts; got {}", to_string(collective.kind), size, size,
      pair ? to_string(*part) + " and " + to_string(*whole) : fmt::format("{} tensors", collective.tensors.size())));
}

}  // namespace

void check_possible(const Collective& collective, int size) {
  check_parts(collective, size);
  if (collective.kind == CollectiveKind::broadcast && (collective.root < 0 || collective.root >= size)) {
    throw Error(fmt::format("broadcast: rank {} is none of the {} ranks, which count from 0", collective.root, size));
  }
  if (!reduces(collective.kind)) return;
  for (const TensorView& tensor : collective.tensors) {
    if (can_reduce(tensor.type->dtype, collective.reduction)) continue;
    throw Error(fmt::format("{}: NCCL has no {} of {}; cast it first", to_string(collective.kind),
                            collective.reduction == Reduction::sum ? "sum" : "maximum", to_string(tensor.type->dtype)));
  }
}

ncclResult_t call(const Collective& collective, ncclComm_t comm, cudaStream_t stream) {
  const Functions& nccl = functions();
  const ncclRedOp_t reduction = collective.reduction == Reduction::sum ? ncclSum : ncclMax;
  const auto& tensors = collective.tensors;
  if (collective.kind == CollectiveKind::all_gather) {
    const Elements part = elements_of(*tensors[0].type);
    return nccl.all_gather(tensors[0].data, tensors[1].data, part.count, part.type, comm, stream);
  }
  if (collective.kind == CollectiveKind::reduce_scatter) {
    const Elements part = elements_of(*tensors[1].type);
    return nccl.reduce_scatter(tensors[0].data, tensors[1].data, part.count, part.type, reduction, comm, stream);
  }
  ncclResult_t status = ncclSuccess;
  for (const TensorView& tensor : tensors) {
    const Elements all = elements_of(*tensor.type);
    if (all.count == 0) continue;
    status = collective.kind == CollectiveKind::all_reduce
                 ? nccl.all_reduce(tensor.data, tensor.data, all.count, all.type, reduction, comm, stream)
                 : nccl.broadcast(tensor.data, tensor.data, all.count, all.type, collective.root, comm, stream);
    if (status != ncclSuccess && status != ncclInProgress) return status;
  }
  return status;
}

}  // namespace gpubench::nccl
