#include <benchmark/benchmark.h>
#include <chrono>
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
static void manual(benchmark::State& state) {
  for (auto _ : state) state.SetIterationTime(1e-3);
  state.counters["nan"] = std::nan("");
  state.counters["below"] = -INFINITY;
  state.SetLabel("a \"label\"");
}
BENCHMARK(manual)->UseManualTime()->Iterations(3)->Unit(benchmark::kMicrosecond);
static void fails(benchmark::State& state) {
  state.SkipWithError("no device");
  for (auto _ : state) {
  }
}
BENCHMARK(fails);
BENCHMARK_MAIN();
