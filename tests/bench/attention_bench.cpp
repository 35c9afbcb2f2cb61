// Attention and its gradient, float32 and bfloat16, at the sizes of a small GPT and longer; gather's gradient as of an
// embedding.
#include "core/ops/attention.h"
#include "core/ops/indexing.h"
#include "tests/bench/planned_op.h"

namespace gpubench::bench {
namespace {

constexpr std::int64_t heads = 8, dim = 64;

TensorType tokens(const benchmark::State& state, Dtype dtype) {
  return {{state.range(0), state.range(1), heads, dim}, dtype};
}

AttentionOptions options_of(const benchmark::State& state) {
  return {.scale = 0.125, .causal = state.range(2) != 0};
}

void forward(benchmark::State& state, Dtype dtype) {
  const TensorType x = tokens(state, dtype);
  measure_op(state, std::make_shared<const Attention>(options_of(state)), {x, x, x});
}

void gradient(benchmark::State& state, Dtype dtype) {
  const TensorType x = tokens(state, dtype), sums{{2, state.range(0), heads, state.range(1)}, Dtype::f32};
  measure_op(state, std::make_shared<const AttentionGradient>(options_of(state)), {x, x, x, x, sums, x});
}

void attention(benchmark::State& state) {
  forward(state, Dtype::f32);
}
void attention_gradient(benchmark::State& state) {
  gradient(state, Dtype::f32);
}
void attention_bfloat16(benchmark::State& state) {
  forward(state, Dtype::bf16);
}
void attention_gradient_bfloat16(benchmark::State& state) {
  gradient(state, Dtype::bf16);
}

void embedding_gradient(benchmark::State& state) {
  const TensorType dy{{state.range(0), state.range(2)}, Dtype::f32}, indices{{state.range(0)}, Dtype::i32};
  measure_op(state, std::make_shared<const GatherGradient>(state.range(1)), {dy, indices});
}

void sequences(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"batch", "time", "causal"})->UseRealTime()->Unit(benchmark::kMicrosecond);
  benchmark->Args({4, 512, 0})->Args({4, 512, 1})->Args({1, 2048, 1});
}

BENCHMARK(attention)->Apply(sequences);
BENCHMARK(attention_gradient)->Apply(sequences);
BENCHMARK(attention_bfloat16)->Apply(sequences);
BENCHMARK(attention_gradient_bfloat16)->Apply(sequences);
BENCHMARK(embedding_gradient)
    ->ArgNames({"tokens", "vocabulary", "width"})
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond)
    ->Args({2048, 50257, 768})
    ->Args({2048, 256, 256});

}  // namespace
}  // namespace gpubench::bench
