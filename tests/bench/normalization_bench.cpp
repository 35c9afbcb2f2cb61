// Loops over rows: softmax, losses, normalization and biases at the sizes of the models of the other benchmarks.
#include "core/ops/batch_norm.h"
#include "core/ops/bias.h"
#include "core/ops/layer_norm.h"
#include "core/ops/loss.h"
#include "core/ops/softmax.h"
#include "tests/bench/planned_op.h"

namespace gpubench::bench {
namespace {

TensorType rows(const benchmark::State& state) {
  return {{state.range(0), state.range(1)}, Dtype::f32};
}

TensorType columns(const benchmark::State& state) {
  return {{state.range(1)}, Dtype::f32};
}

void softmax(benchmark::State& state) {
  measure_op(state, std::make_shared<const Softmax>(), {rows(state)});
}

void softmax_cross_entropy(benchmark::State& state) {
  measure_op(state, std::make_shared<const SoftmaxCrossEntropy>(), {rows(state), rows(state)});
}

void softmax_cross_entropy_gradient(benchmark::State& state) {
  measure_op(state, std::make_shared<const SoftmaxCrossEntropyGradient>(),
             {{{state.range(0)}, Dtype::f32}, rows(state), rows(state)});
}

void bias_add(benchmark::State& state) {
  measure_op(state, std::make_shared<const BiasAdd>(), {rows(state), columns(state)});
}

void bias_gradient(benchmark::State& state) {
  measure_op(state, std::make_shared<const BiasGradient>(), {rows(state)});
}

void batch_norm(benchmark::State& state) {
  measure_op(state, std::make_shared<const BatchNorm>(1e-3F), {rows(state), columns(state), columns(state)});
}

void batch_norm_gradient(benchmark::State& state) {
  measure_op(state, std::make_shared<const BatchNormGradient>(1e-3F),
             {rows(state), columns(state), columns(state), columns(state), rows(state)});
}

void layer_norm(benchmark::State& state) {
  measure_op(state, std::make_shared<const LayerNorm>(1e-3F), {rows(state), columns(state), columns(state)});
}

void layer_norm_gradient(benchmark::State& state) {
  const TensorType each_row{{state.range(0)}, Dtype::f32};
  measure_op(state, std::make_shared<const LayerNormGradient>(),
             {rows(state), columns(state), each_row, each_row, rows(state)});
}

void rms_norm(benchmark::State& state) {
  measure_op(state, std::make_shared<const RmsNorm>(1e-6F), {rows(state), columns(state)});
}

void rms_norm_gradient(benchmark::State& state) {
  const TensorType each_row{{state.range(0)}, Dtype::f32};
  measure_op(state, std::make_shared<const RmsNormGradient>(), {rows(state), columns(state), each_row, rows(state)});
}

void units(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"rows", "columns"})->UseRealTime()->Unit(benchmark::kMicrosecond);
}

void classes(benchmark::internal::Benchmark* benchmark) {
  units(benchmark);
  benchmark->Args({1, 10})->Args({32, 10})->Args({128, 10})->Args({128, 1000});
}

void channels(benchmark::internal::Benchmark* benchmark) {
  units(benchmark);
  benchmark->Args({32, 128})->Args({128, 1024})->Args({43264, 32});
}

void positions(benchmark::internal::Benchmark* benchmark) {
  units(benchmark);
  benchmark->Args({512, 256})->Args({4096, 768})->Args({32768, 768});
}

BENCHMARK(softmax)->Apply(classes);
BENCHMARK(softmax_cross_entropy)->Apply(classes);
BENCHMARK(softmax_cross_entropy_gradient)->Apply(classes);
BENCHMARK(bias_add)->Apply(channels);
BENCHMARK(bias_gradient)->Apply(channels);
BENCHMARK(batch_norm)->Apply(channels);
BENCHMARK(batch_norm_gradient)->Apply(channels);
BENCHMARK(layer_norm)->Apply(positions);
BENCHMARK(layer_norm_gradient)->Apply(positions);
BENCHMARK(rms_norm)->Apply(positions);
BENCHMARK(rms_norm_gradient)->Apply(positions);

}  // namespace
}  // namespace gpubench::bench
