#include "core/train/compress/mapped_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>
#include <unistd.h>

#include "core/codec/safetensors.h"
#include "core/math/half.h"
#include "tests/core/train/fixture.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using support::TrainTest;
using testing::ElementsAre;
using testing::HasSubstr;

/// The values 0, 1, 2, ...
HostTensor counting(Shape shape) {
  HostTensor tensor(TensorType{std::move(shape), Dtype::f32});
  std::iota(tensor.values<float>().begin(), tensor.values<float>().end(), 0.0F);
  return tensor;
}

class MappedWeights : public TrainTest {
 protected:
  /// Weights dense/kernel [2, 3] and dense/bias [3].
  ModelPtr dense() {
    auto model = std::make_shared<Model>(
        "m", std::vector{make_layer("Dense", {{"units", std::int64_t{3}}, {"input_shape", Shape{2}}})});
    model->build(factory);
    return model;
  }
  ModelPtr conv() {
    auto model = std::make_shared<Model>("c", std::vector{make_layer("Conv2D", {{"filters", std::int64_t{2}},
                                                                                {"kernel_size", Shape{1, 2}},
                                                                                {"use_bias", false},
                                                                                {"input_shape", Shape{4, 4, 3}}})});
    model->build(factory);
    return model;
  }

  ~MappedWeights() override { std::filesystem::remove(path_); }
  std::filesystem::path save(std::vector<NamedTensor> tensors) const {
    write_safetensors(path_, {std::move(tensors), {}});
    return path_;
  }
  std::vector<HostTensor> loaded(const ModelPtr& model, const std::filesystem::path& path, const WeightMap& map,
                                 WeightLayout layout = WeightLayout::torch) {
    load_mapped_weights(runtime, *model, path, map, layout);
    return read_weights(runtime, *model);
  }

  static WeightOrigin torch_name(const std::string& weight) {
    return {{weight.ends_with("kernel") ? "fc.weight" : "fc.bias"}};
  }

 private:
  std::filesystem::path path_ =
      std::filesystem::temp_directory_path() / ("mapped-weights-" + std::to_string(::getpid()) + ".safetensors");
};

TEST_F(MappedWeights, KernelsOfPyTorchAreTransposed) {
  const auto path = save({{"fc.weight", counting({3, 2})}, {"fc.bias", counting({3})}});
  const std::vector<HostTensor> weights = loaded(dense(), path, &torch_name);
  EXPECT_THAT(weights[0].values<float>(), ElementsAre(0, 2, 4, 1, 3, 5));
  EXPECT_THAT(weights[1].values<float>(), ElementsAre(0, 1, 2));
}

TEST_F(MappedWeights, FiltersOfPyTorchAreTransposed) {
  // [out, in, height, width]: out * 6 + in * 2 + width
  const auto path = save({{"w", counting({2, 3, 1, 2})}});
  const auto map = [](const std::string&) { return WeightOrigin{{"w"}}; };
  // [height, width, in, out]
  EXPECT_THAT(loaded(conv(), path, map)[0].values<float>(), ElementsAre(0, 6, 2, 8, 4, 10, 1, 7, 3, 9, 5, 11));
}

