// All-reduce of two one-thread ranks against copies by two threads, by bytes moved. In place, a sum of S bytes on n
// ranks reads n S and writes n S: 2 n S in all. Copies of S bytes by n threads at once read n S and write n S too. Both
// are measured in turn (A B B A), each round with all threads starting together; the medians count.
//
//   comm_local_bench [ranks] [seconds per size] [parts | ring]
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <functional>
#include <thread>
#include <vector>

#include "core/backend/cpu/host_device.h"
#include "core/comm/factory.h"

namespace gpubench {
namespace {

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

struct Rank {
  std::unique_ptr<HostDevice> device;
  Buffer sums, from, to;
  TensorType type;
};

class Bench {
 public:
  Bench(int ranks, std::size_t bytes, std::optional<LocalAlgorithm> algorithm) {
    for (int i = 0; i < ranks; ++i) {
      Rank& rank = ranks_.emplace_back();
      rank.device = std::make_unique<HostDevice>(DeviceId{DeviceId::Kind::cpu, static_cast<std::int16_t>(i), ""},
                                                 CpuDeviceOptions{});
      rank.type = {{static_cast<std::int64_t>(bytes / sizeof(float))}, Dtype::f32};
      for (Buffer* const buffer : {&rank.sums, &rank.from, &rank.to}) {
        *buffer = rank.device->memory().allocate(bytes, "bench");
        std::memset(buffer->data(), 0, bytes);
      }
      devices_.push_back(rank.device.get());
    }
    communicators_ = make_communicators(devices_, CrossDevice::local, nullptr, algorithm);
  }

  /// What the communicators take.
  std::string algorithm() const {
    return communicators_[0]->algorithm({.tensors = {{&ranks_[0].type, ranks_[0].sums.data()}}});
  }

  /// Median seconds of a sum and of a copy, all threads counted from the start of the first to the end of the last.
  std::pair<double, double> measure(Seconds duration, int repeats) {
    std::vector<double> sums, copies;
    std::atomic<bool> stop = false;
    const auto body = [&](std::size_t index) {
      Rank& rank = ranks_[index];
      Communicator& communicator = *communicators_[index];
      rank.device->bind_to_thread();
      const Collective sum{.tensors = {{&rank.type, rank.sums.data()}}};
      const auto add = [&] { communicator.run(sum, rank.device->stream()); };
      const auto copy = [&] { std::memcpy(rank.to.data(), rank.from.data(), rank.from.bytes()); };
      const auto timed = [&](const auto& work, std::vector<double>& times) {
        communicator.barrier();
        const Stopwatch watch;
        for (int repeat = 0; repeat < repeats; ++repeat) work();
        communicator.barrier();
        if (index == 0) times.push_back(watch.elapsed().count() / repeats);
      };
      add();
      copy();
      const Stopwatch all;
      while (!stop) {
        timed(add, sums);
        timed(copy, copies);
        timed(copy, copies);
        timed(add, sums);
        if (index == 0 && all.elapsed() > duration) stop = true;
        communicator.barrier();
      }
    };
    std::vector<std::thread> threads;
    for (std::size_t index = 0; index < ranks_.size(); ++index) threads.emplace_back(body, index);
    for (std::thread& thread : threads) thread.join();
    return {median(sums), median(copies)};
  }

 private:
  std::vector<Rank> ranks_;
  std::vector<Device*> devices_;
  std::vector<std::unique_ptr<Communicator>> communicators_;
};

void run(int ranks, Seconds duration, std::optional<LocalAlgorithm> algorithm) {
  fmt::print("{:>8} {:>12} {:>12} {:>12} {:>12} {:>12} {:>8}\n", "way", "bytes", "sum us", "copy us", "sum GB/s",
             "copy GB/s", "share");
  for (std::size_t bytes = 256; bytes <= std::size_t{256} << 20; bytes *= bytes >= 1 << 20 ? 4 : 2) {
    Bench bench(ranks, bytes, algorithm);
    const auto [sum, copy] = bench.measure(duration, bytes <= 1 << 20 ? 50 : 1);
    const double moved = 2.0 * ranks * static_cast<double>(bytes);
    fmt::print("{:>8} {:>12} {:>12.2f} {:>12.2f} {:>12.2f} {:>12.2f} {:>7.0f}%\n", bench.algorithm(), bytes, sum * 1e6,
               copy * 1e6, moved / sum / 1e9, moved / copy / 1e9, 100 * copy / sum);
  }
}

}  // namespace
}  // namespace gpubench

int main(int argc, char** argv) {
  const auto chosen = argc > 3 ? std::optional(gpubench::parse_local_algorithm(argv[3])) : std::nullopt;
  gpubench::run(argc > 1 ? std::atoi(argv[1]) : 2, gpubench::Seconds(argc > 2 ? std::atof(argv[2]) : 1.0), chosen);
}
