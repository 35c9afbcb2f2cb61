#include "core/comm/nccl/team.h"

#include <chrono>
#include <fmt/format.h>
#include <utility>

#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/base/waiting.h"

namespace gpubench::nccl {
namespace {

constexpr std::chrono::milliseconds between_looks{50};

}  // namespace

AbortableComm::~AbortableComm() {
  abort("it has ended");
}

void AbortableComm::join(const std::string& label, int rank, int size, const ncclUniqueId& id) {
  const std::lock_guard lock(mutex_);
  label_ = label;
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  check(functions().comm_init_rank_config(&comm_, size, id, rank, &config), "ncclCommInitRankConfig", comm_);
}

void AbortableComm::throw_if_lost() const {
  if (!lost_.empty()) throw PeerLost(lost_);
}

void AbortableComm::check_alive() {
  const std::lock_guard lock(mutex_);
  throw_if_lost();
}

void AbortableComm::fail(ncclResult_t status, std::string_view call) {
  if (status == ncclRemoteError) {
    throw PeerLost(fmt::format("{}: NCCL lost another rank in {}: {}", label_, call, reason(status, comm_)));
  }
  check(status, call, comm_);
}

bool AbortableComm::completed(std::string_view call) {
  const std::lock_guard lock(mutex_);
  throw_if_lost();
  ncclResult_t state = ncclSuccess;
  check(functions().comm_get_async_error(comm_, &state), "ncclCommGetAsyncError", comm_);
  if (state == ncclInProgress) return false;
  fail(state, call);
  return true;
}

std::optional<std::string> AbortableComm::trouble() {
  const std::lock_guard lock(mutex_);
  if (!lost_.empty() || comm_ == nullptr) return std::nullopt;
  ncclResult_t state = ncclSuccess;
  const ncclResult_t asked = functions().comm_get_async_error(comm_, &state);
  if (asked != ncclSuccess) state = asked;
  if (state == ncclSuccess || state == ncclInProgress) return std::nullopt;
  return fmt::format("{}: NCCL reports: {}", label_, reason(state, comm_));
}

void AbortableComm::abort(const std::string& reason) noexcept {
  const std::lock_guard lock(mutex_);
  if (lost_.empty()) lost_ = reason;
  if (comm_ == nullptr) return;
  static_cast<void>(functions().comm_abort(comm_));
  comm_ = nullptr;
}

void AbortableComm::close(Seconds patience) noexcept {
  const Stopwatch since;
  const std::lock_guard lock(mutex_);
  if (comm_ == nullptr) return;
  ncclResult_t state = functions().comm_finalize(comm_);
  for (Pause pause; state == ncclInProgress && since.elapsed() < patience; pause()) {
    if (functions().comm_get_async_error(comm_, &state) != ncclSuccess) state = ncclInternalError;
  }
  static_cast<void>(state == ncclSuccess ? functions().comm_destroy(comm_) : functions().comm_abort(comm_));
  comm_ = nullptr;
  lost_ = "it has ended";
}

StallWatch::StallWatch(Device& device) : device_(device), watched_(device.new_event()), newer_(device.new_event()) {}

void StallWatch::expect(Stream& stream) {
  const std::lock_guard lock(mutex_);
  if (waits_) {
    stream.record(*newer_);
    has_newer_ = true;
    return;
  }
  stream.record(*watched_);
  waits_ = true;
  since_ = Clock::now();
}

std::optional<Seconds> StallWatch::stalled() {
  const std::lock_guard lock(mutex_);
  if (!waits_) return std::nullopt;
  try {
    // The query would make a context on GPU 0 for a thread that has selected no GPU.
    device_.bind_to_thread();
    if (!watched_->ready()) return Clock::now() - since_;
  } catch (const Error&) {  // the GPU failed, which the waits for its stream report
    waits_ = has_newer_ = false;
    return std::nullopt;
  }
  if (!has_newer_) {
    waits_ = false;
    return std::nullopt;
  }
  std::swap(watched_, newer_);
  has_newer_ = false;
  since_ = Clock::now();
  return std::nullopt;
}

Team::Team(std::span<Device* const> devices, ProcessGroup* group, Seconds patience)
    : group_(group), patience_(patience) {
  for (Device* const device : devices) {
    device->bind_to_thread();
    ranks_.push_back(std::make_unique<Rank>(*device));
  }
}

Team::~Team() = default;

void Team::watch() {
  watcher_ = std::jthread([this](const std::stop_token& stop) {
    std::unique_lock lock(sleeping_);
    while (!woken_.wait_for(lock, stop, between_looks, [&] { return stop.stop_requested(); })) look();
  });
}

void Team::look() {
  // NCCL itself does not see a process go with which it shares memory.
  if (const std::string lost = group_ == nullptr ? "" : group_->lost(); !lost.empty()) return abort(lost);
  for (const auto& rank : ranks_) {
    if (const std::optional<std::string> trouble = rank->comm.trouble()) return abort(*trouble);
    const std::optional<Seconds> stalled = rank->stall_watch.stalled();
    if (!stalled || *stalled < patience_) continue;
    return abort(fmt::format("{}: nothing was done for {:.3g} s behind a collective: another rank does not take part",
                             rank->comm.label(), patience_.count()));
  }
}

void Team::settle(Rank& rank, std::string_view call) {
  const Stopwatch since;
  for (Pause pause; !rank.comm.completed(call); pause()) {
    check_interrupt();
    if (since.elapsed() < patience_) continue;
    abort(fmt::format("{} waited {:.3g} s in {}: another rank does not take part", rank.comm.label(), patience_.count(),
                      call));
  }
}

void Team::abort(const std::string& reason) noexcept {
  const std::lock_guard lock(aborting_);
  for (const auto& rank : ranks_) rank->comm.abort(reason);
  if (!aborted_ && group_ != nullptr) group_->fail(reason, failed_exit_status);
  aborted_ = true;
}

}  // namespace gpubench::nccl