TEST_F(MappedWeights, TheLayoutOfKerasIsOurs) {
  const auto path = save({{"dense/kernel", counting({2, 3})}, {"b", counting({3})}});
  const auto map = [](const std::string& weight) { return WeightOrigin{{weight.ends_with("bias") ? "b" : weight}}; };
  EXPECT_THAT(loaded(dense(), path, map, WeightLayout::keras)[0].values<float>(), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST_F(MappedWeights, PartsOfTheOutputsAndSums) {
  const auto path = save({{"all", counting({6, 2})}, {"a", counting({3})}, {"b", counting({3})}});
  const auto map = [](const std::string& weight) {
    return weight.ends_with("bias") ? WeightOrigin{{"a", "b"}} : WeightOrigin{{"all"}, 2, 2};
  };
  const std::vector<HostTensor> weights = loaded(dense(), path, map);
  EXPECT_THAT(weights[0].values<float>(), ElementsAre(6, 8, 10, 7, 9, 11));
  EXPECT_THAT(weights[1].values<float>(), ElementsAre(0, 2, 4));
}

TEST_F(MappedWeights, DimensionsMayBeGroupedOtherwise) {
  const auto map = [](const std::string& weight) { return WeightOrigin{{weight.ends_with("bias") ? "b" : "w"}}; };
  const auto path = save({{"w", counting({2, 3, 1})}, {"b", counting({1, 3})}});
  EXPECT_THAT(loaded(dense(), path, map, WeightLayout::keras)[0].values<float>(), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST_F(MappedWeights, SixteenBitsBecomeFloat32) {
  HostTensor bias(TensorType{{3}, Dtype::bf16});
  for (int i = 0; i < 3; ++i) {
    reinterpret_cast<math::Bfloat16*>(bias.data())[i] = math::to_bfloat16(static_cast<float>(i) / 2);
  }
  const auto path = save({{"fc.weight", counting({3, 2})}, {"fc.bias", bias}});
  EXPECT_THAT(loaded(dense(), path, &torch_name)[1].values<float>(), ElementsAre(0, 0.5, 1));
}

TEST_F(MappedWeights, ATensorOfAnotherShapeIsAnErrorThatNamesBoth) {
  const ModelPtr model = dense();
  const std::vector<HostTensor> before = read_weights(runtime, *model);
  const auto path = save({{"fc.weight", counting({3, 2})}, {"fc.bias", counting({4})}});
  EXPECT_ERROR(path.string() + ": tensor 'fc.bias' is float32[4]; weight 'dense/bias' of model 'm' is float32[3]",
               loaded(model, path, &torch_name));
  EXPECT_EQ(read_weights(runtime, *model)[0].values<float>()[1], before[0].values<float>()[1]);
  save({{"fc.weight", counting({2, 3})}, {"fc.bias", counting({3})}});
  EXPECT_ERROR(HasSubstr(": tensor 'fc.weight' is float32[2, 3], here float32[3, 2]; weight "
                         "'dense/kernel' of model 'm' is float32[2, 3]"),
               loaded(model, path, &torch_name));
  save({{"fc.weight", counting({3, 2})}, {"fc.bias", HostTensor::zeros({{3}, Dtype::i32})}});
  EXPECT_ERROR(HasSubstr("is int32[3]; weight"), loaded(model, path, &torch_name));
}

TEST_F(MappedWeights, AllMissingNamesAreListedBesideTheUnused) {
  const auto path = save({{"fc.weights", counting({3, 2})}, {"steps", counting({1})}});
  EXPECT_ERROR(path.string() +
                   ": 2 of the 2 weights of model 'm' are not there: dense/kernel (as 'fc.weight'), "
                   "dense/bias (as 'fc.bias'); tensors that no weight uses: fc.weights, steps",
               loaded(dense(), path, &torch_name));
  EXPECT_ERROR(HasSubstr("dense/kernel (the map gives no tensor)"),
               loaded(dense(), path, [](const std::string&) { return WeightOrigin{}; }));
}

TEST_F(MappedWeights, PartsMustBeEqual) {
  const auto path = save({{"w", counting({7, 2})}});
  EXPECT_ERROR(HasSubstr(": tensor 'w' is float32[2, 7], whose output dimension cannot be divided "
                         "into 2 equal parts"),
               loaded(dense(), path, [](const std::string&) {
                 return WeightOrigin{{"w"}, 1, 2};
               }));
}

TEST_F(MappedWeights, LayoutsAndUnbuiltModelsAreNamed) {
  EXPECT_ERROR(HasSubstr("load_weights: unknown layout 'jax' (known: keras, torch)"), parse_weight_layout("jax"));
  const auto unbuilt = std::make_shared<Model>("u", std::vector{make_layer("Dense", {{"units", std::int64_t{3}}})});
  EXPECT_ERROR(
      "model 'u': has no weights yet, so they cannot be "
      "loaded; its input's shape makes them",
      loaded(unbuilt, "none", &torch_name));
}

}  // namespace
}  // namespace gpubench
