// Labels and predictions of a graph, for tests of losses and metrics.
#pragma once
#include <string>
#include <string_view>
#include <utility>

#include "core/nn/loss.h"
#include "core/nn/metric.h"

namespace gpubench {

struct LossPair {
  LossPair(TensorType label_type, TensorType prediction_type)
      : labels(graph.input(std::move(label_type), "y")), predictions(graph.input(std::move(prediction_type), "p")) {}
  Graph graph;
  Value labels, predictions;

  Shape loss(std::string_view name, const ConfigEntries& options = {}) {
    return graph.type(make_loss(name, options)->call(graph, labels, predictions)).shape;
  }
  Shape metric(std::string_view name, const ConfigEntries& options = {}) {
    return graph.type(make_metric(name, options)->call(graph, labels, predictions)).shape;
  }
  std::string last_op() const { return std::string(graph.nodes().back().op->name()); }
};

}  // namespace gpubench
