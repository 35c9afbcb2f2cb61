#include "core/train/compress/quantization.h"

#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <limits>

#include "core/base/error.h"
#include "core/data/source/from_tensor_slices.h"
#include "core/data/stage/batch.h"
#include "core/data/stage/repeat.h"
#include "core/nn/architecture.h"
#include "core/ops/quantize.h"
#include "tests/core/train/fixture.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using support::dense;
using support::flat;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class Quantization : public support::TrainTest {
 protected:
  static HostTensor examples(const Shape& example, std::int64_t count = 24) {
    Shape shape = example;
    shape.insert(shape.begin(), count);
    HostTensor x({shape, Dtype::f32});
    for (std::size_t i = 0; i < x.values<float>().size(); ++i) {
      x.values<float>()[i] = std::sin(0.37F * static_cast<float>(i * i % 1009));
    }
    return x;
  }
  static DatasetPtr batches(const Shape& example) { return batch(from_tensor_slices({examples(example)}), 8); }
  static CalibrationOptions calibrated(DatasetPtr dataset) { return {.dataset = std::move(dataset), .batches = {}}; }

  std::vector<float> answers(const ModelPtr& model, const Shape& example) {
    return flat(trainer(model).predict(*batches(example)));
  }
  ModelPtr int8(const Model& model, const std::optional<CalibrationOptions>& calibration,
                const std::vector<std::string>& layers = {}) {
    return quantize_int8(runtime, factory, model, layers, calibration);
  }
  VariablePtr variable(const Model& model, const std::string& name) {
    for (const VariablePtr& one : model.variables()) {
      if (one->name == name) return one;
    }
    throw std::runtime_error("no variable " + name);
  }
  HostTensor value(const Model& model, const std::string& name) {
    return runtime.variables().read(*variable(model, name));
  }
  void set(const Model& model, const std::string& name, float set_to) {
    HostTensor values = value(model, name);
    std::ranges::fill(values.values<float>(), set_to);
    runtime.variables().write(*variable(model, name), values);
  }

  static void expect_close(const std::vector<float>& got, const std::vector<float>& want, float tolerance) {
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], want[i], tolerance) << "answer " << i;
  }

  /// Two dense layers and their activations, built.
  ModelPtr two_layers() {
    auto model = std::make_shared<Model>("m", std::vector{dense(32, "relu", {20}), dense(5, "")});
    model->build(factory);
    return model;
  }

  static LayerPtr conv(std::int64_t filters, bool bias = true, Shape input_shape = {}) {
    return make_layer("Conv2D", {{"filters", filters},
                                 {"kernel_size", std::int64_t{3}},
                                 {"use_bias", bias},
                                 {"padding", std::string("same")},
                                 {"input_shape", input_shape}});
  }
};

TEST_F(Quantization, AnswersAsTheModelDoesButForRounding) {
  const ModelPtr model = two_layers();
  for (const RangeMethod method : {RangeMethod::max, RangeMethod::percentile, RangeMethod::mse}) {
    const ModelPtr small = int8(*model, CalibrationOptions{.dataset = batches({20}), .batches = {}, .method = method});
    const std::vector<float> whole = answers(model, {20}), quantized = answers(small, {20});
    expect_close(quantized, whole, 0.06F);
    EXPECT_NE(whole, quantized);
  }
}

TEST_F(Quantization, KernelsAreQuantizedByOutputChannel) {
  const ModelPtr model = two_layers();
  const ModelPtr small = int8(*model, calibrated(batches({20})));
  const HostTensor kernel = value(*model, "dense/kernel"), quantized = value(*small, "dense/kernel"),
                   scales = value(*small, "dense/kernel_scale");
  ASSERT_EQ(quantized.dtype(), Dtype::i8);
  const auto whole = kernel.values<float>();
  for (std::size_t channel = 0; channel < 32; ++channel) {
    float largest = 0;
    int most = 0;
    for (std::size_t row = 0; row < 20; ++row) {
      const std::size_t at = row * 32 + channel;
      largest = std::max(largest, std::abs(whole[at]));
      const int step = quantized.values<std::int8_t>()[at];
      most = std::max(most, std::abs(step));
      EXPECT_NEAR(static_cast<float>(step) * scales.values<float>()[channel], whole[at],
                  0.501F * scales.values<float>()[channel]);
    }
    EXPECT_FLOAT_EQ(scales.values<float>()[channel], largest / 127);
    EXPECT_EQ(most, 127);
  }
  float largest = 0;
  const HostTensor given = examples({20});
  for (const float x : given.values<float>()) largest = std::max(largest, std::abs(x));
  EXPECT_FLOAT_EQ(value(*small, "dense/input_scale").values<float>()[0], largest / 127);
}

