// One op planned for the CPU with memory of its own: what the benchmarks of kernels run in their loops.
#pragma once
#include <algorithm>
#include <benchmark/benchmark.h>
#include <vector>

#include "core/base/clock.h"
#include "core/graph/op.h"

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

/// measure_runs of the op's kernel, and the rates of floating-point operations and bytes.
void measure_op(benchmark::State& state, const OpPtr& op, std::vector<TensorType> inputs);

}  // namespace gpubench::bench
