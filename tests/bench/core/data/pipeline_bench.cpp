// Time per batch of the input pipeline, without a model: what a step would wait for.
//
//   build/release/tests/bench/core/data/bench_core_data
#include <algorithm>
#include <benchmark/benchmark.h>
#include <cstring>
#include <memory>
#include <vector>

#include "core/data/map/map.h"
#include "core/data/source/from_tensor_slices.h"
#include "core/data/stage/batch.h"
#include "core/data/stage/prefetch.h"
#include "core/data/stage/repeat.h"
#include "core/data/stage/shuffle.h"

namespace gpubench {
namespace {

constexpr std::int64_t examples = 60000;

/// Of the size of the handwritten digits.
const DatasetPtr& digits() {
  static const DatasetPtr dataset = from_tensor_slices(
      {HostTensor::zeros({{examples, 784}, Dtype::f32}), HostTensor::zeros({{examples, 10}, Dtype::f32})});
  return dataset;
}

void take_all(benchmark::State& state, const DatasetPtr& dataset) {
  const std::unique_ptr<Cursor> cursor = dataset->open();
  Element element;
  cursor->next(element);
  for (auto _ : state) {
    cursor->next(element);
    benchmark::DoNotOptimize(element[0].data());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(element[0].bytes() + element[1].bytes()));
}

void batch_only(benchmark::State& state) {
  take_all(state, batch(repeat(digits()), state.range(0)));
}

void shuffle_and_batch(benchmark::State& state) {
  take_all(state, batch(repeat(shuffle(digits(), {.buffer = 10000, .seed = 1})), state.range(0)));
}

void shuffle_all_and_batch(benchmark::State& state) {
  take_all(state, batch(repeat(shuffle(digits(), {.buffer = examples, .seed = 1})), state.range(0)));
}

void shuffle_batch_and_prefetch(benchmark::State& state) {
  take_all(state, prefetch(batch(repeat(shuffle(digits(), {.buffer = 10000, .seed = 1})), state.range(0))));
}

/// What a step waits for when it takes longer than a batch, so that the buffer is never empty; the median, because
/// other programs may take the core away.
void wait_for_a_warm_prefetch(benchmark::State& state) {
  constexpr std::chrono::microseconds step_time{60};
  const DatasetPtr dataset = prefetch(batch(repeat(shuffle(digits(), {.buffer = 10000, .seed = 1})), state.range(0)));
  const std::unique_ptr<Cursor> cursor = dataset->open();
  Element element;
  cursor->next(element);
  std::vector<double> waits;
  for (auto _ : state) {
    for (const Stopwatch step; step.elapsed() < step_time;) continue;
    const Stopwatch wait;
    cursor->next(element);
    waits.push_back(wait.elapsed().count());
  }
  std::nth_element(waits.begin(), waits.begin() + std::ssize(waits) / 2, waits.end());
  state.counters["median_wait_s"] = waits[waits.size() / 2];
}

/// Hands on what it gets: what is left is what a map itself costs an element.
class Identity final : public ElementFunction {
 public:
  std::vector<TensorType> output_types(TensorTypes inputs) const override { return {inputs.begin(), inputs.end()}; }
  std::unique_ptr<ElementRunner> plan(TensorTypes) const override {
    class Runner final : public ElementRunner {
     public:
      std::int64_t block() const override { return 256; }
      void run(const ElementBlock& elements, ElementOutputs& outputs) override {
        const TensorView& in = elements.inputs[0];
        std::memcpy(outputs.place(0, *in.type), in.data, in.type->bytes() * static_cast<std::size_t>(elements.count));
      }
    };
    return std::make_unique<Runner>();
  }
};

void empty_map(benchmark::State& state) {
  const DatasetPtr dataset = map(repeat(from_tensor_slices({HostTensor::zeros({{examples}, Dtype::f32})})),
                                 std::make_shared<Identity>(), {.workers = state.range(0)});
  const std::unique_ptr<Cursor> cursor = dataset->open();
  Element element;
  for (auto _ : state) cursor->next(element);
}

BENCHMARK(empty_map)->Arg(0)->Arg(1)->Arg(2)->UseRealTime();
BENCHMARK(batch_only)->Arg(1)->Arg(32)->Arg(256);
BENCHMARK(shuffle_and_batch)->Arg(1)->Arg(32)->Arg(256);
BENCHMARK(shuffle_all_and_batch)->Arg(1)->Arg(32)->Arg(256);
BENCHMARK(shuffle_batch_and_prefetch)->Arg(1)->Arg(32)->Arg(256)->UseRealTime();
BENCHMARK(wait_for_a_warm_prefetch)->Arg(1)->Arg(32)->UseRealTime();

}  // namespace
}  // namespace gpubench