TEST_F(Quantization, ConvolutionsTakeTheNormalizationBehindThem) {
  const auto model = std::make_shared<Model>(
      "m", std::vector{conv(6, false, {8, 8, 3}), make_layer("BatchNormalization"),
                       make_layer("Activation", {{"activation", std::string("relu")}}), make_layer("MaxPooling2D"),
                       conv(4), make_layer("BatchNormalization"), make_layer("Flatten"), dense(3, "")});
  model->build(factory);
  for (const char* norm : {"batch_normalization", "batch_normalization_1"}) {
    set(*model, std::string(norm) + "/moving_mean", 0.2F);
    set(*model, std::string(norm) + "/moving_variance", 0.3F);
    set(*model, std::string(norm) + "/gamma", 1.5F);
    set(*model, std::string(norm) + "/beta", -0.1F);
  }
  const ModelPtr small = int8(*model, calibrated(batches({8, 8, 3})));
  for (const LayerPtr& layer : small->layers()) EXPECT_NE(layer->kind(), "BatchNormalization");
  expect_close(answers(small, {8, 8, 3}), answers(model, {8, 8, 3}), 0.25F);
}

TEST_F(Quantization, ModelsThatAreNoChains) {
  const SymbolPtr x = apply_layer(make_layer("Input", {{"shape", Shape{20}}}), {});
  const LayerPtr shared = dense(20, "tanh");
  const SymbolPtr once = apply_layer(shared, {x}), twice = apply_layer(shared, {once});
  const SymbolPtr sum = apply_layer(make_layer("Add"), {once, twice});
  const auto model =
      std::make_shared<Model>("web", std::vector{x}, std::vector{apply_layer(dense(4, ""), {sum}), once});
  model->build(factory);
  const ModelPtr small = int8(*model, calibrated(batches({20})));
  EXPECT_FALSE(small->sequential());
  expect_close(answers(small, {20}), answers(model, {20}), 0.1F);
}

TEST_F(Quantization, OnlyTheLayersThatAreNamed) {
  const ModelPtr model = two_layers();
  const ModelPtr small = int8(*model, calibrated(batches({20})), {"dense_1"});
  EXPECT_EQ(value(*small, "dense/kernel").dtype(), Dtype::f32);
  EXPECT_EQ(value(*small, "dense_1/kernel").dtype(), Dtype::i8);
}

TEST_F(Quantization, TheSummaryCountsBytes) {
  const ModelPtr small = int8(*two_layers(), calibrated(batches({20})));
  // A byte for each of 800 weights; biases and scales of 37 units, and two layers' input scales, of four.
  EXPECT_THAT(summary(*small), HasSubstr("Total parameters: 876 (1.08 KiB)"));
}

TEST_F(Quantization, AnArchitectureTellsOfIt) {
  const ModelPtr small = int8(*two_layers(), calibrated(batches({20})));
  const ModelPtr again = architecture_from_json(architecture_to_json(*small), {});
  again->build(factory);
  write_weights(runtime, *again, read_weights(runtime, *small));
  EXPECT_EQ(answers(again, {20}), answers(small, {20}));
}

TEST_F(Quantization, KernelsThatAreWrittenToArePackedAnew) {
  const ModelPtr small = int8(*two_layers(), calibrated(batches({20})));
  Trainer predicting = trainer(small);
  const std::vector<float> before = flat(predicting.predict(*batches({20})));
  EXPECT_EQ(flat(predicting.predict(*batches({20}))), before);
  HostTensor kernel = value(*small, "dense_1/kernel");
  for (std::int8_t& weight : kernel.values<std::int8_t>()) weight = static_cast<std::int8_t>(weight / 2);
  runtime.variables().write(*variable(*small, "dense_1/kernel"), kernel);
  const std::vector<float> after = flat(predicting.predict(*batches({20})));
  EXPECT_NE(after, before);
  EXPECT_EQ(after, answers(small, {20}));
}

