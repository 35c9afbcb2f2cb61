// A row of four element-wise ops, joined into one kernel and one after the other: what the pass saves, by the number of
// elements. The step of both is what the graph executor runs.
#include <array>
#include <benchmark/benchmark.h>

#include "core/exec/executor.h"
#include "core/ops/elementwise.h"
#include "core/ops/reduce.h"
#include "tests/bench/planned_op.h"

namespace gpubench::bench {
namespace {

enum class Mix : std::uint8_t { cheap, heavy, rows };

/// Four ops on `x`: additions and products alone, with an exponential and a hyperbolic tangent, with rows of ten.
Value four_ops(Graph& graph, Mix mix, Value x, Value scale, Value row) {
  if (mix == Mix::cheap) {
    return ops::relu(graph, ops::add(graph, ops::mul(graph, ops::sub(graph, x, scale), x), scale));
  }
  if (mix == Mix::heavy) {
    return ops::exp(graph, ops::neg(graph, ops::tanh(graph, ops::mul(graph, x, scale))));
  }
  return ops::relu(graph, ops::add(graph, ops::mul(graph, ops::sub(graph, x, row), scale), row));
}

void chain(benchmark::State& state, Mix mix, bool joined) {
  const Devices devices{DeviceConfig{}};
  Runtime runtime(devices);
  const std::int64_t rows = state.range(0) / 10;
  const HostTensor x = HostTensor::zeros({{rows, 10}, Dtype::f32});
  const VariablePtr scale = runtime.variables().create("scale", HostTensor::zeros({{}, Dtype::f32}), {});
  const VariablePtr row = runtime.variables().create("row", HostTensor::zeros({{10}, Dtype::f32}), {});
  Graph graph;
  const Value result = four_ops(graph, mix, graph.input(x.type(), "x"), graph.variable(scale), graph.variable(row));
  ExecutorOptions options{.inputs_on_device = true, .inputs_in_place = true};
  if (!joined) options.passes.disabled.insert("fuse_elementwise");
  const auto executor = make_executor(runtime, std::move(graph), {result}, options);
  const std::array inputs{x.view()};
  executor->run(inputs);
  measure_runs(state, [&] { executor->run(inputs); });
}

void sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgName("elements")->UseRealTime()->Unit(benchmark::kMicrosecond);
  benchmark->Arg(1000)->Arg(100000)->Arg(10000000);
}

BENCHMARK_CAPTURE(chain, cheap_joined, Mix::cheap, true)->Apply(sizes);
BENCHMARK_CAPTURE(chain, cheap_apart, Mix::cheap, false)->Apply(sizes);
BENCHMARK_CAPTURE(chain, heavy_joined, Mix::heavy, true)->Apply(sizes);
BENCHMARK_CAPTURE(chain, heavy_apart, Mix::heavy, false)->Apply(sizes);
BENCHMARK_CAPTURE(chain, rows_joined, Mix::rows, true)->Apply(sizes);
BENCHMARK_CAPTURE(chain, rows_apart, Mix::rows, false)->Apply(sizes);

}  // namespace
}  // namespace gpubench::bench
