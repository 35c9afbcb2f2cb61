#include "core/comm/nccl/nccl_communicator.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <utility>

#include "core/backend/cuda/cuda_stream.h"
#include "core/backend/cuda/status.h"
#include "core/comm/collective.h"

namespace gpubench::nccl {
namespace {

/// How long closing a rank waits for queued work.
constexpr Seconds at_the_end{5};

struct Elements {
  ncclDataType_t type;
  std::size_t count;
};

/// How NCCL moves a type: types that it lacks as bytes, which is only wrong for sums and maxima.
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

/// Queues all tensors of a collective that check_collective lets pass, within the caller's group; the first failure
/// ends it.
ncclResult_t queue_calls(const Collective& collective, ncclComm_t comm, cudaStream_t stream) {
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

bool is_recorded(Stream& stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  cuda::check(cudaStreamIsCapturing(cuda::handle_of(stream), &status), "cudaStreamIsCapturing");
  return status != cudaStreamCaptureStatusNone;
}

class NcclSideCollective final : public SideWork {
 public:
  NcclSideCollective(NcclCommunicator& communicator, Collective collective, Device& device, Stream& beside)
      : communicator_(communicator),
        collective_(std::move(collective)),
        beside_(beside),
        reached_(device.new_event()),
        done_(device.new_event()) {}

  void begin(Stream& kernels) override {
    kernels.record(*reached_);
    beside_.wait_for(*reached_);
    communicator_.queue(collective_, beside_);
    beside_.record(*done_);
  }
  void end(Stream& kernels) override {
    communicator_.check();
    kernels.wait_for(*done_);
  }

 private:
  NcclCommunicator& communicator_;
  Collective collective_;
  Stream& beside_;
  std::unique_ptr<Event> reached_, done_;
};

}  // namespace

NcclCommunicator::NcclCommunicator(std::shared_ptr<Team> team, std::size_t local, Device& device, int rank, int size)
    : team_(std::move(team)),
      mine_(team_->rank(local)),
      device_(device),
      rank_(rank),
      size_(size),
      name_(nccl::name()),
      token_(device.memory().allocate(sizeof(float), "what barriers of nccl add up")),
      beside_(device.new_stream()) {}

NcclCommunicator::~NcclCommunicator() {
  mine_.comm.close(std::min(at_the_end, team_->patience()));
}

std::string NcclCommunicator::algorithm(const Collective&) const {
  const char* const algorithm = std::getenv("NCCL_ALGO");
  const char* const protocol = std::getenv("NCCL_PROTO");
  if (algorithm == nullptr) return protocol == nullptr ? "" : protocol;
  return protocol == nullptr ? algorithm : fmt::format("{} {}", algorithm, protocol);
}

void NcclCommunicator::submit(const Collective& collective, Stream& stream) {
  device_.bind_to_thread();
  const std::string_view call = to_string(collective.kind);
  const cudaStream_t handle = cuda::handle_of(stream);
  mine_.comm.queue(call, [&](ncclComm_t comm) { return queue_calls(collective, comm, handle); });
  team_->settle(mine_, call);
}

void NcclCommunicator::queue(const Collective& collective, Stream& stream) {
  submit(collective, stream);
  // Recorded collectives are counted when they are launched.
  if (!is_recorded(stream)) launched(stream, 1, static_cast<double>(collective.bytes()));
}

void NcclCommunicator::run(const Collective& collective, Stream& stream) {
  check_collective(collective, size_);
  queue(collective, stream);
}

std::unique_ptr<SideWork> NcclCommunicator::beside(Collective collective) {
  check_collective(collective, size_);
  device_.bind_to_thread();
  return std::make_unique<NcclSideCollective>(*this, std::move(collective), device_, *beside_);
}

void NcclCommunicator::barrier() {
  const TensorType type{{1}, Dtype::f32};
  Collective all;
  all.tensors.push_back({&type, token_.data()});
  submit(all, *beside_);
  mine_.stall_watch.expect(*beside_);
  beside_->synchronize();
  check();
}

void NcclCommunicator::check() {
  mine_.comm.check_alive();
}

void NcclCommunicator::launched(Stream& stream, std::int64_t collectives, double bytes) {
  check();
  mine_.stall_watch.expect(stream);
  collectives_ += collectives;
  bytes_ += bytes;
}

CommunicationTimes NcclCommunicator::times() const {
  CommunicationTimes times;
  times.collectives = collectives_;
  times.bytes = bytes_;
  return times;
}

}  // namespace gpubench::nccl
