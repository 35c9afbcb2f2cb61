#include "core/experiment/steps/profiler.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <sstream>

#include "core/base/error.h"
#include "core/data/stage/prefetch.h"
#include "core/results/info.h"
#include "core/train/fit/fit.h"
#include "tests/core/train/fixture.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using support::Blobs;
using ::testing::HasSubstr;

class ProfilerTest : public support::TrainTest {
 protected:
  ProfilerTest() : folder_(std::filesystem::path(::testing::TempDir()) / "profiler") {
    std::filesystem::remove_all(folder_);
  }
  ~ProfilerTest() override { std::filesystem::remove_all(folder_); }

  /// Four steps an epoch.
  History train(std::int64_t first, std::int64_t last, std::int64_t epochs, FitOptions options = {}) {
    const Blobs blobs(64);
    Trainer model = trainer(support::small_classifier());
    options.epochs = epochs;
    ProfilerOptions profiled{.first = first, .last = last, .path = folder_.string()};
    profiled.warn = [this](const std::string& reason) { warning_ = reason; };
    options.callbacks.push_back(std::make_shared<Profiler>(profiled));
    History history = fit(model, *batches_of({blobs.points, blobs.one_hot}, 16), options);
    EXPECT_EQ(runtime.spans(), nullptr) << "nothing is traced any more";
    return history;
  }
  std::string text(const char* name) const {
    std::ostringstream read;
    read << std::ifstream(folder_ / name).rdbuf();
    return read.str();
  }

  std::filesystem::path folder_;
  std::string warning_;
};

TEST_F(ProfilerTest, ATrainingThatFailsEndsItsTrace) {
  struct Failing final : Callback {
    void on_batch_end(Training&, std::int64_t batch, const Logs&) override {
      if (batch == 2) throw Error("odd");
    }
    bool wants_batches() const override { return true; }
  };
  const Blobs blobs(64);
  const DatasetPtr data = batches_of({blobs.points, blobs.one_hot}, 16);
  const auto profiler = std::make_shared<Profiler>(
      ProfilerOptions{.first = 2, .last = 4, .path = folder_.string(), .warn = [](auto&) {}});
  Trainer model = trainer(support::small_classifier());
  FitOptions options;
  options.callbacks = {profiler, std::make_shared<Failing>()};
  EXPECT_THROW(fit(model, *data, options), Error);
  EXPECT_EQ(runtime.spans(), nullptr) << "the profiler may outlive the runtime";
  options.callbacks = {profiler};
  fit(model, *data, options);
  EXPECT_THAT(text("profile.txt"), HasSubstr("3 steps of "));
}

TEST_F(ProfilerTest, WritesTraceAndProfileOfItsStepsOverEpochs) {
  train(6, 10, 3);
  const Info profile = parse_json(text("profile.json"), "profile");
  EXPECT_EQ(profile.text("steps"), "5");
  EXPECT_THAT(text("profile.txt"), HasSubstr("5 steps of "));
  EXPECT_THAT(text("profile.txt"), HasSubstr("dense"));
  EXPECT_THAT(text("trace.json"), HasSubstr("\"cat\":\"compute\""));
  EXPECT_THAT(text("trace.json"), HasSubstr("\"role\":\"gradient\""));
  double sum = 0;
  for (const Info& layer : *profile.find("layers")->list()) sum += *number_in(*layer.find("time_s")->cell());
  EXPECT_NEAR(sum / *number_in(*profile.find("step_s")->cell()), 1, 0.02);
}

TEST_F(ProfilerTest, TraceHasALaneForEachThreadOfThePipeline) {
  const Blobs blobs(64);
  Trainer model = trainer(support::small_classifier());
  FitOptions options;
  options.epochs = 2;
  options.callbacks = {std::make_shared<Profiler>(ProfilerOptions{.first = 2, .last = 7, .path = folder_.string()})};
  fit(model, *prefetch(batches_of({blobs.points, blobs.one_hot}, 16), 1), options);
  EXPECT_THAT(text("trace.json"), HasSubstr("\"name\":\"prefetch (thread "));
  EXPECT_THAT(text("trace.json"), HasSubstr("\"name\":\"make element\""));
  const Info profile = parse_json(text("profile.json"), "profile");
  double sum = 0;
  for (const Info& layer : *profile.find("layers")->list()) sum += *number_in(*layer.find("time_s")->cell());
  EXPECT_NEAR(sum / *number_in(*profile.find("step_s")->cell()), 1, 0.02) << "they count in no layer";
}

TEST_F(ProfilerTest, TracesTheFirstStep) {
  train(1, 1, 1);
  EXPECT_EQ(parse_json(text("profile.json"), "profile").text("steps"), "1");
}

TEST_F(ProfilerTest, StepsMustBeInOrderAndExist) {
  EXPECT_ERROR(
      "Profiler: steps = { 0, 3 }: the first and the last step are expected, from 1, in "
      "this order",
      Profiler({.first = 0, .last = 3, .path = "x"}));
  EXPECT_ERROR(HasSubstr("{ 5, 4 }"), Profiler({.first = 5, .last = 4, .path = "x"}));
  EXPECT_ERROR("Profiler: steps = { 7, 9 }: the training has only 8 steps (2 epochs of 4)", train(7, 9, 2));
}

/// Ends the training after the first epoch.
class Stop final : public Callback {
 public:
  void on_epoch_end(Training& training, std::int64_t, Logs&) override { training.stop = true; }
};

TEST_F(ProfilerTest, OfATrainingThatEndsEarlyWritesWhatItHas) {
  FitOptions options;
  options.callbacks = {std::make_shared<Stop>()};
  train(3, 7, 3, options);
  EXPECT_EQ(parse_json(text("profile.json"), "profile").text("steps"), "2");
}

TEST_F(ProfilerTest, OfATrainingThatNeverCameToItsStepsSaysSoAndKeepsTheHistory) {
  const std::string reason = "Profiler: steps = { 6, 7 }: nothing was traced, the training ended after 4 steps";
  FitOptions options;
  options.callbacks = {std::make_shared<Stop>()};
  EXPECT_EQ(train(6, 7, 3, options).epochs.size(), 1U);
  EXPECT_EQ(text("profile.txt"), reason + "\n");
  EXPECT_EQ(warning_, reason);
  EXPECT_EQ(runtime.spans(), nullptr);
}

TEST_F(ProfilerTest, NeedsAFolderBeforeItTrains) {
  std::ofstream(folder_) << "a file";
  EXPECT_ERROR(HasSubstr("Profiler: cannot make the folder "), train(1, 2, 1));
}

}  // namespace
}  // namespace gpubench