TEST_F(Quantization, EagerExecutionAnswersTheSame) {
  const ModelPtr small = int8(*two_layers(), calibrated(batches({20})));
  CompileConfig config = classifier();
  config.executor.execution = Execution::eager;
  expect_close(flat(trainer(small, config).predict(*batches({20}))), answers(small, {20}), 1e-5F);
}

TEST_F(Quantization, AQuantizedModelIsNotTrained) {
  const ModelPtr small = int8(*two_layers(), calibrated(batches({20})));
  EXPECT_TRUE(small->trainable_variables().empty());
  Graph graph;
  const Value x = graph.input({{4, 20}, Dtype::f32}, "x");
  EXPECT_ERROR(
      "layer 'dense' (Dense): computes in int8, which has no gradient; train the model that it "
      "was made of, or one that gb.quantize.aware makes",
      small->call({graph, true}, std::vector{x}));
}

TEST_F(Quantization, AwareTrainingLearnsWhatInt8Computes) {
  const support::Blobs blobs(96);
  const auto model = std::make_shared<Model>("m", std::vector{dense(16, "relu", {4}), dense(3, "softmax")});
  model->build(factory);
  const ModelPtr aware = quantization_aware(runtime, factory, *model, {});
  EXPECT_EQ(flat({value(*aware, "dense/kernel")}), flat({value(*model, "dense/kernel")}));
  const DatasetPtr data = batch(from_tensor_slices({blobs.points, blobs.one_hot}), 16);
  Trainer training = trainer(aware);
  FitOptions options;
  options.epochs = 20;
  const History history = fit(training, *data, options);
  static_cast<void>(history);
  EXPECT_GT(value(*aware, "dense/input_range").values<float>()[0], 0.5F);
  EXPECT_NE(flat({value(*aware, "dense/kernel")}), flat({value(*model, "dense/kernel")}));
  const ModelPtr small = int8(*aware, std::nullopt);
  const std::vector<float> want = flat(training.predict(*data)), got = flat(trainer(small).predict(*data));
  expect_close(got, want, 0.02F);  // probabilities; a tie that falls the other way is one step of an activation
  std::size_t same = 0;
  for (std::size_t i = 0; i < want.size(); ++i) same += std::abs(got[i] - want[i]) < 1e-4F ? 1U : 0U;
  EXPECT_GT(same, want.size() * 9 / 10);
}

TEST_F(Quantization, AnAwareModelThatHasSeenNothingIsTheModel) {
  const ModelPtr model = two_layers();
  const ModelPtr aware = quantization_aware(runtime, factory, *model, {"dense_1"});
  EXPECT_EQ(flat({value(*aware, "dense_1/input_range")}), std::vector<float>{0});
  expect_close(answers(aware, {20}), answers(model, {20}), 0.05F);  // but for its kernel's rounding
  EXPECT_ERROR(
      "quantize: the range of layer 'dense_1' is not known: train the model first, or give "
      "a calibration set",
      int8(*aware, std::nullopt, {"dense_1"}));
}

TEST_F(Quantization, RefusesModelsThatItCannotQuantize) {
  const ModelPtr model = two_layers();
  const auto calibration = calibrated(batches({20}));
  const ModelPtr small = int8(*model, calibration);
  EXPECT_ERROR("quantize: model 'm' is quantized already: layer 'dense' computes in int8", int8(*small, calibration));
  EXPECT_ERROR(HasSubstr("already"), quantization_aware(runtime, factory, *small, {}));
  const ModelPtr aware = quantization_aware(runtime, factory, *model, {});
  EXPECT_ERROR("quantize: model 'm' is quantized already: layer 'dense' is quantization-aware",
               quantization_aware(runtime, factory, *aware, {}));
  EXPECT_ERROR("quantize: model 'm' has no layer 'other'", int8(*model, calibration, {"other"}));
  EXPECT_ERROR(
      "quantize: the range of layer 'dense' is not known: give a calibration set, or train "
      "what gb.quantize.aware makes of the model",
      int8(*model, std::nullopt));

  const auto flatten = std::make_shared<Model>("f", std::vector{make_layer("Flatten", {{"input_shape", Shape{4, 5}}})});
  flatten->build(factory);
  EXPECT_ERROR("quantize: layer 'flatten' (Flatten) has no int8 form; Dense and Conv2D have",
               int8(*flatten, calibration, {"flatten"}));
  EXPECT_ERROR("quantize: model 'f' has no layer with an int8 form, Dense or Conv2D", int8(*flatten, calibration));

  const auto open = std::make_shared<Model>("open", std::vector{dense(3, "")});
  EXPECT_ERROR("quantize: model 'open' has no weights yet; give its first layer an input_shape",
               int8(*open, calibration));
  EXPECT_ERROR("Dense: quantization must be \"aware\" or \"int8\", got \"int4\"",
               make_layer("Dense", {{"units", std::int64_t{3}}, {"quantization", std::string("int4")}}));
  EXPECT_ERROR("Dense: quantization = \"int8\" is for layers of dtype float32, got mixed_bfloat16",
               make_layer("Dense", {{"units", std::int64_t{3}},
                                    {"dtype", std::string("mixed_bfloat16")},
                                    {"quantization", std::string("int8")}}));
}

