// Loss, metrics and their means in one kernel: the same weights and figures, bit by bit, as of one kernel for each.
#include <array>
#include <cmath>
#include <gmock/gmock.h>

#include "core/device/device.h"
#include "core/ops/measured_cross_entropy.h"
#include "core/train/loss_scale.h"
#include "tests/core/train/fixture.h"
#include "tests/support/case_checks.h"
#include "tests/support/cuda_on_cpu/gpu.h"
#include "tests/support/evaluate.h"

namespace gpubench::fused_metrics_test {
namespace {

constexpr DeviceId gpu(std::int16_t index = 0) {
  return {DeviceId::Kind::gpu, index, {}};
}

struct Options {
  std::string loss = "sparse_categorical_crossentropy";
  std::vector<MetricPtr> metrics{make_metric("accuracy")};
  bool from_logits = false;
  std::string dtype = "float32";
  std::int64_t batch = 16, classes = 10;
  std::int64_t accumulation_steps = 1;
  std::int16_t replicas = 1;
  bool column = false;  ///< class indices [batch, 1]
};

struct Result {
  std::string weights;          ///< their bytes
  std::vector<double> figures;  ///< loss and metrics of training and of an evaluation
  std::size_t kernels = 0;
};

class FusedMetrics : public testing::Test {
 protected:
  FusedMetrics() { cuda_on_cpu::machine().gpus = 2; }
  ~FusedMetrics() override { cuda_on_cpu::machine().gpus = 1; }

  static Result trained(const Options& options, bool fused) {
    const Devices devices{DeviceConfig{}};
    Runtime runtime{devices};
    std::uint64_t seed = 0;
    StoreVariables factory{runtime, [&] { return ++seed; }};
    const support::Blobs blobs(4 * options.batch + 4, options.classes);
    HostTensor labels = options.loss == "categorical_crossentropy" ? blobs.one_hot : blobs.indices;
    if (options.column) labels = HostTensor::of<std::int64_t>({labels.elements(), 1}, labels.values<std::int64_t>());
    const DatasetPtr dataset = batches_of({blobs.points, labels}, options.batch);
    CompileConfig config{
        make_optimizer("adam"), {make_loss(options.loss, {{"from_logits", options.from_logits}})}, options.metrics, {}};
    if (!fused) config.executor.passes.disabled.insert("fuse_metrics");
    config.gradient_accumulation_steps = options.accumulation_steps;
    if (options.dtype == "mixed_float16") {
      config.loss_scale = std::make_shared<LossScale>(Config("LossScaleOptimizer", LossScale::fields(), {}));
    }
    if (options.replicas > 1) {
      ReplicaOptions replicas;
      for (std::int16_t i = 0; i < options.replicas; ++i) replicas.devices.push_back(gpu(i));
      config.replicas = std::make_shared<Replicas>(runtime, std::move(replicas), nullptr);
    }
    const auto layer = [&](std::int64_t units, const char* activation, Shape input_shape = {}) {
      return make_layer("Dense",
                        {{"units", units},
                         {"activation", std::string(activation)},
                         {"input_shape", std::move(input_shape)},
                         {"dtype", options.dtype}},
                        gpu());
    };
    const auto net = std::make_shared<Model>(
        "net", std::vector{layer(8, "relu", {4}), layer(options.classes, options.from_logits ? "linear" : "softmax")});
    Trainer model(runtime, factory, net, std::move(config));
    const std::size_t before = cuda_on_cpu::kernels_run();
    fit(model, *dataset, {.epochs = 2});
    Result result;
    for (const auto& [name, value] : model.read_metrics()) result.figures.push_back(value);
    for (const auto& [name, value] : model.evaluate(*dataset)) result.figures.push_back(value);
    runtime.synchronize();
    result.kernels = cuda_on_cpu::kernels_run() - before;
    for (const HostTensor& weight : model.weights()) {
      result.weights.append(reinterpret_cast<const char*>(weight.data()), weight.bytes());
    }
    return result;
  }

