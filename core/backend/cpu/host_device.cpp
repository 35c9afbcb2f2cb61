#include "core/backend/cpu/host_device.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <fmt/format.h>
#include <omp.h>
#include <span>
#include <utility>

#include "core/backend/cpu/processor.h"
#include "core/base/clock.h"
#include "core/base/denormals.h"
#include "core/base/error.h"
#include "core/base/host_memory.h"
#include "core/base/thread_team.h"
#include "core/device/bound_thread.h"

namespace gpubench {
namespace {

class HostMemory final : public MemorySource {
 public:
  std::byte* allocate(std::size_t bytes) override { return allocate_host_memory(bytes, MemoryPool::alignment); }
  void release(std::byte* memory, std::size_t bytes) override { free_host_memory(memory, bytes); }
  std::string limit() const override { return host_memory_limit(); }
};

class HostEvent final : public Event {
 public:
  bool ready() const override { return true; }
  void wait() const override {}
  Seconds since(const Event& earlier) const override { return at_ - static_cast<const HostEvent&>(earlier).at_; }
  void mark() { at_ = Clock::now(); }

 private:
  Clock::time_point at_;
};

class HostStream final : public Stream {
 public:
  explicit HostStream(std::atomic<Clock::rep>& copy_ticks) : copy_ticks_(copy_ticks) {}
  void record(Event& event) override { static_cast<HostEvent&>(event).mark(); }
  void wait_for(const Event& event) override { event.wait(); }
  void copy(void* destination, const void* source, std::size_t bytes) override {
    const Clock::time_point begin = Clock::now();
    if (bytes > 0) std::memcpy(destination, source, bytes);  // what is empty may have no place
    copy_ticks_.fetch_add((Clock::now() - begin).count(), std::memory_order_relaxed);
  }
  void synchronize() override {}

 private:
  std::atomic<Clock::rep>& copy_ticks_;
};

int checked_threads(const DeviceId& id, int threads) {
  if (threads < 1 || threads > most_cpu_threads) {
    throw Error(fmt::format("{}: {} threads; 1 to {} are possible", to_string(id), threads, most_cpu_threads));
  }
  if (threads > team_limit()) {
    throw Error(fmt::format("{}: {} threads; OMP_THREAD_LIMIT allows {}", to_string(id), threads, team_limit()));
  }
  return threads;
}

/// The members of this thread's team, but for itself.
void bind_team(int threads, std::span<const int> processors) {
  std::exception_ptr failure;
#pragma omp parallel num_threads(threads) if (threads > 1)
  if (omp_get_thread_num() != 0) {
    try {
      bind_thread(processors);
    } catch (const Error&) {
#pragma omp critical
      failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace

HostDevice::HostDevice(DeviceId id, const CpuDeviceOptions& options)
    : id_(std::move(id)),
      threads_(checked_threads(id_, options.threads)),
      node_(options.node),
      memory_(to_string(id_), std::make_unique<HostMemory>(), options.memory),
      stream_(std::make_unique<HostStream>(copy_ticks_)) {}

std::string HostDevice::description() const {
  return fmt::format("{}, {} thread{}{}", processor_name(), threads_, threads_ == 1 ? "" : "s",
                     node_ ? fmt::format(", on memory node {}", node_->index) : std::string());
}

std::unique_ptr<Stream> HostDevice::new_stream() {
  return std::make_unique<HostStream>(copy_ticks_);
}

std::unique_ptr<Event> HostDevice::new_event() {
  return std::make_unique<HostEvent>();
}

void HostDevice::bind_to_thread() {
  constexpr int nowhere = -1;
  thread_local int team = 0, team_node = nowhere;  // of the threads that OpenMP's library keeps for this one
  thread_local bool was_bound = false;
  const int node = node_ ? node_->index : nowhere;
  // A device of one thread leaves the team of another one as it is: to end and begin its threads takes longer than most
  // kernels.
  if (team_node == node && (team == threads_ || (threads_ == 1 && team > 0))) return omp_set_num_threads(threads_);
  // OpenMP's library ends the process where it cannot start a thread of a team.
  if (threads_ > std::max(team, 1)) check_more_threads(threads_ - std::max(team, 1));
  omp_set_dynamic(0);
  omp_set_num_threads(threads_);
  int given = 1;
#pragma omp parallel num_threads(threads_)
  {
    flush_denormals();
    if (omp_get_thread_num() == 0) given = omp_get_num_threads();
  }
  if (given < threads_) {
    throw Error(
        fmt::format("{}: OpenMP gives {} of {} threads, so that kernels would leave out work; --threads {} is possible",
                    to_string(id_), given, threads_, given));
  }
  was_bound = was_bound || node_;
  if (was_bound) bind_team(threads_, node_ ? node_->processors : process_processors());
  team = threads_;
  team_node = node;
}

void place_on_memory_nodes(std::vector<CpuDeviceOptions>& devices) {
  if (devices.size() < 2 || omp_get_proc_bind() != omp_proc_bind_false) return;
  const std::vector<MemoryNode> nodes = nodes_with(read_memory_nodes(), process_processors());
  std::vector<int> threads;
  for (const CpuDeviceOptions& device : devices) threads.push_back(device.threads);
  const std::vector<int> places = nodes_of_devices(nodes, threads);
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (places[i] >= 0) devices[i].node = nodes[static_cast<std::size_t>(places[i])];
  }
}

}  // namespace gpubench
