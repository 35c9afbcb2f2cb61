// Batch norm is folded into the weights before it in evaluation and prediction; what was folded follows every change of
// the weights.
#include "core/data/source/from_tensor_slices.h"
#include "core/data/stage/batch.h"
#include "tests/core/train/fixture.h"

namespace gpubench {
namespace {

using support::Blobs;

class FoldedWeights : public support::TrainTest {
 protected:
  static ModelPtr normalized() {
    return std::make_shared<Model>(
        "normalized",
        std::vector{support::dense(8, "", {4}), make_layer("BatchNormalization", {{"momentum", 0.5}}),
                    make_layer("Activation", {{"activation", std::string("relu")}}), support::dense(3, "softmax")});
  }

  void expect_same_predictions(const Dataset& data) {
    Trainer folded = trainer(model);
    CompileConfig config = classifier();
    config.executor.passes.disabled.insert("fold_batch_norm");
    Trainer plain = trainer(model, std::move(config));
    const auto one = support::flat(kept.predict(data)), fresh = support::flat(folded.predict(data)),
               other = support::flat(plain.predict(data));
    for (std::size_t i = 0; i < other.size(); ++i) {
      EXPECT_NEAR(one[i], other[i], 1e-5);
      EXPECT_NEAR(fresh[i], other[i], 1e-5);
    }
  }

  ModelPtr model = normalized();
  Trainer kept = trainer(model);  // its plans are made once
};

TEST_F(FoldedWeights, FollowTrainingAndSetWeights) {
  const Blobs blobs(24);
  const DatasetPtr data = batch(from_tensor_slices({blobs.points, blobs.one_hot}), 8);
  FitOptions fitting;
  fitting.epochs = 2;
  std::vector<float> before;
  for (int round = 0; round < 3; ++round) {
    fit(kept, *data, fitting);
    const auto now = support::flat(kept.predict(*data));
    EXPECT_NE(now, before);
    before = now;
    expect_same_predictions(*data);
    kept.evaluate(*data);
  }
  std::vector<HostTensor> weights = kept.weights();
  for (HostTensor& weight : weights) {
    for (float& value : weight.values<float>()) value = value * 0.5F + 0.25F;
  }
  kept.set_weights(weights);
  EXPECT_NE(support::flat(kept.predict(*data)), before);
  expect_same_predictions(*data);
}

}  // namespace
}  // namespace gpubench
