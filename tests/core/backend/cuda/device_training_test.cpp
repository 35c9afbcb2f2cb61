// Training on elements that are on the GPU already: the steps read them where they lie, with no copy of their own.
#include <algorithm>
#include <array>
#include <cstdint>
#include <gmock/gmock.h>

#include "core/data/map/map.h"
#include "core/data/stage/prefetch.h"
#include "core/data/stage/repeat.h"
#include "core/device/device.h"
#include "core/experiment/training/input_proof.h"
#include "core/experiment/training/pipeline_measurement.h"
#include "core/experiment/training/training.h"
#include "core/ops/elementwise.h"
#include "core/ops/state.h"
#include "tests/core/train/fixture.h"
#include "tests/support/cuda_on_cpu/gpu.h"
#include "tests/support/expect_error.h"

namespace gpubench::device_training_test {
namespace {

using support::Blobs;
using ::testing::Each;

const DeviceId gpu{DeviceId::Kind::gpu, 0, {}}, cpu{};

LayerPtr dense_on(const DeviceId& device, std::int64_t units, const char* activation, Shape input_shape = {}) {
  const ConfigEntries options{
      {"units", units}, {"activation", std::string(activation)}, {"input_shape", std::move(input_shape)}};
  return make_layer("Dense", options, device);
}

ModelPtr classifier_on(const DeviceId& device) {
  return std::make_shared<Model>("small",
                                 std::vector{dense_on(device, 8, "tanh", {4}), dense_on(device, 3, "softmax")});
}

class DeviceTraining : public support::TrainTest {
 protected:
  DevicePlace place(const DeviceId& id = gpu) {
    return {std::shared_ptr<const Devices>(std::shared_ptr<void>(), &devices), id};
  }
  DatasetPtr batches(bool one_hot = true) const {
    const Blobs blobs(40);
    return batches_of({blobs.points, one_hot ? blobs.one_hot : blobs.indices}, 16, 1);
  }
  std::vector<float> trained(const DatasetPtr& dataset, Execution execution, const char* loss) {
    seed = 0;
    CompileConfig config = classifier("adam", loss);
    config.executor.execution = execution;
    Trainer model = trainer(classifier_on(gpu), std::move(config));
    fit(model, *dataset, {.epochs = 2, .validation = dataset});
    std::vector<float> all = support::flat(model.weights());
    for (const auto& [name, value] : model.evaluate(*dataset)) all.push_back(static_cast<float>(value));
    const std::vector<float> predicted = support::flat(model.predict(*dataset));
    all.insert(all.end(), predicted.begin(), predicted.end());
    return all;
  }
};

TEST_F(DeviceTraining, GivesTheSameModelWhereverTheElementsLie) {
  for (const bool ahead : {false, true}) {
    cuda_on_cpu::machine().hurry = ahead;
    for (const Execution execution : {Execution::graph, Execution::eager}) {
      const auto expected = trained(batches(), execution, "categorical_crossentropy");
      EXPECT_EQ(trained(prefetch_to_device(batches(), place()), execution, "categorical_crossentropy"), expected);
      const auto indices = trained(batches(false), execution, "sparse_categorical_crossentropy");
      EXPECT_EQ(trained(prefetch_to_device(batches(false), place(), 1), execution, "sparse_categorical_crossentropy"),
                indices);
    }
  }
  cuda_on_cpu::machine().hurry = false;
}

TEST_F(DeviceTraining, AStepCopiesNothingItself) {
  Trainer model = trainer(classifier_on(gpu));
  StepLoop steps = model.training_loop();
  const auto cursor = model.open(*prefetch_to_device(repeat(batches()), place(), 2));
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(steps.step(*cursor));  // an epoch, with its smaller batch
  const std::size_t copies = cuda_on_cpu::copies();
  constexpr std::size_t measured = 70;
  for (std::size_t i = 0; i < measured; ++i) ASSERT_TRUE(steps.step(*cursor));
  // The thread ahead copies two tensors an element, of at most four elements more than are taken meanwhile.
  EXPECT_LE(cuda_on_cpu::copies() - copies, 2 * (measured + 4));
  EXPECT_GE(cuda_on_cpu::copies() - copies, 2 * (measured - 4));
  runtime.synchronize();
  steps.release();
}

// What does not wait for each other runs side by side: a layer's weight gradient, counters.
TEST_F(DeviceTraining, AStepOfASmallNetIsAGraphOfSixNodesInALine) {
  std::vector<HostTensor> data{HostTensor::zeros({{64, 784}, Dtype::f32}), HostTensor::zeros({{64}, Dtype::i64})};
  const auto net =
      std::make_shared<Model>("net", std::vector{dense_on(gpu, 128, "relu", {784}), dense_on(gpu, 10, "softmax")});
  CompileConfig config = classifier("adam", "sparse_categorical_crossentropy");
  Trainer model = trainer(net, std::move(config));
  StepLoop steps = model.training_loop();
  const auto cursor = model.open(*prefetch_to_device(repeat(batches_of(data, 32, 1)), place(), 2));
  const std::size_t graphs = cuda_on_cpu::graphs_made();
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(steps.step(*cursor));
  runtime.synchronize();
  ASSERT_GT(cuda_on_cpu::graphs_made(), graphs);
  EXPECT_EQ(cuda_on_cpu::depth_of_latest_graph(), 6U);
  std::size_t fewest = SIZE_MAX;  // copies of the thread ahead may come in between
  for (int i = 0; i < 8; ++i) {
    const std::size_t kernels = cuda_on_cpu::kernels_run();
    steps.step_again();
    runtime.synchronize();
    fewest = std::min(fewest, cuda_on_cpu::kernels_run() - kernels);
  }
  EXPECT_EQ(fewest, 8U);
  steps.release();
}

TEST_F(DeviceTraining, RecordedStepsReadTheirInputsInPlace) {
  // total += x; y = x times total, with x read where it lies
  const auto zeros = HostTensor::zeros({{64}, Dtype::f32});
  const VariablePtr total = runtime.variables().create("total", zeros, gpu);
  Graph graph;
  graph.set_device(gpu);
  const Value x = graph.input({{64}, Dtype::f32}, "x");
  const Value y = ops::mul(graph, x, ops::assign_add(graph, graph.variable(total), x));
  const auto executor =
      make_executor(runtime, std::move(graph), {y}, {.passes = {}, .inputs_on_device = true, .inputs_in_place = true});
  std::vector<VariablePtr> places;
  for (int i = 0; i < 40; ++i) {  // more than are remembered
    HostTensor value(TensorType{{64}, Dtype::f32});
    std::ranges::fill(value.values<float>(), static_cast<float>(i));
    places.push_back(runtime.variables().create("x", value, gpu));
  }
  const auto run = [&](int place) {
    const std::array views{runtime.variables().view(*places[static_cast<std::size_t>(place)])};
    executor->run(views);
  };
  for (int i = 0; i < 9; ++i) run(i % 3);
  runtime.synchronize();
  const std::size_t launches = cuda_on_cpu::launches(), kernels = cuda_on_cpu::kernels_run();
  for (int i = 0; i < 6; ++i) run(i % 3);
  EXPECT_EQ(cuda_on_cpu::launches() - launches, 6U);
  EXPECT_THAT(executor->read(0).values<float>(), Each(2.0F * 15));
  EXPECT_EQ(cuda_on_cpu::kernels_run() - kernels, 6U * 2 + 1);  // and the copy that reads
  executor->run_again();                                        // the place before the latest
  EXPECT_THAT(executor->read(0).values<float>(), Each(1.0F * 16));
  executor->run_again();
  EXPECT_THAT(executor->read(0).values<float>(), Each(2.0F * 18));

  const std::size_t graphs = cuda_on_cpu::graphs_made();
  for (int i = 0; i < 80; ++i) run(i % 40);
  EXPECT_EQ(cuda_on_cpu::graphs_made(), graphs);  // none of these comes again while it is remembered
  for (int i = 0; i < 2; ++i) run(7);
  EXPECT_EQ(cuda_on_cpu::graphs_made(), graphs + 1);
  EXPECT_THAT(executor->read(0).values<float>(), Each(7.0F * (18 + 2 * 780 + 14)));
}

TrainingOptions quick() {
  TrainingOptions options;
  options.limits.stopping.budget = Seconds(0.05);
  options.limits.stopping.min_time = Seconds(0.01);
  options.limits.warmup.max_time = Seconds(0.05);
  return options;
}

TEST_F(DeviceTraining, IsMeasured) {
  Trainer model = trainer(classifier_on(gpu));
  const DatasetPtr data = prefetch_to_device(repeat(batches()), place());
  const Record row = measure_training(model, *data, quick()).record;
  EXPECT_EQ(std::get<std::int64_t>(row.get("batch_size")), 16);
  EXPECT_TRUE(row.has("input_wait_share"));
  TrainingOptions resident = quick();
  resident.resident = true;
  EXPECT_GT(std::get<std::int64_t>(measure_training(model, *data, resident).record.get("steps")), 0);
  EXPECT_GT(std::get<std::int64_t>(
                measure_pipeline(*data, {quick().limits.stopping, quick().limits.warmup}).record.get("elements")),
            0);
  EXPECT_ERROR(
      "measure.input_proof: the dataset's elements are on gpu:0, which leaves no transfer to "
      "tell from the rest; leave the stage that takes them there out",
      prove_input(model, *data, quick()));
}

TEST_F(DeviceTraining, ElementsOnAnotherDeviceThanTheModelAreAnError) {
  Trainer model = trainer(classifier_on(cpu));
  EXPECT_ERROR(
      "model 'small': its layer 'input' is on cpu:0, and the dataset's elements are on "
      "gpu:0; they have to be on the same device, or in host memory",
      fit(model, *prefetch_to_device(batches(), place()), {}));
  EXPECT_NO_THROW(fit(model, *prefetch_to_device(batches(), place(cpu)), {}));
}

TEST_F(DeviceTraining, LeavesNoElementOnTheDevice) {
  MemoryPool& memory = devices.device(gpu).memory();
  Trainer model = trainer(classifier_on(gpu));
  const DatasetPtr data = prefetch_to_device(batches(), place());
  fit(model, *data, {});
  const std::size_t after = memory.use().in_use;
  fit(model, *data, {.epochs = 4});
  EXPECT_EQ(memory.use().in_use, after);
  EXPECT_EQ(devices.device(gpu).host_memory()->use().in_use, 0U);
}

}  // namespace
}  // namespace gpubench::device_training_test
