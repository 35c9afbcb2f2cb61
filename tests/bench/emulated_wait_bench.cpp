// How late a host returns that waits for an emulated device: the counters are microseconds after the end of the work.
#include <algorithm>
#include <benchmark/benchmark.h>
#include <vector>

#include "core/backend/emulated/emulated_backend.h"
#include "core/backend/emulated/emulated_stream.h"
#include "core/device/device.h"

namespace gpubench {
namespace {

void emulated_wait(benchmark::State& state) {
  EmulatedBackend backend{BackendConfig{}};
  Stream& stream = backend.named(parse_device_id("emulated:h200:0"))->stream();
  auto& clock = static_cast<EmulatedStream&>(stream);
  std::vector<double> late_us;
  for (auto _ : state) {
    const Clock::time_point end = Clock::now() + std::chrono::microseconds(state.range(0));
    clock.wait_until(end);
    stream.synchronize();
    late_us.push_back(Seconds(Clock::now() - end).count() * 1e6);
  }
  std::ranges::sort(late_us);
  state.counters["median_us"] = late_us[late_us.size() / 2];
  state.counters["p99_us"] = late_us[late_us.size() * 99 / 100];
}
BENCHMARK(emulated_wait)->ArgName("work_us")->Arg(30)->Arg(500)->Arg(5000)->Iterations(400);

}  // namespace
}  // namespace gpubench
