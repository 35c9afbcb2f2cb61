// A runtime on one CPU device, and the documented models on the digits that come with gpubench.
#pragma once
#include <gtest/gtest.h>
#include <memory>
#include <vector>

#include "core/data/source/image_set.h"
#include "core/nn/layer_kind.h"
#include "core/train/fit/fit.h"
#include "core/train/store_variables.h"
#include "core/train/trainer.h"

namespace gpubench::support {

constexpr DeviceId cpu(std::int16_t index) {
  return {DeviceId::Kind::cpu, index, {}};
}

inline LayerPtr dense(std::int64_t units, const char* activation, Shape input_shape = {}) {
  return make_layer("Dense", {{"units", units}, {"activation", std::string(activation)}, {"input_shape", input_shape}});
}

/// M1 of the scenarios: 784 -> 128 -> 10.
inline ModelPtr dense_digits() {
  return std::make_shared<Model>("m1", std::vector{dense(128, "relu", {784}), dense(10, "softmax")});
}

/// M3: a convolution, a pooling and a dense layer.
inline ModelPtr convolution_digits(std::int64_t filters = 32) {
  return std::make_shared<Model>("m3",
                                 std::vector{make_layer("Conv2D", {{"filters", filters},
                                                                   {"kernel_size", std::int64_t{3}},
                                                                   {"activation", std::string("relu")},
                                                                   {"input_shape", Shape{28, 28, 1}}}),
                                             make_layer("MaxPooling2D"), make_layer("Flatten"), dense(10, "softmax")});
}

/// The sample that comes with gpubench, wherever the tests run.
inline ImageSet sample_digits(std::string_view split, const ImageSetOptions& options = {}) {
  const std::vector<ImageSetFolder> sample = {{"sample", "data/mnist", true}};
  return load_images(mnist(), split, options, sample);
}

class TrainTest : public ::testing::Test {
 protected:
  CompileConfig classifier(std::string_view optimizer = "adam", std::string_view loss = "categorical_crossentropy") {
    return {make_optimizer(optimizer), {make_loss(loss)}, {make_metric("accuracy")}, {}};
  }
  Trainer trainer(ModelPtr model, CompileConfig config) {
    return {runtime, factory, std::move(model), std::move(config)};
  }
  Trainer trainer(ModelPtr model) { return trainer(std::move(model), classifier()); }

  Devices devices{DeviceConfig{}};
  Runtime runtime{devices};
  std::uint64_t seed = 0;
  StoreVariables factory{runtime, [this] { return ++seed; }};
};

/// Rows of one-hot classes and noisy points around one corner per class, which a small model learns at once.
struct Blobs {
  explicit Blobs(std::int64_t examples, std::int64_t classes = 3, unsigned seed = 1);
  HostTensor points;   ///< float32 [examples, 4]
  HostTensor one_hot;  ///< float32 [examples, classes]
  HostTensor indices;  ///< int64 [examples]
};

inline Blobs::Blobs(std::int64_t examples, std::int64_t classes, unsigned seed)
    : points(TensorType{{examples, 4}, Dtype::f32}),
      one_hot(HostTensor::zeros({{examples, classes}, Dtype::f32})),
      indices(TensorType{{examples}, Dtype::i64}) {
  std::uint32_t state = seed;
  const auto noise = [&state] {
    state = state * 1664525U + 1013904223U;
    return static_cast<float>(state >> 8U) / 16777216.0F - 0.5F;
  };
  for (std::int64_t i = 0; i < examples; ++i) {
    const std::int64_t label = i % classes;
    indices.values<std::int64_t>()[static_cast<std::size_t>(i)] = label;
    one_hot.values<float>()[static_cast<std::size_t>(i * classes + label)] = 1;
    for (std::int64_t k = 0; k < 4; ++k) {
      points.values<float>()[static_cast<std::size_t>(i * 4 + k)] = (k == label ? 1.0F : 0.0F) + 0.3F * noise();
    }
  }
}

/// 4 -> 8 -> classes.
inline ModelPtr small_classifier(std::int64_t classes = 3) {
  return std::make_shared<Model>("small", std::vector{dense(8, "tanh", {4}), dense(classes, "softmax")});
}

inline std::vector<float> flat(const std::vector<HostTensor>& tensors) {
  std::vector<float> all;
  for (const HostTensor& tensor : tensors) {
    const auto values = tensor.values<float>();
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

}  // namespace gpubench::support
