// Activations of a GPU that wait in page-locked memory. The streams of the CUDA on the CPU run as late as they may, or
// at once: copies that are not waited for compute other weights.
#include <gmock/gmock.h>

#include "core/device/device.h"
#include "core/train/step_memory.h"
#include "tests/core/train/fixture.h"
#include "tests/support/cuda_on_cpu/gpu.h"

namespace gpubench::offload_test {
namespace {

using support::Blobs;

const DeviceId gpu{DeviceId::Kind::gpu, 0, {}};

class CudaOffload : public support::TrainTest {
 protected:
  static LayerPtr on_gpu(const char* kind, const ConfigEntries& options) { return make_layer(kind, options, gpu); }
  static ModelPtr deep(std::int64_t width) {
    std::vector<LayerPtr> chain;
    for (int i = 0; i < 6; ++i) {
      chain.push_back(on_gpu("Dense", {{"units", width},
                                       {"activation", std::string(i % 2 == 0 ? "relu" : "gelu")},
                                       {"input_shape", i == 0 ? Shape{4} : Shape{}}}));
      if (i == 1) chain.push_back(on_gpu("BatchNormalization", {}));
      if (i == 3) chain.push_back(on_gpu("Dropout", {{"rate", 0.2}}));
    }
    chain.push_back(on_gpu("Dense", {{"units", std::int64_t{3}}, {"activation", std::string("softmax")}}));
    return std::make_shared<Model>("deep", chain);
  }
  std::vector<float> trained(bool offloaded, int ahead = 1, std::int64_t parts = 1) {
    seed = 0;
    CompileConfig config = classifier();
    config.offload = {.all = offloaded, .ahead = ahead};
    config.gradient_accumulation_steps = parts;
    Trainer model = trainer(deep(16), std::move(config));
    const Blobs blobs(64);
    fit(model, *batches_of({blobs.points, blobs.one_hot}, 16), {.epochs = 3});
    return support::flat(model.weights());
  }
};

TEST_F(CudaOffload, GivesTheSameWeightsToTheBitHoweverLateCopiesAre) {
  const std::vector<float> kept = trained(false), in_parts = trained(false, 1, 4);
  for (const bool hurry : {false, true}) {
    cuda_on_cpu::machine().hurry = hurry;
    for (const int ahead : {0, 1, 3}) EXPECT_EQ(trained(true, ahead), kept) << "ahead " << ahead << " hurry " << hurry;
    EXPECT_EQ(trained(true, 1, 4), in_parts);
  }
  cuda_on_cpu::machine().hurry = false;
}

TEST_F(CudaOffload, ARecordedStepHasItsCopiesInItsGraph) {
  CompileConfig config = classifier();
  config.offload.all = true;
  Trainer model = trainer(deep(16), std::move(config));
  const Blobs blobs(32);
  const DatasetPtr batches = batches_of({blobs.points, blobs.one_hot}, 16);
  const std::size_t graphs = cuda_on_cpu::graphs_made();
  fit(model, *batches, {.epochs = 3});
  EXPECT_GT(cuda_on_cpu::graphs_made(), graphs);
  const auto started = [&](Trainer& trained) {
    const std::size_t made = cuda_on_cpu::graphs_made(), before = cuda_on_cpu::copies();
    fit(trained, *batches, {.epochs = 2});
    EXPECT_EQ(cuda_on_cpu::graphs_made(), made);
    return cuda_on_cpu::copies() - before;
  };
  const std::size_t copies = started(model);
  model.release_plans();  // the other's arena is larger, and would move this one's
  Trainer kept = trainer(deep(16), classifier());
  fit(kept, *batches, {.epochs = 3});
  EXPECT_EQ(copies, started(kept)) << "inputs and metrics; of what a step offloads the host starts nothing";
}

TEST_F(CudaOffload, ACopyMayBeginInOneRecordingAndEndInAnother) {
  // The layer on the host cuts the step of the GPU in pieces, which are recorded each by itself.
  const auto across = [&](bool offloaded) {
    seed = 0;
    CompileConfig config = classifier();
    config.offload.all = offloaded;
    std::vector<LayerPtr> chain;
    for (int i = 0; i < 6; ++i) {
      chain.push_back(make_layer("Dense",
                                 {{"units", std::int64_t{16}},
                                  {"activation", std::string("relu")},
                                  {"input_shape", i == 0 ? Shape{4} : Shape{}}},
                                 i == 3 ? DeviceId{} : gpu));
    }
    chain.push_back(on_gpu("Dense", {{"units", std::int64_t{3}}, {"activation", std::string("softmax")}}));
    Trainer model = trainer(std::make_shared<Model>("across", chain), std::move(config));
    const Blobs blobs(64);
    fit(model, *batches_of({blobs.points, blobs.one_hot}, 16), {.epochs = 3});
    MemoryPool& pinned = *devices.device(gpu).host_memory();
    EXPECT_EQ(pinned.use().in_use > 0, offloaded);
    return support::flat(model.weights());
  };
  const std::vector<float> kept = across(false);
  for (const bool hurry : {false, true}) {
    cuda_on_cpu::machine().hurry = hurry;
    EXPECT_EQ(across(true), kept);
  }
  cuda_on_cpu::machine().hurry = false;
}

TEST_F(CudaOffload, TakesPageLockedMemoryInsteadOfTheGpus) {
  CompileConfig config = classifier();
  config.offload.all = true;
  const std::vector<TensorType> batch = {{{1024, 4}, Dtype::f32}, {{1024, 3}, Dtype::f32}};
  const auto before = [&] {
    Trainer whole = trainer(deep(64), classifier());
    return predict_training_memory(whole, batch);
  }();
  MemoryPool &memory = devices.device(gpu).memory(), &pinned = *devices.device(gpu).host_memory();
  const std::size_t others = memory.use().in_use;
  Trainer less = trainer(deep(64), std::move(config));
  const auto after = predict_training_memory(less, batch);
  EXPECT_LT(after[0].bytes_of(MemoryKind::activations), before[0].bytes_of(MemoryKind::activations) * 2 / 3);
  const Blobs blobs(1024);
  fit(less, *batches_of({blobs.points, blobs.one_hot}, 1024), {});
  EXPECT_NEAR(static_cast<double>(memory.use().in_use - others), static_cast<double>(total(after)),
              0.02 * static_cast<double>(total(after)));
  EXPECT_EQ(pinned.use().in_use, after[0].offloaded);
  less.release_plans();
  EXPECT_EQ(pinned.use().in_use, 0U);
}

}  // namespace
}  // namespace gpubench::offload_test
