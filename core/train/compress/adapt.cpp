#include "core/train/compress/adapt.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <numeric>
#include <vector>

#include "core/base/error.h"
#include "core/data/tune/pipeline.h"
#include "core/exec/executor.h"
#include "core/exec/plan_cache.h"
#include "core/ops/cast.h"
#include "core/ops/elementwise.h"
#include "core/ops/reduce.h"

namespace gpubench {
namespace {

/// Mean and variance of each channel of what was added so far, merged batch by batch (Chan, Golub and LeVeque, 1979).
class ChannelMoments {
 public:
  explicit ChannelMoments(Runtime& runtime) : runtime_(runtime) {}

  /// batch: [batch, ..., channels], not empty
  void add(const HostTensor& batch) {
    Executor& executor = *plans_.get({batch.type()}, [&](const auto& types) { return make_plan(types[0]); });
    const std::array inputs{batch.view()};
    executor.run(inputs);
    const HostTensor mean = executor.read(0), variance = executor.read(1);
    const auto channels = static_cast<std::size_t>(batch.shape().back());
    const double count = static_cast<double>(batch.elements()) / static_cast<double>(channels);
    mean_.resize(channels);
    variance_.resize(channels);
    count_ += count;
    const double share = count / count_;
    for (std::size_t i = 0; i < channels; ++i) {
      const double delta = static_cast<double>(mean.values<float>()[i]) - mean_[i];
      mean_[i] += delta * share;
      variance_[i] +=
          share * (static_cast<double>(variance.values<float>()[i]) - variance_[i] + delta * delta * (1 - share));
    }
  }

  bool empty() const { return count_ == 0; }
  const std::vector<double>& mean() const { return mean_; }
  const std::vector<double>& variance() const { return variance_; }

 private:
  std::unique_ptr<Executor> make_plan(const TensorType& type) {
    Graph graph;
    const GraphScope scope(graph, DeviceId{}, "adapt");
    const Value x = ops::cast(graph, graph.input(type, "x"), Dtype::f32);
    std::vector<std::int64_t> axes(type.shape.size() - 1);
    std::iota(axes.begin(), axes.end(), 0);
    const Value mean = ops::reduce_mean(graph, x, axes, true);
    const Value difference = ops::sub(graph, x, mean);
    const Value variance = ops::reduce_mean(graph, ops::square(graph, difference), axes);
    return make_executor(runtime_, std::move(graph), {mean, variance});
  }

  Runtime& runtime_;
  PlanCache<Executor> plans_;
  double count_ = 0;
  std::vector<double> mean_, variance_;
};

void write(Runtime& runtime, const Variable& variable, const std::vector<double>& values) {
  HostTensor numbers(TensorType{variable.type.shape, Dtype::f32});
  std::ranges::transform(values, numbers.values<float>().begin(),
                         [](double value) { return static_cast<float>(value); });
  Graph graph;
  const GraphScope scope(graph, DeviceId{}, "adapt");
  const Value cast = ops::cast(graph, graph.constant(numbers), variable.type.dtype);
  const auto executor = make_executor(runtime, std::move(graph), {cast});
  executor->run({});
  runtime.variables().write(variable, executor->read(0));
}

const HostTensor& batch_of(const Layer& layer, const Element& element) {
  const TensorType& type = element[0].type();
  if (type.rank() < 2 || type.dtype == Dtype::bytes || type.dtype == Dtype::boolean) {
    layer.fail(fmt::format("adapt takes batches [batch, ..., channels] of numbers, got {}{}", to_string(type),
                           type.rank() == 1 ? "; batch the dataset" : ""));
  }
  return element[0];
}

}  // namespace

void adapt(Runtime& runtime, VariableFactory& factory, Layer& layer, const Dataset& dataset) {
  if (layer.kind() != "Normalization") {
    throw Error(fmt::format("adapt: {} has no statistics of data; Normalization has", layer.title()));
  }
  if (layer.config().number("mean") != 0 || layer.config().number("variance") != 1) {
    layer.fail(fmt::format("was given a mean of {} and a variance of {}; adapt is for a layer without them",
                           layer.config().number("mean"), layer.config().number("variance")));
  }
  if (dataset.size() == endless) layer.fail("adapt: the dataset never ends; use take");
  ChannelMoments moments(runtime);
  const std::unique_ptr<Cursor> cursor = open_pipeline(dataset);
  Element element;
  while (cursor->next(element)) {
    const HostTensor& batch = batch_of(layer, element);
    const TensorType example{Shape(batch.shape().begin() + 1, batch.shape().end()), layer.policy().compute};
    layer.build(factory, std::span(&example, 1));
    if (batch.elements() > 0) moments.add(batch);
  }
  if (moments.empty()) layer.fail("adapt: the dataset is empty");
  runtime.synchronize();
  write(runtime, *layer.variables()[0], moments.mean());
  write(runtime, *layer.variables()[1], moments.variance());
}

}  // namespace gpubench
