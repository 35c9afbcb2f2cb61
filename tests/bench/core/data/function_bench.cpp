// Time per element of functions that maps apply, in blocks: what a run costs beside the arithmetic.
//
//   build/release/tests/bench/core/data/bench_core_data --benchmark_filter=function
#include <array>
#include <benchmark/benchmark.h>
#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "core/data/function/graph_function.h"
#include "core/ops/cast.h"
#include "core/ops/elementwise.h"
#include "core/ops/image.h"

namespace gpubench {
namespace {

/// The batch that a map writes into.
class Slot final : public ElementOutputs {
 public:
  explicit Slot(std::byte* memory) : memory_(memory) {}
  std::byte* place(std::size_t, const TensorType&) override { return memory_; }

 private:
  std::byte* memory_;
};

/// Blocks of range(0) elements of `type` through `function`.
template <class Build>
void run_function(benchmark::State& state, const TensorType& type, const Build& build) {
  TracedElement trace;
  trace.outputs = {build(trace.graph, trace.graph.input(type, "x"))};
  const std::size_t bytes_out = trace.graph.type(trace.outputs[0]).bytes();
  const auto runner = graph_function(std::move(trace))->plan(std::array{type});
  const std::int64_t block = state.range(0);
  std::vector<std::byte> from(static_cast<std::size_t>(block) * type.bytes(), std::byte{63}),
      to(static_cast<std::size_t>(block) * bytes_out);
  const TensorView view{&type, from.data()};
  Slot slot(to.data());
  std::int64_t number = 0;
  for (auto _ : state) {
    runner->run({.number = number, .count = block, .inputs = {&view, 1}}, slot);
    number += block;
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * block);
}

const TensorType digit{{784}, Dtype::f32}, image{{28, 28, 1}, Dtype::f32}, bytes{{28, 28, 1}, Dtype::u8};

void function_identity(benchmark::State& state) {
  run_function(state, digit, [](Graph&, Value x) { return x; });
}

void function_sqrt(benchmark::State& state) {
  run_function(state, digit, [](Graph& graph, Value x) { return ops::sqrt(graph, x); });
}

void function_bytes_to_floats(benchmark::State& state) {
  run_function(state, bytes, [](Graph& graph, Value x) {
    return ops::mul(graph, ops::cast(graph, x, Dtype::f32), graph.constant(1.0F / 255));
  });
}

void function_flip_and_brightness(benchmark::State& state) {
  run_function(state, image, [](Graph& graph, Value x) {
    const Value step = graph.constant(HostTensor::scalar(std::int64_t{0}));
    x = graph.apply(std::make_shared<const RandomFlipLeftRight>(1), {x, step});
    return graph.apply(std::make_shared<const RandomBrightness>(0.2, 2), {x, step});
  });
}

/// What the first two are held against.
void bare_copy(benchmark::State& state) {
  const auto count = static_cast<std::size_t>(784 * state.range(0));
  const std::vector<float> from(count, 1.5F);
  std::vector<float> to(count);
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), count * sizeof(float));
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void bare_sqrt(benchmark::State& state) {
  const auto count = static_cast<std::size_t>(784 * state.range(0));
  const std::vector<float> from(count, 1.5F);
  std::vector<float> to(count);
  for (auto _ : state) {
    const float* const in = from.data();
    float* const out = to.data();
    for (std::size_t i = 0; i < count; ++i) out[i] = std::sqrt(in[i]);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

BENCHMARK(function_identity)->Arg(1)->Arg(32)->Arg(64)->Arg(256);
BENCHMARK(bare_copy)->Arg(1)->Arg(32)->Arg(256);
BENCHMARK(function_sqrt)->Arg(1)->Arg(32)->Arg(256);
BENCHMARK(bare_sqrt)->Arg(1)->Arg(32)->Arg(256);
BENCHMARK(function_bytes_to_floats)->Arg(1)->Arg(32)->Arg(256);
BENCHMARK(function_flip_and_brightness)->Arg(1)->Arg(32)->Arg(256);

}  // namespace
}  // namespace gpubench