TEST_F(Quantization, RefusesCalibrationSetsThatTellNothing) {
  const ModelPtr model = two_layers();
  const auto with = [&](DatasetPtr dataset) { return [&, dataset] { int8(*model, calibrated(dataset)); }; };
  EXPECT_THAT(with(repeat(batches({20}))),
              ThrowsMessage<Error>("quantize: the calibration set never ends; give batches, or use take"));
  HostTensor bad = examples({20});
  bad.values<float>()[200] = std::numeric_limits<float>::infinity();
  EXPECT_THAT(with(batch(from_tensor_slices({bad}), 8)),
              ThrowsMessage<Error>("quantize: the input of layer 'dense' is inf in batch 2 of the calibration set; a "
                                   "scale is chosen from finite values"));
  EXPECT_THAT(with(batch(from_tensor_slices({HostTensor::zeros({{8, 20}, Dtype::f32})}), 8)),
              ThrowsMessage<Error>("quantize: the calibration set gave layer 'dense' nothing but zeros"));
  CalibrationOptions options = calibrated(batches({20}));
  options.batches = 0;
  EXPECT_ERROR("quantize: batches must be at least 1, got 0", int8(*model, options));
  options.batches = 1;
  options.percentile = 101;
  EXPECT_ERROR("quantize: percentile must be above 0 and at most 100, got 101", int8(*model, options));
  HostTensor kernel = value(*model, "dense/kernel");
  kernel.values<float>()[0] = std::numeric_limits<float>::quiet_NaN();
  runtime.variables().write(*variable(*model, "dense/kernel"), kernel);
  EXPECT_THAT(with(batches({20})),
              ThrowsMessage<Error>("quantize: the kernel of layer 'dense' has a weight that is nan"));
}

TEST(MagnitudeHistogramTest, RangesOfKnownValues) {
  MagnitudeHistogram histogram;
  EXPECT_EQ(histogram.range(RangeMethod::mse, 99), 0);
  std::vector<float> values(1000);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = (i % 2 == 0 ? 1.0F : -1.0F) * static_cast<float>(i) / 1000;
  histogram.add(values);
  EXPECT_FLOAT_EQ(static_cast<float>(histogram.range(RangeMethod::max, 99)), 0.999F);
  EXPECT_NEAR(histogram.range(RangeMethod::percentile, 90), 0.9, 0.002);
  histogram.add(std::vector<float>{-40});  // one far out: bins widen, and nothing is lost
  EXPECT_EQ(histogram.range(RangeMethod::max, 99), 40);
  EXPECT_NEAR(histogram.range(RangeMethod::percentile, 90), 0.9, 0.05);
  EXPECT_LE(histogram.range(RangeMethod::mse, 99), 40);
}

TEST(MagnitudeHistogramTest, FewOutliersAreWorthSaturating) {
  MagnitudeHistogram histogram;
  std::vector<float> values;
  for (int i = 0; i < 1000000; ++i) values.push_back(static_cast<float>(i % 1000) / 1000);
  values.push_back(4);
  histogram.add(values);
  EXPECT_LT(histogram.range(RangeMethod::mse, 99), 2);
  EXPECT_ERROR("unknown calibration method 'entropy' (known: max, percentile, mse)", parse_range_method("entropy"));
}

}  // namespace
}  // namespace gpubench
