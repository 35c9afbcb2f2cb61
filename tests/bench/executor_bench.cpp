// What the executors add to their kernels: a chain of element-wise ops on one number each, whose arithmetic takes a few
// nanoseconds. The figure to read is per_op; the bar of the graph executor is 2 microseconds.
#include <array>
#include <benchmark/benchmark.h>

#include "core/exec/executor.h"
#include "core/ops/elementwise.h"

namespace gpubench::bench {
namespace {

constexpr int chain_length = 100;

void run_chain(benchmark::State& state, Execution execution) {
  const Devices devices{DeviceConfig{}};
  Runtime runtime(devices);
  Graph graph;
  Value value = graph.input({{1}, Dtype::f32}, "x");
  for (int i = 0; i < chain_length; ++i) value = ops::neg(graph, value);
  ExecutorOptions options{.execution = execution};
  options.passes.disabled.insert("fuse_elementwise");  // else it is one kernel
  const auto executor = make_executor(runtime, std::move(graph), {value}, options);
  const HostTensor x = HostTensor::zeros({{1}, Dtype::f32});
  const std::array inputs{x.view()};
  for (auto _ : state) executor->run(inputs);
  state.counters["per_op"] =
      benchmark::Counter(chain_length, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void graph_executor_overhead(benchmark::State& state) {
  run_chain(state, Execution::graph);
}

void eager_executor_overhead(benchmark::State& state) {
  run_chain(state, Execution::eager);
}

BENCHMARK(graph_executor_overhead);
BENCHMARK(eager_executor_overhead);

}  // namespace
}  // namespace gpubench::bench
