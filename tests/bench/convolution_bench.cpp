// The kernels of a small convolutional model (M3: 32 filters of 3x3 on 28x28 digits, 2x2 maxima, batch 64), and of a
// layer with many channels.
#include "core/ops/bias.h"
#include "core/ops/conv.h"
#include "tests/bench/planned_op.h"

namespace gpubench::bench {
namespace {

TensorType floats(Shape shape) {
  return {std::move(shape), Dtype::f32};
}

struct Layer {
  std::int64_t batch, extent, in, out;
  Shape image() const { return {batch, extent, extent, in}; }
  Shape filter() const { return {3, 3, in, out}; }
  Shape result() const { return {batch, extent - 2, extent - 2, out}; }
  Shape pooled() const { return {batch, (extent - 2) / 2, (extent - 2) / 2, out}; }
};

Layer layer(const benchmark::State& state) {
  return {state.range(0), state.range(1), state.range(2), state.range(3)};
}

void conv2d(benchmark::State& state) {
  const Layer l = layer(state);
  measure_op(state, std::make_shared<const Conv2D>(Conv2DAttributes{.bias = true, .activation = Activation::relu}),
             {floats(l.image()), floats(l.filter()), floats({l.out})});
}

void conv2d_input_gradient(benchmark::State& state) {
  const Layer l = layer(state);
  measure_op(state, std::make_shared<const Conv2DInputGradient>(Conv2DAttributes{}, l.image()),
             {floats(l.result()), floats(l.filter())});
}

void conv2d_filter_gradient(benchmark::State& state) {
  const Layer l = layer(state);
  measure_op(state, std::make_shared<const Conv2DFilterGradient>(Conv2DAttributes{}, l.filter()),
             {floats(l.image()), floats(l.result())});
}

void conv2d_bias_gradient(benchmark::State& state) {
  measure_op(state, std::make_shared<const BiasGradient>(), {floats(layer(state).result())});
}

void max_pool2d(benchmark::State& state) {
  measure_op(state, std::make_shared<const MaxPool2D>(), {floats(layer(state).result())});
}

void max_pool2d_gradient(benchmark::State& state) {
  const Layer l = layer(state);
  measure_op(state, std::make_shared<const MaxPool2DGradient>(Pool2DAttributes{}, l.result()),
             {floats(l.pooled()), {l.pooled(), Dtype::u8}});
}

void conv2d_max_pool(benchmark::State& state) {
  const Layer l = layer(state);
  const Conv2DAttributes conv{.bias = true, .activation = Activation::relu};
  measure_op(state, std::make_shared<const Conv2DMaxPool>(conv, Pool2DAttributes{}),
             {floats(l.image()), floats(l.filter()), floats({l.out})});
}

void conv2d_max_pool_filter_gradient(benchmark::State& state) {
  const Layer l = layer(state);
  measure_op(state,
             std::make_shared<const Conv2DMaxPoolFilterGradient>(Conv2DAttributes{}, Pool2DAttributes{}, l.filter()),
             {floats(l.image()), floats(l.pooled()), {l.pooled(), Dtype::u8}});
}

void average_pool2d(benchmark::State& state) {
  measure_op(state, std::make_shared<const AveragePool2D>(), {floats(layer(state).result())});
}

void sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"batch", "extent", "in", "out"})->UseRealTime()->Unit(benchmark::kMicrosecond);
  benchmark->Args({64, 28, 1, 32})->Args({32, 28, 64, 64});
}

BENCHMARK(conv2d)->Apply(sizes);
BENCHMARK(conv2d_input_gradient)->Apply(sizes);
BENCHMARK(conv2d_filter_gradient)->Apply(sizes);
BENCHMARK(conv2d_bias_gradient)->Apply(sizes);
BENCHMARK(conv2d_max_pool)->Apply(sizes);
BENCHMARK(conv2d_max_pool_filter_gradient)->Apply(sizes);
BENCHMARK(max_pool2d)->Apply(sizes);
BENCHMARK(max_pool2d_gradient)->Apply(sizes);
BENCHMARK(average_pool2d)->Apply(sizes);

}  // namespace
}  // namespace gpubench::bench
