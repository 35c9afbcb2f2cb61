#include <benchmark/benchmark.h>
#include <cmath>
static void sum(benchmark::State& state) {
  for (auto _ : state) {
    double x = 0;
    for (int i = 0; i < state.range(0); ++i) benchmark::DoNotOptimize(x += i);
  }
  state.SetComplexityN(state.range(0));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(sum)->Range(64, 256)->Complexity(benchmark::oN)->Repetitions(2);
static void counters(benchmark::State& state) {
  for (auto _ : state) {
  }
  state.counters["rate"] = benchmark::Counter(3, benchmark::Counter::kIsRate);
  state.counters["not_a_number"] = std::nan("");
  state.counters["infinite"] = INFINITY;
  state.SetLabel("label");
}
BENCHMARK(counters)->Unit(benchmark::kMicrosecond);
static void fails(benchmark::State& state) {
  state.SkipWithError("no device");
  for (auto _ : state) {
  }
}
BENCHMARK(fails);
BENCHMARK_MAIN();
