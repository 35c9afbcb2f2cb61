#include "core/nn/distillation.h"

#include <cmath>
#include <gmock/gmock.h>

#include "core/base/error.h"
#include "core/data/source/from_tensor_slices.h"
#include "core/data/stage/batch.h"
#include "tests/core/train/fixture.h"

namespace gpubench {
namespace {

using support::Blobs;
using support::flat;
using ::testing::ThrowsMessage;

class Distillation : public support::TrainTest {
 protected:
  Distillation() { teacher->build(factory); }

  LossPtr loss(const DistillationOptions& options, const char* labels = "categorical_crossentropy") {
    return make_distillation_loss(teacher, make_loss(labels), options);
  }
  double evaluated(const LossPtr& loss_of_model, const Dataset& on) {
    CompileConfig config = classifier();
    config.losses = {loss_of_model};
    Trainer model = trainer(student, std::move(config));
    return *find_log(model.evaluate(on), "loss");
  }
  std::vector<std::vector<double>> rows(const ModelPtr& model, const Dataset& on) {
    const HostTensor all = trainer(model).predict(on)[0];
    std::vector<std::vector<double>> result;
    for (std::int64_t i = 0; i < all.shape()[0]; ++i) {
      const auto row = all.rows(i, i + 1);
      result.emplace_back(row.values<float>().begin(), row.values<float>().end());
    }
    return result;
  }

  const Blobs blobs{24};
  DatasetPtr data = batch(from_tensor_slices({blobs.points, blobs.one_hot}), 8);
  ModelPtr teacher = support::small_classifier(), student = support::small_classifier();
};

std::vector<double> softened(std::vector<double> probabilities, double temperature) {
  double sum = 0;
  for (double& p : probabilities) sum += p = std::pow(p, 1 / temperature);
  for (double& p : probabilities) p /= sum;
  return probabilities;
}

TEST_F(Distillation, IsTheWeightedSumOfBothCrossEntropies) {
  const auto taught = rows(teacher, *data), learned = rows(student, *data);
  for (const DistillationOptions& options :
       {DistillationOptions{2, 0.7}, DistillationOptions{1, 1}, DistillationOptions{5, 0}}) {
    double expected = 0;
    for (std::size_t i = 0; i < taught.size(); ++i) {
      const auto t = softened(taught[i], options.temperature), s = softened(learned[i], options.temperature);
      for (std::size_t c = 0; c < t.size(); ++c) {
        const double soft = -t[c] * std::log(s[c]) * options.temperature * options.temperature;
        const double hard = c == i % 3 ? -std::log(learned[i][c]) : 0;
        expected += options.weight * soft + (1 - options.weight) * hard;
      }
    }
    expected /= static_cast<double>(taught.size());
    EXPECT_NEAR(evaluated(loss(options), *data), expected, 1e-4 * expected);
  }
}

TEST_F(Distillation, AStudentComesToSayWhatTheTeacherSays) {
  const auto distance = [&] {
    const auto taught = rows(teacher, *data), learned = rows(student, *data);
    double sum = 0;
    for (std::size_t i = 0; i < taught.size(); ++i) {
      for (std::size_t c = 0; c < taught[i].size(); ++c) sum += std::abs(taught[i][c] - learned[i][c]);
    }
    return sum;
  };
  const double before = distance();
  const std::vector<float> teachers = flat(read_weights(runtime, *teacher));
  CompileConfig config = classifier();
  config.losses = {loss({2, 1})};  // the labels do not count
  Trainer model = trainer(student, std::move(config));
  FitOptions options;
  options.epochs = 200;
  fit(model, *data, options);
  EXPECT_LT(distance(), 0.2 * before);
  EXPECT_EQ(flat(read_weights(runtime, *teacher)), teachers);
}

TEST_F(Distillation, TakesClassIndicesWhereItsLossDoes) {
  const DatasetPtr sparse = batch(from_tensor_slices({blobs.points, blobs.indices}), 8);
  EXPECT_NEAR(evaluated(loss({2, 0.5}, "sparse_categorical_crossentropy"), *sparse), evaluated(loss({2, 0.5}), *data),
              1e-5);
}

TEST_F(Distillation, RefusesWhatItCannotDo) {
  const auto refused = [](const auto& make, const char* message) { EXPECT_THAT(make, ThrowsMessage<Error>(message)); };
  refused([&] { loss({0, 0.5}); }, "distillation: temperature must be above 0 and at most 1e+06, got 0");
  refused([&] { loss({2, 1.5}); }, "distillation: weight must be a share from 0 to 1, got 1.5");
  refused([&] { make_distillation_loss(support::small_classifier(), make_loss("mse"), {}); },
          "distillation: the teacher 'small' has no weights yet; train or load it first");
  refused([&] { evaluated(loss({}, "mse"), *data); },
          "distillation: the loss mean_squared_error must give one value per example, it gives float32[8, 3]");
  teacher = support::small_classifier(5);
  teacher->build(factory);
  refused([&] { evaluated(loss({}), *data); },
          "distillation: the teacher 'small' gives [8, 5] where the model gives [8, 3]; both need the same classes");
}

}  // namespace
}  // namespace gpubench