  /// The kernels that are saved by both steps of training and evaluation, of which there are as many as batches.
  static std::size_t expect_equal(const Options& options) {
    const Result fused = trained(options, true), apart = trained(options, false);
    EXPECT_TRUE(fused.weights == apart.weights);
    EXPECT_EQ(fused.figures, apart.figures);
    EXPECT_THAT(fused.figures, testing::Each(testing::Truly([](double value) { return std::isfinite(value); })));
    EXPECT_LE(fused.kernels, apart.kernels);
    return apart.kernels - fused.kernels;
  }
};

// Two epochs of 5 batches of training, and one of evaluation.
constexpr std::size_t training_steps = 10, evaluation_steps = 5;
/// Of a loss with one metric: loss, gradient, matches and two means in one; an evaluation has no gradient.
constexpr std::size_t with_accuracy = 4 * training_steps + 3 * evaluation_steps;
constexpr std::size_t of_a_metric = 2 * (training_steps + evaluation_steps);

TEST_F(FusedMetrics, GiveWhatKernelsApartGive) {
  for (const char* loss : {"sparse_categorical_crossentropy", "categorical_crossentropy"}) {
    for (const bool from_logits : {false, true}) {
      SCOPED_TRACE(std::string(loss) + (from_logits ? " from logits" : ""));
      EXPECT_EQ(expect_equal({.loss = loss, .from_logits = from_logits}), with_accuracy);
    }
  }
}

TEST_F(FusedMetrics, AreAsManyAsTheModelHas) {
  EXPECT_EQ(expect_equal({.metrics = {}}), with_accuracy - of_a_metric);
  const std::vector<MetricPtr> three{make_metric("sparse_top_k_categorical_accuracy", {{"k", std::int64_t{3}}}),
                                     make_metric("accuracy"),
                                     make_metric("sparse_top_k_categorical_accuracy", {{"k", std::int64_t{2}}})};
  EXPECT_EQ(expect_equal({.metrics = three}), with_accuracy + 2 * of_a_metric);
}

TEST_F(FusedMetrics, AreThoseOfManyClassesToo) {
  for (const std::int64_t classes : {2, 33, 70}) {
    EXPECT_EQ(expect_equal({.classes = classes}), with_accuracy) << classes;
  }
  EXPECT_EQ(expect_equal({.batch = 4, .classes = 400}), with_accuracy);
}

TEST_F(FusedMetrics, OfLabelsInAColumn) {
  EXPECT_EQ(expect_equal({.column = true}), with_accuracy);
}

TEST_F(FusedMetrics, OfLargeBatchesAreKernelsApart) {
  EXPECT_EQ(expect_equal({.batch = 128}), with_accuracy);
  // The last batch is one of four examples.
  EXPECT_EQ(expect_equal({.batch = 129}), with_accuracy / 5);
  EXPECT_EQ(expect_equal({.batch = 4, .classes = 1025}), 0U);
}

TEST_F(FusedMetrics, OfMixedPrecisionHaveAScaledGradient) {
  for (const char* dtype : {"mixed_float16", "mixed_bfloat16", "float16", "bfloat16"}) {
    EXPECT_EQ(expect_equal({.dtype = dtype}), with_accuracy) << dtype;
  }
}

TEST_F(FusedMetrics, OfMicroBatchesAddUp) {
  EXPECT_EQ(expect_equal({.accumulation_steps = 2}), with_accuracy + 4 * training_steps);
}

TEST_F(FusedMetrics, OfReplicasAreSums) {
  EXPECT_EQ(expect_equal({.replicas = 2}), 2 * with_accuracy);
}

// Both small probabilities are 0, and of equal ones the first counts as larger; the logits differ.
TEST_F(FusedMetrics, RankWhatTheMetricReads) {
  const support::Place& place = support::places().front();
  const std::array<float, 3> logits{200, 99, 100};
  const std::array<std::int64_t, 1> label{1};
  const std::vector<HostTensor> inputs{HostTensor::of<float>({1, 3}, logits), HostTensor::of<std::int64_t>({1}, label)};
  for (const bool ranks_logits : {false, true}) {
    const MeasuredCrossEntropy op({.ranks_logits = ranks_logits, .metrics = {2}});
    const auto outputs = support::evaluate(*place.backend, *place.device, op, inputs);
    EXPECT_EQ(outputs[2].values<float>()[0], ranks_logits ? 0 : 1);
  }
}

TEST_F(FusedMetrics, LeaveOthersApart) {
  // Counts of the confusion are an update between the loss and its gradient.
  EXPECT_EQ(expect_equal({.loss = "categorical_crossentropy", .metrics = {make_metric("precision")}}),
            evaluation_steps);
}

}  // namespace
}  // namespace gpubench::fused_metrics_test
