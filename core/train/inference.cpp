// Evaluation and prediction of core/train/trainer.h.
#include <cstring>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/train/trainer.h"

namespace gpubench {
namespace {

void require_end(const Dataset& dataset, const Inference& how, std::string_view what) {
  if (how.steps < 0) throw Error(fmt::format("{}: steps must be at least 1, got {}", what, how.steps));
  if (how.steps > 0 || dataset.size() != endless) return;
  throw Error(fmt::format("{}: the dataset never ends; use take, or give a number of steps", what));
}

/// Grows one output's batches into one tensor.
HostTensor join(const std::vector<HostTensor>& batches) {
  TensorType type = batches.front().type();
  if (type.shape.empty()) throw Error("predict: the model's output has no batch dimension");
  type.shape[0] = 0;
  for (const HostTensor& batch : batches) type.shape[0] += batch.shape()[0];
  HostTensor joined(type);
  std::byte* at = joined.data();
  for (const HostTensor& batch : batches) {
    std::memcpy(at, batch.data(), batch.bytes());
    at += batch.bytes();
  }
  return joined;
}

}  // namespace

template <class Done>
void Trainer::run(std::string_view operation, StepLoop& steps, const Dataset& dataset, const Inference& how,
                  Done&& done) {
  const std::unique_ptr<Cursor> cursor = open(dataset);
  const std::optional<std::int64_t> size = dataset.size();
  std::int64_t batch = 0;
  bool has_ended = false;
  for (bool goes_on = true; goes_on && (how.steps == 0 || batch < how.steps); ++batch) {
    const bool is_behind = size && *size != endless && batch >= *size;
    if (how.before && !is_behind) how.before(batch);
    has_ended = !steps.step(*cursor);
    if (has_ended) break;
    goes_on = done(batch);
  }
  runtime_.synchronize();  // before the elements' memory goes with the cursor
  if (batch == 0) throw Error(fmt::format("model '{}': {} got an empty dataset", model_->name(), operation));
  if (has_ended && batch < how.steps && config_.warn) {
    config_.warn(fmt::format("{}: the dataset has ended after {} of {} steps", operation, batch, how.steps));
  }
}

Logs Trainer::evaluate(const Dataset& dataset, const Inference& how) {
  require_end(dataset, how, "evaluate");
  StepLoop steps = evaluation_loop();
  reset_metrics(StepPhase::evaluation);
  run("evaluate", steps, dataset, how, [&](std::int64_t batch) { return !how.after || how.after(batch, {}); });
  return read_metrics(StepPhase::evaluation);
}

std::vector<HostTensor> Trainer::predict(const Dataset& dataset, const Inference& how) {
  require_end(dataset, how, "predict");
  StepLoop steps = prediction_loop();
  std::vector<std::vector<HostTensor>> batches(model_->outputs().size());
  run("predict", steps, dataset, how, [&](std::int64_t batch) {
    batches.resize(model_->outputs().size());  // known with the first batch
    std::vector<HostTensor> outputs;
    for (std::size_t i = 0; i < batches.size(); ++i) {
      batches[i].push_back(steps.plan().executor->read(static_cast<int>(i)));
      if (how.after) outputs.push_back(batches[i].back());
    }
    return !how.after || how.after(batch, outputs);
  });
  std::vector<HostTensor> results;
  for (const auto& output : batches) results.push_back(join(output));
  return results;
}

}  // namespace gpubench
