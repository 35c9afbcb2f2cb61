#include "core/train/fit/callbacks.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <sstream>

#include "core/train/files/model_files.h"
#include "tests/core/train/fixture.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using support::Blobs;
using support::flat;
using support::small_classifier;
using ::testing::HasSubstr;
using Callbacks = support::TrainTest;

std::filesystem::path scratch(const char* name) {
  std::filesystem::path path = std::filesystem::path(::testing::TempDir()) / name;
  std::filesystem::remove_all(path);
  return path;
}

std::string text_of(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// Puts figures of its own choice into the logs, before the callbacks that come after it.
class Script final : public Callback {
 public:
  explicit Script(std::vector<double> figures) : figures_(std::move(figures)) {}
  void on_epoch_end(Training& training, std::int64_t epoch, Logs& logs) override {
    logs.emplace_back("figure", figures_[static_cast<std::size_t>(epoch)]);
    weights.push_back(flat(training.trainer.weights()));
  }
  std::vector<std::vector<float>> weights;

 private:
  std::vector<double> figures_;
};

TEST_F(Callbacks, EarlyStoppingRestoresTheBestWeights) {
  const Blobs blobs(40);
  Trainer model = trainer(small_classifier());
  const auto script = std::make_shared<Script>(std::vector<double>{3, 1, 2, 1.5, 0, 0});
  const auto stopping = std::make_shared<EarlyStopping>(
      EarlyStoppingOptions{.monitor = "figure", .patience = 2, .mode = "min", .restore_best_weights = true});
  FitOptions options;
  options.epochs = 6;
  options.callbacks = {script, stopping};
  const History history = fit(model, *batches_of({blobs.points, blobs.one_hot}, 10), options);
  EXPECT_EQ(history.epochs.size(), 4U);
  EXPECT_EQ(flat(model.weights()), script->weights[1]);
  EXPECT_NE(flat(model.weights()), script->weights[3]);
}

TEST_F(Callbacks, EarlyStoppingNeedsItsFigure) {
  const Blobs blobs(40);
  Trainer model = trainer(small_classifier());
  FitOptions options;
  options.callbacks = {std::make_shared<EarlyStopping>(EarlyStoppingOptions{})};
  EXPECT_ERROR(
      "EarlyStopping: there is no figure 'val_loss' to monitor (there are: loss, accuracy); "
      "figures of validation need validation_data",
      fit(model, *batches_of({blobs.points, blobs.one_hot}, 10), options));
}

/// Whether each of the figure's values is an improvement, for a model with these metrics.
class Monitored : public support::TrainTest {
 protected:
  std::vector<bool> improvements(std::vector<MetricPtr> metrics, const std::string& figure,
                                 const std::vector<double>& values, const std::string& mode = "auto") {
    const Blobs blobs(10);
    Trainer model(runtime, factory, small_classifier(),
                  {make_optimizer("sgd"), {make_loss("categorical_crossentropy")}, std::move(metrics), {}});
    model.prepare_training(batches_of({blobs.points, blobs.one_hot}, 10)->element_types());
    Monitor monitor("m", figure, mode);
    monitor.begin(model);
    std::vector<bool> better;
    for (const double value : values) better.push_back(monitor.improves(model, {{figure, value}}));
    return better;
  }
};

TEST_F(Monitored, TheMetricSaysWhatIsBetter) {
  const std::vector<double> rising{0, 0.25, 0.75, 0.5};
  const std::vector<bool> up{true, true, true, false}, down{true, false, false, false};
  for (const MetricKind& kind : metric_kinds()) {
    if (!kind.direction) continue;
    ConfigEntries needed;
    for (const ConfigField& field : kind.fields) {
      if (field.required && field.name == "num_classes") needed.emplace_back(field.name, std::int64_t{3});
      if (field.required && field.name == "target_class_ids") needed.emplace_back(field.name, Shape{0, 2});
    }
    const std::vector<bool>& expected = *kind.direction == Direction::up ? up : down;
    EXPECT_EQ(improvements({make_metric(kind.name, needed)}, kind.name, rising), expected) << kind.name;
    EXPECT_EQ(improvements({make_metric(kind.name, needed)}, "val_" + kind.name, rising), expected) << kind.name;
  }
  EXPECT_EQ(improvements({}, "loss", rising), down);
  EXPECT_EQ(improvements({}, "val_loss", rising), down);
  for (const char* better : {"recall", "precision", "f1_score", "auc", "cosine_similarity", "accuracy"})
    EXPECT_EQ(improvements({make_metric(better)}, better, rising), up) << better;
}

// A name that looks like one of ours says nothing.
TEST_F(Monitored, AFunctionOfAScriptNeedsTheMode) {
  const auto zero = [](Graph&, Value, Value predictions) { return predictions; };
  for (const char* name : {"my_accuracy", "recall", "error", "acc"}) {
    const auto with = [&](const std::string& mode) {
      return improvements({make_custom_metric(name, zero)}, name, {0, 1}, mode);
    };
    EXPECT_ERROR("m: nothing says whether larger or smaller values of '" + std::string(name) +
                     "' are better: give mode = \"min\" or mode = \"max\"",
                 with("auto"));
    EXPECT_EQ(with("max"), (std::vector<bool>{true, true}));
    EXPECT_EQ(with("min"), (std::vector<bool>{true, false}));
  }
  EXPECT_ERROR(HasSubstr("give mode"), improvements({}, "learning_rate", {1}));
}

TEST_F(Monitored, ImprovesByMoreThanTheDelta) {
  Trainer model = trainer(small_classifier());
  Monitor delta("m", "x", "min", 0.5);
  delta.begin(model);
  EXPECT_TRUE(delta.improves(model, {{"x", 2}}));
  EXPECT_FALSE(delta.improves(model, {{"x", 1.6}}));
  EXPECT_FALSE(delta.improves(model, {{"x", std::nan("")}}));
  EXPECT_TRUE(delta.improves(model, {{"x", 1.4}}));
  EXPECT_ERROR("EarlyStopping: mode must be 'auto', 'min' or 'max', got 'best'", Monitor("EarlyStopping", "x", "best"));
  EXPECT_ERROR("EarlyStopping: patience must be at least 0, got -1", EarlyStopping({.patience = -1}));
}

TEST_F(Callbacks, SchedulerSetsTheRateOfEachEpoch) {
  const Blobs blobs(40);
  Trainer model = trainer(small_classifier());
  FitOptions options;
  options.epochs = 3;
  options.callbacks = {std::make_shared<LearningRateScheduler>(
      [](std::int64_t epoch, double rate) { return epoch == 0 ? 0.5 : rate / 2; })};
  const History history = fit(model, *batches_of({blobs.points, blobs.one_hot}, 10), options);
  EXPECT_EQ(history.figures.back().first, "learning_rate");
  EXPECT_EQ(history.figures.back().second, (std::vector<double>{0.5, 0.25, 0.125}));
}

TEST_F(Callbacks, CsvLoggerWritesARowPerEpoch) {
  const Blobs blobs(40);
  const auto path = scratch("log.csv");
  Trainer model = trainer(small_classifier());
  FitOptions options;
  options.epochs = 2;
  options.callbacks = {std::make_shared<CsvLogger>(CsvLoggerOptions{.path = path})};
  fit(model, *batches_of({blobs.points, blobs.one_hot}, 10), options);
  const std::string text = text_of(path);
  EXPECT_THAT(text, ::testing::StartsWith("epoch,loss,accuracy\n1,"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
  options.callbacks = {std::make_shared<CsvLogger>(CsvLoggerOptions{.path = "/nonexistent/log.csv"})};
  EXPECT_ERROR(HasSubstr("CSVLogger: cannot write /nonexistent/log.csv"),
               fit(model, *batches_of({blobs.points, blobs.one_hot}, 10), options));
}

TEST_F(Callbacks, CheckpointKeepsTheBestModel) {
  const Blobs blobs(40);
  const auto folder = scratch("best");
  Trainer model = trainer(small_classifier());
  const auto script = std::make_shared<Script>(std::vector<double>{2, 1, 3});
  FitOptions options;
  options.epochs = 3;
  options.callbacks = {
      script, std::make_shared<ModelCheckpoint>(ModelCheckpointOptions{
                  .path = folder.string() + "-{epoch}", .monitor = "figure", .save_best_only = true, .mode = "min"})};
  fit(model, *batches_of({blobs.points, blobs.one_hot}, 10), options);
  EXPECT_FALSE(std::filesystem::exists(folder.string() + "-03"));
  const ModelPtr best = load_model(runtime, factory, folder.string() + "-02", {});
  EXPECT_EQ(flat(read_weights(runtime, *best)), script->weights[1]);
}

TEST_F(Callbacks, ProgressWritesLinesButNoneToAFile) {
  const Blobs blobs(40);
  Trainer model = trainer(small_classifier());
  const auto path = scratch("progress.txt");
  const auto run = [&](Verbosity verbosity) {
    std::FILE* file = std::fopen(path.c_str(), "w");
    FitOptions options;
    options.epochs = 2;
    options.callbacks = {std::make_shared<Progress>(verbosity, file)};
    fit(model, *batches_of({blobs.points, blobs.one_hot}, 10), options);
    std::fclose(file);
    return text_of(path);
  };
  EXPECT_THAT(run(Verbosity::epochs),
              ::testing::MatchesRegex("Epoch 1/2  4 steps - .* - loss: .* - accuracy: .*\nEpoch 2/2  4 steps - .*\n"));
  EXPECT_EQ(run(Verbosity::line), "");
  EXPECT_EQ(run(Verbosity::silent), "");
}

/// Asks for the figures after every batch.
class BatchWatcher final : public Callback {
 public:
  bool wants_batches() const override { return true; }
  void on_batch_end(Training&, std::int64_t batch, const Logs& logs) override {
    batches.push_back(batch);
    last = logs;
  }
  std::vector<std::int64_t> batches;
  Logs last;
};

TEST_F(Callbacks, BatchCallbacksSeeRunningMeans) {
  const Blobs blobs(40);
  Trainer model = trainer(small_classifier());
  const auto watcher = std::make_shared<BatchWatcher>();
  FitOptions options;
  options.callbacks = {watcher};
  const History history = fit(model, *batches_of({blobs.points, blobs.one_hot}, 10), options);
  EXPECT_EQ(watcher->batches, (std::vector<std::int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(*find_log(watcher->last, "loss"), history.figures[0].second[0]);
}

TEST_F(Callbacks, ModelRoundTripsThroughFiles) {
  const Blobs blobs(40);
  const auto folder = scratch("saved");
  Trainer model = trainer(small_classifier());
  const DatasetPtr data = batches_of({blobs.points, blobs.one_hot}, 10);
  fit(model, *data, {});
  save_model(runtime, model.model(), folder);
  const ModelPtr again = load_model(runtime, factory, folder, {});
  Trainer loaded = trainer(again);
  EXPECT_EQ(flat(loaded.predict(*data)), flat(model.predict(*data)));

  EXPECT_ERROR(HasSubstr("cannot be opened"), load_model(runtime, factory, folder / "nowhere", {}));
  std::ofstream(folder / "architecture.json") << "{}";
  EXPECT_ERROR(HasSubstr("model architecture: 'gpubench_model' is missing in {}"),
               load_model(runtime, factory, folder, {}));
  const auto other = std::make_shared<Model>("other", std::vector{support::dense(2, "relu", {4})});
  other->build(factory);
  EXPECT_ERROR(HasSubstr("tensor dense/kernel must be float32[4, 2], found float32[4, 8]"),
               load_weights(runtime, *other, folder / "weights.safetensors"));
}

TEST_F(Callbacks, WeightsMustFit) {
  Trainer model = trainer(small_classifier());
  model.build({});
  std::vector<HostTensor> weights = model.weights();
  weights.pop_back();
  EXPECT_ERROR("model 'small': has 4 variables, got 3 weights", model.set_weights(weights));
  weights.push_back(HostTensor::zeros({{4}, Dtype::f32}));
  EXPECT_ERROR("model 'small': the weight dense_1/bias must be float32[3], got float32[4]", model.set_weights(weights));
}

}  // namespace
}  // namespace gpubench
