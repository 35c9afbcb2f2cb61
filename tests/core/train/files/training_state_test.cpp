#include "core/train/files/training_state.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/codec/safetensors.h"
#include "core/data/interleave/interleave.h"
#include "core/data/source/from_tensor_slices.h"
#include "core/data/stage/batch.h"
#include "core/data/stage/shuffle.h"
#include "tests/core/train/fixture.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using support::Blobs;
using support::dense;
using support::flat;
using ::testing::HasSubstr;

/// Fails after so many steps of all epochs together.
class PowerCut final : public Callback {
 public:
  explicit PowerCut(int steps) : left_(steps) {}
  void on_step(std::int64_t) override {
    if (--left_ == 0) throw Error("power cut");
  }
  bool wants_steps() const override { return true; }

 private:
  int left_;
};

class TrainingState : public support::TrainTest {
 protected:
  TrainingState() { std::filesystem::remove(file_); }
  ~TrainingState() override { std::filesystem::remove(file_); }

  /// With dropout, which draws by the optimizer's step, and shuffled data.
  static ModelPtr model() {
    return std::make_shared<Model>(
        "small", std::vector{dense(8, "tanh", {4}), make_layer("Dropout", {{"rate", 0.2}}), dense(3, "softmax")});
  }
  /// 10 batches an epoch.
  static DatasetPtr data() {
    static const Blobs blobs(78);
    return batch(shuffle(from_tensor_slices({blobs.points, blobs.one_hot}), {.buffer = 30, .seed = 9}), 8);
  }
  Trainer fresh() {
    seed = 7;
    return trainer(model());
  }
  /// What a training ends with.
  struct Outcome {
    std::vector<float> weights;
    double last_loss = 0;
    bool operator==(const Outcome&) const = default;
  };
  static Outcome outcome(const Trainer& model, const History& history) {
    EXPECT_EQ(history.figures.front().first, "loss");
    return {flat(model.weights()), history.figures.front().second.back()};
  }
  Outcome uninterrupted(FitOptions options) {
    Trainer model = fresh();
    return outcome(model, fit(model, *data(), options));
  }
  /// Cut off after `steps`, then run again by other objects.
  Outcome resumed(FitOptions options, int steps) {
    options.resume = file_;
    {
      Trainer model = fresh();
      FitOptions cut = options;
      cut.callbacks.push_back(std::make_shared<PowerCut>(steps));
      EXPECT_ERROR("power cut", fit(model, *data(), cut));
    }
    Trainer model = fresh();
    const History history = fit(model, *data(), options);
    EXPECT_EQ(history.epochs.back(), options.epochs - 1);
    std::filesystem::remove(file_);
    return outcome(model, history);
  }

  const std::filesystem::path file_ =
      std::filesystem::temp_directory_path() / ("training-" + std::to_string(::getpid()) + ".safetensors");
};

TEST_F(TrainingState, ResumedTrainingsHaveTheWeightsAndLossesOfUninterruptedOnes) {
  const FitOptions options{.epochs = 3, .save_steps = 0};
  const Outcome expected = uninterrupted(options);
  for (const int steps : {3, 10, 11, 25}) EXPECT_EQ(resumed(options, steps), expected) << steps;
  for (const int steps : {3, 10, 11, 20, 25}) {
    FitOptions often = options;
    often.save_steps = 5;  // divides the epoch's steps: also where it ends
    EXPECT_EQ(resumed(often, steps), expected) << steps;
  }
}

TEST_F(TrainingState, AlsoWhereEpochsAreNotTheDatasets) {
  FitOptions options{.epochs = 5, .steps_per_epoch = 7};
  const Outcome expected = uninterrupted(options);
  for (const std::int64_t save : {0, 2}) {
    options.save_steps = save;
    for (const int steps : {5, 7, 15, 24, 34}) EXPECT_EQ(resumed(options, steps), expected) << steps;
  }
}

TEST_F(TrainingState, NeedsAnOrderToStopWithinAnEpoch) {
  const DatasetPtr any = interleave({data(), data()}, {.parallel = 2, .deterministic = false});
  FitOptions options{.epochs = 1};
  options.resume = file_;
  Trainer model = fresh();
  EXPECT_NO_THROW(fit(model, *any, options));
  options.save_steps = 2;
  EXPECT_ERROR(HasSubstr("fit: resume: elements come as threads have them ready"), fit(model, *any, options));
}

TEST_F(TrainingState, AFinishedTrainingIsNotRepeated) {
  FitOptions options{.epochs = 2};
  options.resume = file_;
  Trainer model = fresh();
  fit(model, *data(), options);
  const std::vector<float> weights = flat(model.weights());
  EXPECT_TRUE(fit(model, *data(), options).epochs.empty());
  EXPECT_EQ(flat(model.weights()), weights);
  options.epochs = 3;
  EXPECT_EQ(fit(model, *data(), options).epochs, std::vector<std::int64_t>{2});
}

TEST_F(TrainingState, EarlierVersionsHadAnotherOrderOfLayers) {
  const auto fresh_with = [&](bool in_order_of_calls) {
    seed = 7;
    const SymbolPtr input = apply_layer(make_layer("Input", {{"shape", Shape{4}}}), {});
    const SymbolPtr deep = apply_layer(dense(8, "relu"), {apply_layer(dense(8, "tanh"), {input})});
    const SymbolPtr sum = apply_layer(make_layer("Add"), {apply_layer(dense(8, "tanh"), {input}), deep});
    const std::vector<SymbolPtr> inputs{input}, outputs{apply_layer(dense(3, "softmax"), {sum})};
    auto model = std::make_shared<Model>("web", inputs, outputs);
    EXPECT_NE(model->layers(), model->called_layers());
    if (in_order_of_calls) model = std::make_shared<Model>("web", inputs, outputs, model->called_layers());
    return trainer(model);
  };
  FitOptions options{.epochs = 3};
  Trainer whole = fresh_with(false);
  fit(whole, *data(), options);

  options.resume = file_;
  options.epochs = 1;
  Trainer earlier = fresh_with(true);
  fit(earlier, *data(), options);
  options.epochs = 3;
  Trainer now = fresh_with(false);
  EXPECT_EQ(fit(now, *data(), options).epochs, (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(flat(now.weights()), flat(whole.weights()));
}

TEST_F(TrainingState, RefusesOtherFilesAndModels) {
  FitOptions options{.epochs = 1};
  options.resume = file_;
  Trainer model = fresh();
  fit(model, *data(), options);

  Trainer other = trainer(support::small_classifier(), classifier("sgd"));
  EXPECT_ERROR(HasSubstr("variables, model, optimizer and metrics have"), fit(other, *data(), options));
  Trainer wider = trainer(std::make_shared<Model>("small", std::vector{dense(9, "tanh", {4}), dense(3, "softmax")}));
  EXPECT_ERROR(HasSubstr("remove the file to start anew"), fit(wider, *data(), options));

  write_safetensors(file_, {.tensors = {{"x", HostTensor::scalar(1.0F)}}, .metadata = {}});
  EXPECT_ERROR(HasSubstr("is no saved training"), fit(model, *data(), options));
  options.resume.clear();
  options.save_steps = 2;
  EXPECT_ERROR("fit: save_steps of 2: at least 1 is needed, and resume must say where to save",
               fit(model, *data(), options));
}

}  // namespace
}  // namespace gpubench
