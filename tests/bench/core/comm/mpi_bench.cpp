// Our all-reduce over messages against MPI's own, in one program, taking turns (A B B A): mpirun -n 2
// gpubench_mpi_bench The figure is the fastest round, as neighbours on a shared machine only ever add to a
// time.
#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <functional>
#include <vector>

#include "core/backend/cpu/host_device.h"
#include "core/base/clock.h"
#include "core/comm/factory.h"
#include "core/group/join.h"
#include "core/group/mpi/mpi_library.h"

namespace gpubench {
namespace {

constexpr std::size_t least_bytes = std::size_t{4} << 10, most_bytes = std::size_t{64} << 20;
constexpr int rounds = 8;
constexpr std::size_t bytes_per_turn = std::size_t{64} << 20;

/// Of one all-reduce, on average: a single one may find the other's message waiting for it.
Seconds time_of(ProcessGroup& group, std::size_t repetitions, const std::function<void()>& reduce) {
  group.barrier();
  const Stopwatch watch;
  for (std::size_t i = 0; i < repetitions; ++i) reduce();
  return watch.elapsed() / static_cast<double>(repetitions);
}

int run() {
  const std::unique_ptr<ProcessGroup> group = join_process_group({});
  if (!group) {
    std::fputs("start this with mpirun -n 2\n", stderr);
    return 2;
  }
  const MpiLibrary mpi;
  const std::unique_ptr<Communicator> communicator = make_communicator(*group);
  HostDevice device({}, {});
  for (std::size_t bytes = least_bytes; bytes <= most_bytes; bytes *= 2) {
    std::vector<float> values(bytes / sizeof(float), 1.0F);
    const TensorType type{{static_cast<std::int64_t>(values.size())}, Dtype::f32};
    const Collective collective{.tensors = {{&type, reinterpret_cast<std::byte*>(values.data())}}};
    const std::function<void()> ours = [&] { communicator->run(collective, device.stream()); };
    const std::function<void()> theirs = [&] {
      mpi.allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), mpi.f32, mpi.sum, mpi.world);
    };
    const std::size_t repetitions = std::clamp<std::size_t>(bytes_per_turn / bytes, 3, 300);
    Seconds our_time{1e9}, their_time{1e9};
    for (int round = 0; round < rounds; ++round) {
      our_time = std::min(our_time, time_of(*group, repetitions, ours));
      their_time = std::min(their_time, time_of(*group, repetitions, theirs));
      their_time = std::min(their_time, time_of(*group, repetitions, theirs));
      our_time = std::min(our_time, time_of(*group, repetitions, ours));
      std::fill(values.begin(), values.end(), 1.0F);
    }
    if (group->rank() != 0) continue;
    fmt::print("{:>10} bytes: mpi ({}) {:10.1f} us, MPI_Allreduce {:10.1f} us, ratio {:.3f}\n", bytes,
               communicator->algorithm(collective), 1e6 * our_time.count(), 1e6 * their_time.count(),
               our_time / their_time);
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace gpubench

int main() {
  return gpubench::run();
}
