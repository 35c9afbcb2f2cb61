#include "core/comm/nccl/abortable_comm.h"

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/waiting.h"

namespace gpubench::nccl {
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

bool AbortableComm::settled(std::string_view call) {
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

}  // namespace gpubench::nccl
