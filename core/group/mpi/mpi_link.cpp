#include "core/group/mpi/mpi_link.h"

#include <cassert>
#include <cstdlib>
#include <fmt/format.h>
#include <limits>
#include <optional>
#include <sched.h>
#include <thread>
#include <utility>

#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/base/waiting.h"

namespace gpubench {
namespace {

constexpr int looks_per_clock = 16;
// One that sleeps leaves its processor to pipelines; waking up takes some 50 µs.
constexpr auto shortest_nap = std::chrono::microseconds(20), longest_nap = std::chrono::microseconds(200);

}  // namespace

MpiLink::MpiLink() {
  // Between processes of one machine Open MPI copies up to 4 KiB through memory they share; what is longer the receiver
  // fetches by a call of the kernel, which takes longer than the copy (for 64 KiB in two parts 13 us in place of 4).
  // This is 32 KiB and what goes before them. What the user has set stands.
  setenv("OMPI_MCA_btl_vader_eager_limit", "33024", 0);
  int provided = 0;
  library_.check(library_.init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided), "MPI_Init_thread");
  if (provided < MPI_THREAD_MULTIPLE) {
    throw Error("this MPI library was built without MPI_THREAD_MULTIPLE, which exchanges beside kernels need");
  }
  library_.check(library_.comm_set_errhandler(library_.world, library_.errors_return), "MPI_Comm_set_errhandler");
  library_.check(library_.comm_rank(library_.world, &rank_), "MPI_Comm_rank");
  library_.check(library_.comm_size(library_.world, &size_), "MPI_Comm_size");
}

void MpiLink::finish() {
  if (!std::exchange(finished_, true) && (watch_ == nullptr || !watch_->lost().is_set())) library_.finalize();
}

MpiTransfers::~MpiTransfers() {
  cancel();
}

void MpiTransfers::send(int to, const void* data, std::size_t bytes) {
  assert(bytes <= std::numeric_limits<int>::max());
  requests_.emplace_back();
  is_receive_.push_back(0);
  const MpiLibrary& mpi = link_->library();
  mpi.check(mpi.isend(data, static_cast<int>(bytes), mpi.byte, to, channel_, mpi.world, &requests_.back()),
            "MPI_Isend");
}

void MpiTransfers::receive(int from, void* data, std::size_t bytes) {
  assert(bytes <= std::numeric_limits<int>::max());
  requests_.emplace_back();
  is_receive_.push_back(1);
  const MpiLibrary& mpi = link_->library();
  mpi.check(mpi.irecv(data, static_cast<int>(bytes), mpi.byte, from, channel_, mpi.world, &requests_.back()),
            "MPI_Irecv");
}

bool MpiTransfers::done() {
  int all = 0;
  const MpiLibrary& mpi = link_->library();
  mpi.check(mpi.testall(static_cast<int>(requests_.size()), requests_.data(), &all, MPI_STATUSES_IGNORE),
            "MPI_Testall");
  if (all == 0) return false;
  requests_.clear();
  is_receive_.clear();
  return true;
}

void MpiTransfers::check_end() const {
  if (link_->watch() != nullptr && link_->watch()->lost().is_set()) link_->watch()->lost().raise();
  if (end_ != nullptr && end_->is_set()) end_->raise();
  check_interrupt();
}

void MpiTransfers::wait(Patience patience) {
  for (int look = 0; look < looks_per_clock; ++look) {
    if (done()) return;
  }
  const Clock::time_point sleep_at = Clock::now() + spin_time;
  while (Clock::now() < sleep_at) {
    for (int look = 0; look < looks_per_clock; ++look) {
      if (done()) return;
    }
    check_end();
  }
  std::optional<PeerWatch::Waiting> waiting;
  if (link_->watch() != nullptr) waiting.emplace(*link_->watch());
  Clock::duration nap = shortest_nap;
  while (!done()) {
    check_end();
    if (patience == Patience::hot) {
      sched_yield();
    } else {
      std::this_thread::sleep_for(nap);
      nap = std::min<Clock::duration>(nap * 2, longest_nap);
    }
  }
}

// What a receive still gets would be written into memory that has another use by then. Sends only read.
void MpiTransfers::cancel() {
  if (requests_.empty()) return;
  const MpiLibrary& mpi = link_->library();
  std::vector<MPI_Request> receives;
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (is_receive_[i] == 0 || requests_[i] == nullptr) continue;
    mpi.cancel(&requests_[i]);
    receives.push_back(requests_[i]);
  }
  // One that is half done ends with its message, for which a lost peer may be needed.
  const Clock::time_point give_up = Clock::now() + std::chrono::seconds(1);
  for (int all = 0; all == 0 && Clock::now() < give_up;) {
    if (mpi.testall(static_cast<int>(receives.size()), receives.data(), &all, MPI_STATUSES_IGNORE) != MPI_SUCCESS)
      break;
  }
  requests_.clear();
}

}  // namespace gpubench
