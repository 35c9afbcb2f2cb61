// What tracing costs a step on the CPU: steps of M1, M2 and M3 with and without spans, in turn, so that a busy machine
// disturbs both alike. The counter `observer` is the share by which the median traced step is longer.
#include <algorithm>
#include <benchmark/benchmark.h>
#include <memory>
#include <vector>

#include "core/exec/step_tracer.h"
#include "core/nn/layer_kind.h"
#include "core/train/fit/fit.h"
#include "core/train/store_variables.h"
#include "core/train/trainer.h"

namespace gpubench {
namespace {

class NoTracer final : public Tracer {
 public:
  void start() override {}
  std::size_t stop(Timeline&) override { return 0; }
};

LayerPtr dense(std::int64_t units, const char* activation, Shape input_shape = {}) {
  return make_layer("Dense", {{"units", units}, {"activation", std::string(activation)}, {"input_shape", input_shape}});
}

ModelPtr model_of(std::int64_t number) {
  std::vector<LayerPtr> layers;
  if (number == 1) layers = {dense(128, "relu", {784})};
  if (number == 2) layers = {dense(1024, "relu", {784}), dense(1024, "relu"), dense(1024, "relu")};
  if (number == 3) {
    layers = {make_layer("Conv2D", {{"filters", std::int64_t{32}},
                                    {"kernel_size", std::int64_t{3}},
                                    {"activation", std::string("relu")},
                                    {"input_shape", Shape{28, 28, 1}}}),
              make_layer("MaxPooling2D"), make_layer("Flatten")};
  }
  layers.push_back(dense(10, "softmax"));
  return std::make_shared<Model>("model", layers);
}

double quarter(std::vector<double>& times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 4);
  std::ranges::nth_element(times, middle);
  return *middle;
}

void step(benchmark::State& state) {
  const Devices devices{DeviceConfig{}};
  Runtime runtime(devices);
  std::uint64_t seed = 0;
  StoreVariables factory(runtime, [&seed] { return ++seed; });
  CompileConfig config{make_optimizer("adam"), {make_loss("categorical_crossentropy")}, {make_metric("accuracy")}, {}};
  const bool eager = state.range(2) != 0;
  if (eager) config.executor.execution = Execution::eager;
  Trainer trainer(runtime, factory, model_of(state.range(0)), config);
  const std::int64_t batch = state.range(1);
  HostTensor images =
      HostTensor::zeros(TensorType{state.range(0) == 3 ? Shape{batch, 28, 28, 1} : Shape{batch, 784}, Dtype::f32});
  HostTensor labels = HostTensor::zeros(TensorType{{batch, 10}, Dtype::f32});
  const DatasetPtr dataset = batches_of({std::move(images), std::move(labels)}, batch);
  StepLoop loop = trainer.training_loop();
  loop.step(*trainer.open(*dataset));
  loop.step_again();

  constexpr std::size_t most_spans = 200'000;
  constexpr int block = 10;
  NoTracer tracer;
  std::vector<double> plain, traced;
  for (auto _ : state) {
    for (int i = 0; i < block; ++i) {
      const Stopwatch watch;
      loop.step_again();
      plain.push_back(watch.elapsed().count());
    }
    Timeline timeline(most_spans);
    StepTracer tracing(runtime, nullptr, tracer, timeline);
    loop.step_again();
    tracing.begin();
    for (int i = 0; i < block; ++i) {
      const Stopwatch watch;
      loop.step_again();
      tracing.end_step(loop.fetched());
      traced.push_back(watch.elapsed().count());
    }
    tracing.finish();
  }
  const double without = quarter(plain), with = quarter(traced);
  state.counters["step_us"] = without * 1e6;
  state.counters["observer"] = 1 - without / with;
}
BENCHMARK(step)
    ->ArgNames({"model", "batch", "eager"})
    ->ArgsProduct({{1, 2, 3}, {1, 64}, {0, 1}})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace gpubench
