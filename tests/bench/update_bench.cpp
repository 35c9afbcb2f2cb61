// Optimizer updates and element-wise loops at the sizes of the models of the other benchmarks. Bytes per second tell
// how near a loop is to the memory's rate.
#include "core/ops/elementwise.h"
#include "core/ops/optimizer.h"
#include "core/ops/random.h"
#include "core/ops/reduce.h"
#include "tests/bench/planned_op.h"

namespace gpubench::bench {
namespace {

/// The variables of a multi-layer perceptron.
std::vector<TensorType> perceptron(const std::vector<std::int64_t>& widths) {
  std::vector<TensorType> variables;
  for (std::size_t i = 1; i < widths.size(); ++i) {
    variables.push_back({{widths[i - 1], widths[i]}, Dtype::f32});
    variables.push_back({{widths[i]}, Dtype::f32});
  }
  return variables;
}

std::vector<TensorType> inputs_of(const OptimizerUpdate& op, const std::vector<TensorType>& variables) {
  std::vector<TensorType> inputs{{{}, Dtype::f32}};
  if (op.counts_steps()) inputs.push_back({{}, Dtype::i64});
  for (int group = 0; group < 2 + op.slots(); ++group) inputs.insert(inputs.end(), variables.begin(), variables.end());
  return inputs;
}

template <class O>
void update(benchmark::State& state, const std::vector<std::int64_t>& widths) {
  const std::vector<TensorType> variables = perceptron(widths);
  const auto op =
      std::make_shared<const O>(std::remove_const_t<decltype(O::settings)>{}, static_cast<int>(variables.size()));
  measure_op(state, op, inputs_of(*op, variables));
}

/// Adam with a limit for the norm of all gradients, and the sum that it reads.
void clipped_adam(benchmark::State& state, const std::vector<std::int64_t>& widths) {
  const std::vector<TensorType> variables = perceptron(widths);
  const GradientClip clip{.norm = 1, .global = true};
  const auto op = std::make_shared<const AdamUpdate>(AdamAttributes{}, static_cast<int>(variables.size()), false, clip);
  std::vector<TensorType> inputs = inputs_of(*op, variables);
  inputs.insert(inputs.begin() + op->squares_input(), {{}, Dtype::f32});
  measure_op(state, op, inputs);
}

void sums_of_squares(benchmark::State& state, const std::vector<std::int64_t>& widths) {
  const std::vector<TensorType> variables = perceptron(widths);
  measure_op(state, std::make_shared<const SumsOfSquares>(static_cast<int>(variables.size()), true), variables);
}

void adam(benchmark::State& state, const std::vector<std::int64_t>& widths) {
  update<AdamUpdate>(state, widths);
}
void sgd(benchmark::State& state, const std::vector<std::int64_t>& widths) {
  update<SgdUpdate>(state, widths);
}
void rmsprop(benchmark::State& state, const std::vector<std::int64_t>& widths) {
  update<RmspropUpdate>(state, widths);
}

template <class O>
void unary(benchmark::State& state) {
  measure_op(state, std::make_shared<const O>(), {{{state.range(0)}, Dtype::f32}});
}

template <class O>
void binary(benchmark::State& state) {
  const TensorType type{{state.range(0)}, Dtype::f32};
  measure_op(state, std::make_shared<const O>(), {type, type});
}

void add_row(benchmark::State& state) {
  measure_op(state, std::make_shared<const Add>(), {{{state.range(0) / 128, 128}, Dtype::f32}, {{128}, Dtype::f32}});
}

void reduce_all(benchmark::State& state) {
  measure_op(state, std::make_shared<const ReduceSum>(), {{{state.range(0)}, Dtype::f32}});
}

void reduce_rows(benchmark::State& state) {
  const std::vector<std::int64_t> first{0};
  measure_op(state, std::make_shared<const ReduceSum>(first), {{{state.range(0) / 128, 128}, Dtype::f32}});
}

void dropout(benchmark::State& state) {
  measure_op(state, std::make_shared<const Dropout>(0.5, 1), {{{state.range(0)}, Dtype::f32}, {{}, Dtype::i64}});
}

void sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgName("elements")->UseRealTime()->Unit(benchmark::kMicrosecond);
  benchmark->Arg(1 << 12)->Arg(1 << 17)->Arg(1 << 22);
}

void timed(benchmark::internal::Benchmark* benchmark) {
  benchmark->UseRealTime()->Unit(benchmark::kMicrosecond);
}

const std::vector<std::int64_t> small{784, 128, 10}, large{784, 1024, 1024, 1024, 10};  // 101 770 and 2 913 290

BENCHMARK_CAPTURE(adam, small, small)->Apply(timed);
BENCHMARK_CAPTURE(adam, large, large)->Apply(timed);
BENCHMARK_CAPTURE(clipped_adam, large, large)->Apply(timed);
BENCHMARK_CAPTURE(sums_of_squares, large, large)->Apply(timed);
BENCHMARK_CAPTURE(sgd, small, small)->Apply(timed);
BENCHMARK_CAPTURE(sgd, large, large)->Apply(timed);
BENCHMARK_CAPTURE(rmsprop, small, small)->Apply(timed);
BENCHMARK_CAPTURE(rmsprop, large, large)->Apply(timed);
BENCHMARK(binary<Add>)->Apply(sizes);
BENCHMARK(add_row)->Apply(sizes);
BENCHMARK(unary<Relu>)->Apply(sizes);
BENCHMARK(unary<Exp>)->Apply(sizes);
BENCHMARK(unary<Sigmoid>)->Apply(sizes);
BENCHMARK(unary<Tanh>)->Apply(sizes);
BENCHMARK(unary<Gelu>)->Apply(sizes);
BENCHMARK(reduce_all)->Apply(sizes);
BENCHMARK(reduce_rows)->Apply(sizes);
BENCHMARK(dropout)->Apply(sizes);

}  // namespace
}  // namespace gpubench::bench
