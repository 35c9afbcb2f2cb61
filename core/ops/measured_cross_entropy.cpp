#include "core/ops/measured_cross_entropy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>

#include "core/ops/check.h"
#include "core/ops/loss.h"
#include "core/ops/metric.h"
#include "core/ops/state.h"

namespace gpubench {
namespace {

/// [..., c] as [rows, c], and class indices [...] as [rows].
TensorType in_rows(const TensorType& type, std::int64_t rows) {
  if (!is_floating(type.dtype)) return {{rows}, type.dtype};
  return {{rows, type.shape.back()}, type.dtype};
}

}  // namespace

std::string MeasuredCrossEntropy::attributes() const {
  return fmt::format("gradient={} adds={} ranks_logits={} metrics=[{}]", options.gradient, options.adds,
                     options.ranks_logits, fmt::join(options.metrics, ", "));
}

std::vector<MeasuredCrossEntropy::Part> MeasuredCrossEntropy::parts(TensorTypes inputs) const {
  ops::expect_count(name(), inputs, first_state() + (options.adds ? figures() : 0));
  const TensorType &logits = inputs[0], &labels = inputs[1];
  const bool sparse = !is_floating(labels.dtype);
  std::vector<Part> parts;
  const auto add = [&](OpPtr op, std::vector<TensorType> of) {
    std::vector<TensorType> outputs = op->infer(of);
    parts.push_back({std::move(op), std::move(of)});
    return outputs[0];
  };
  const OpPtr loss = sparse ? OpPtr(std::make_shared<const SparseSoftmaxCrossEntropy>())
                            : OpPtr(std::make_shared<const SoftmaxCrossEntropy>());
  std::vector<TensorType> values{add(loss, {logits, labels})};
  if (options.gradient) {
    const OpPtr gradient = sparse ? OpPtr(std::make_shared<const SparseSoftmaxCrossEntropyGradient>())
                                  : OpPtr(std::make_shared<const SoftmaxCrossEntropyGradient>());
    add(gradient, {inputs[2], logits, labels});
  }
  const std::int64_t rows = values[0].elements();
  for (const std::int64_t k : options.metrics) {
    values.push_back(add(std::make_shared<const TopKMatches>(k), {in_rows(logits, rows), in_rows(labels, rows)}));
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (options.adds) add(std::make_shared<const AccumulateMean>(), {inputs[first_state() + i], values[i]});
    if (!options.adds) add(std::make_shared<const SumAndCount>(), {values[i]});
  }
  return parts;
}

std::vector<TensorType> MeasuredCrossEntropy::infer(TensorTypes inputs) const {
  static_cast<void>(parts(inputs));
  std::vector<TensorType> outputs(first_figure(), inputs[0]);
  outputs.insert(outputs.end(), figures(), TensorType{{2}, Dtype::f32});
  return outputs;
}

std::vector<Alias> MeasuredCrossEntropy::aliases() const {
  std::vector<Alias> states;
  for (std::size_t i = 0; options.adds && i < figures(); ++i) {
    states.push_back(
        {static_cast<int>(first_figure() + i), static_cast<int>(first_state() + i), Alias::Kind::in_place});
  }
  return states;
}

double MeasuredCrossEntropy::flops(TensorTypes inputs, TensorTypes) const {
  double total = 0;
  for (const Part& part : parts(inputs)) total += part.op->flops(part.inputs, part.op->infer(part.inputs));
  return total;
}

}  // namespace gpubench
