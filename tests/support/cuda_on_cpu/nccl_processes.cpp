#include "tests/support/cuda_on_cpu/nccl_processes.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <new>
#include <sys/mman.h>
#include <unistd.h>

namespace gpubench::cuda_on_cpu {
namespace {

/// The tests' machinery cannot go on: there is no error of NCCL that would say so.
[[noreturn]] void give_up(const char* what, const std::string& name) {
  std::fprintf(stderr, "the NCCL that runs on the CPU: %s (%s)\n", what, name.c_str());
  std::abort();
}

}  // namespace

/// Begins as zeros, as the file does.
struct alignas(4096) NcclProcesses::Seat {
  std::atomic<std::uint32_t> sits;
  std::atomic<std::uint64_t> brought, taken;
  NcclPart part;  // addresses are of the process that brought it
  alignas(4096) std::byte bytes[most_bytes];
};

NcclProcesses::NcclProcesses(const std::string& id, int size)
    : name_("/" + id), size_(size), bytes_(sizeof(Seat) * static_cast<std::size_t>(size)) {
  const int file = ::shm_open(name_.c_str(), O_RDWR | O_CREAT, 0600);
  if (file < 0 || ::ftruncate(file, static_cast<off_t>(bytes_)) != 0) give_up("no shared memory", name_);
  void* const memory = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  if (memory == MAP_FAILED) give_up("no shared memory", name_);
  memory_ = static_cast<std::byte*>(memory);
}

NcclProcesses::~NcclProcesses() {
  ::shm_unlink(name_.c_str());
  ::munmap(memory_, bytes_);
}

NcclProcesses::Seat& NcclProcesses::seat(int rank) const {
  return *std::launder(reinterpret_cast<Seat*>(memory_ + sizeof(Seat) * static_cast<std::size_t>(rank)));
}

void NcclProcesses::sit(int rank) {
  seat(rank).sits = 1;
}

bool NcclProcesses::all_sit() {
  for (int rank = 0; rank < size_; ++rank) {
    if (seat(rank).sits == 0) return false;
  }
  ::shm_unlink(name_.c_str());  // all have it; the first to see that takes the name away
  return true;
}

std::uint64_t NcclProcesses::brought(int rank) const {
  return seat(rank).brought;
}

std::uint64_t NcclProcesses::taken(int rank) const {
  return seat(rank).taken;
}

void NcclProcesses::bring(int rank, const NcclPart& part) {
  const std::size_t bytes = bytes_in(part, static_cast<std::size_t>(size_));
  if (bytes > most_bytes) give_up("a collective between processes is too large", name_);
  Seat& own = seat(rank);
  own.part = part;
  std::memcpy(own.bytes, part.from, bytes);
  ++own.brought;
}

std::vector<NcclPart> NcclProcesses::parts() const {
  std::vector<NcclPart> all;
  for (int rank = 0; rank < size_; ++rank) {
    all.push_back(seat(rank).part);
    all.back().from = seat(rank).bytes;
    all.back().to = nullptr;
  }
  return all;
}

void NcclProcesses::take(int rank) {
  ++seat(rank).taken;
}

}  // namespace gpubench::cuda_on_cpu
