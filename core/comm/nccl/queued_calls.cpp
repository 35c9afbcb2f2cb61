#include "core/comm/nccl/queued_calls.h"

namespace gpubench::nccl {
namespace {

struct Elements {
  ncclDataType_t type;
  std::size_t count;
};

/// As NCCL moves them: types that it does not know as bytes, which only sums and maxima would mind.
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

}  // namespace

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
