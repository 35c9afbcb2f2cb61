// One op planned for the CPU with memory of its own: what the benchmarks of kernels run in their loops.
#pragma once
#include <algorithm>
#include <benchmark/benchmark.h>
#include <memory>
#include <vector>

#include "core/backend/backend.h"
#include "core/base/clock.h"
#include "core/tensor/host_tensor.h"

namespace gpubench::bench {

/// The loop of a benchmark: one run per iteration. Adds the fastest single run, which is what counts on a machine that
/// others use too.
template <class Run>
void measure_runs(benchmark::State& state, Run&& run) {
  Seconds fastest(1e9);
  for (auto _ : state) {
    const Stopwatch watch;
    run();
    fastest = std::min(fastest, watch.elapsed());
  }
  state.counters["fastest_us"] = fastest.count() * 1e6;
}

class PlannedOp {
 public:
  /// Floating inputs are uniform in [-1, 1); integers are 0.
  PlannedOp(OpPtr op, std::vector<TensorType> inputs);
  void run();
  /// measure_runs, and the rates of floating-point operations and bytes.
  void measure(benchmark::State& state);

 private:
  OpPtr op_;
  std::vector<TensorType> input_types_, output_types_;
  std::unique_ptr<Kernel> kernel_;
  std::unique_ptr<Stream> stream_;
  std::vector<HostTensor> tensors_;
  std::vector<TensorView> inputs_, outputs_;
  HostTensor workspace_;
};

}  // namespace gpubench::bench
