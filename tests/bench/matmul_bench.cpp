// Matmul against the bare call of oneDNN, and every matmul of the dense models M1 (784-128-10) and M2
// (784-1024-1024-1024-10): forward, input gradient and weight gradient.
#include "core/backend/cpu/onednn.h"
#include "core/backend/cpu/processor.h"
#include "core/ops/matmul.h"
#include "tests/bench/planned_op.h"

namespace gpubench::bench {
namespace {

struct Product {
  std::int64_t m, k, n;
};

Product product(const benchmark::State& state) {
  return {state.range(0), state.range(1), state.range(2)};
}

void run_matmul(benchmark::State& state, const MatmulAttributes& options, Dtype dtype = Dtype::f32) {
  const auto [m, k, n] = product(state);
  measure_op(state, std::make_shared<const Matmul>(options),
             {{options.transpose_a ? Shape{k, m} : Shape{m, k}, dtype},
              {options.transpose_b ? Shape{n, k} : Shape{k, n}, dtype}});
}

void matmul(benchmark::State& state) {
  run_matmul(state, {});
}

void matmul_weight_gradient(benchmark::State& state) {
  run_matmul(state, {.transpose_a = true});
}

void matmul_input_gradient(benchmark::State& state) {
  run_matmul(state, {.transpose_b = true});
}

void matmul_bfloat16(benchmark::State& state) {
  run_matmul(state, {}, Dtype::bf16);
}

/// What oneDNN's own interface takes for the same product, everything prepared.
void bare_onednn_matmul(benchmark::State& state) {
  const auto [m, k, n] = product(state);
  using Memory = dnnl::memory;
  const dnnl::engine& engine = cpu::onednn_engine();
  dnnl::stream stream(engine);
  const auto desc = [](std::int64_t rows, std::int64_t columns) {
    return Memory::desc({rows, columns}, Memory::data_type::f32, Memory::format_tag::ab);
  };
  const dnnl::matmul::primitive_desc planned =
      cpu::describe_matmul(desc(m, k), desc(k, n), nullptr, desc(m, n), dnnl::primitive_attr());
  dnnl::matmul primitive(planned);
  Memory a(desc(m, k), engine), b(desc(k, n), engine), c(desc(m, n), engine);
  std::fill_n(static_cast<float*>(a.get_data_handle()), m * k, 0.5F);
  std::fill_n(static_cast<float*>(b.get_data_handle()), k * n, 0.5F);
  measure_runs(state, [&] {
    primitive.execute(stream, {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, c}});
  });
  state.counters["flops"] =
      benchmark::Counter(2.0 * static_cast<double>(m * n * k), benchmark::Counter::kIsIterationInvariantRate);
  state.SetLabel(planned.impl_info_str());
}

void units(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"m", "k", "n"})->UseRealTime()->Unit(benchmark::kMicrosecond);
}

void large(benchmark::internal::Benchmark* benchmark) {
  units(benchmark);
  benchmark->Args({1024, 1024, 1024});
}

/// Forward products: batch 1 to 32 of M1, 128 of M2, 64 of M3's last layer.
void layers(benchmark::internal::Benchmark* benchmark) {
  units(benchmark);
  for (const std::int64_t batch : {2, 4, 8, 16}) benchmark->Args({batch, 784, 128})->Args({batch, 128, 10});
  benchmark->Args({1, 784, 128})->Args({1, 128, 10})->Args({32, 784, 128})->Args({32, 128, 10});
  benchmark->Args({128, 784, 1024})->Args({128, 1024, 1024})->Args({128, 1024, 10})->Args({64, 5408, 10});
}

void weight_gradients(benchmark::internal::Benchmark* benchmark) {
  units(benchmark);
  for (const std::int64_t batch : {2, 4, 8, 16}) benchmark->Args({784, batch, 128})->Args({128, batch, 10});
  benchmark->Args({784, 1, 128})->Args({128, 1, 10})->Args({784, 32, 128})->Args({128, 32, 10});
  benchmark->Args({784, 128, 1024})->Args({1024, 128, 1024})->Args({1024, 128, 10})->Args({5408, 64, 10});
  for (const std::int64_t batch : {32, 128, 256})
    benchmark->Args({784, batch, 10})->Args({128, batch, 27})->Args({128, batch, 2});
}

void input_gradients(benchmark::internal::Benchmark* benchmark) {
  units(benchmark);
  for (const std::int64_t batch : {2, 4, 8, 16}) benchmark->Args({batch, 10, 128});
  benchmark->Args({1, 10, 128})->Args({32, 10, 128})->Args({128, 1024, 1024})->Args({128, 10, 1024});
  benchmark->Args({64, 10, 5408});
}

BENCHMARK(matmul)->Apply(large);
BENCHMARK(bare_onednn_matmul)->Apply(large);
BENCHMARK(matmul_bfloat16)->Apply(large);
BENCHMARK(matmul)->Apply(layers);
BENCHMARK(bare_onednn_matmul)->Apply(layers);
BENCHMARK(matmul_weight_gradient)->Apply(weight_gradients);
BENCHMARK(matmul_input_gradient)->Apply(input_gradients);

}  // namespace
}  // namespace gpubench::bench
