#include "core/comm/nccl/nccl_communicator.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <utility>

#include "core/backend/cuda/cuda_stream.h"
#include "core/backend/cuda/status.h"
#include "core/comm/collective_check.h"
#include "core/comm/nccl/queued_calls.h"

namespace gpubench::nccl {
namespace {

/// How long the end of a rank waits for what is still queued.
constexpr Seconds at_the_end{5};

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
  mine_.comm.queue(call, [&](ncclComm_t comm) { return nccl::call(collective, comm, handle); });
  team_->settle(mine_, call);
}

void NcclCommunicator::queue(const Collective& collective, Stream& stream) {
  submit(collective, stream);
  // What is recorded is counted when it is launched.
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
  mine_.progress.expect(*beside_);
  beside_->synchronize();
  check();
}

void NcclCommunicator::check() {
  mine_.comm.check_alive();
}

void NcclCommunicator::launched(Stream& stream, std::int64_t collectives, double bytes) {
  check();
  mine_.progress.expect(stream);
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
