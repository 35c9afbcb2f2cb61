#include "core/nn/labels.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/ops/cast.h"
#include "core/ops/elementwise.h"
#include "core/ops/shape_ops.h"

namespace gpubench {

Value in_float32(Graph& graph, Value predictions) {
  return is_floating(graph.type(predictions).dtype) ? ops::cast(graph, predictions, Dtype::f32) : predictions;
}

namespace {

/// Whether one shape is the other with one dimension more at its end.
bool differ_by_last(const Shape& a, const Shape& b) {
  const Shape &longer = a.size() > b.size() ? a : b, &shorter = a.size() > b.size() ? b : a;
  return longer.size() == shorter.size() + 1 && std::equal(shorter.begin(), shorter.end(), longer.begin());
}

}  // namespace

Value meeting_labels(Graph& graph, Value labels, Value predictions) {
  const Shape wanted = graph.type(predictions).shape;
  const TensorType given = graph.type(labels);
  const bool meet = differ_by_last(given.shape, wanted) && given.elements() == element_count(wanted);
  return meet ? ops::reshape(graph, labels, wanted) : labels;
}

void expect_no_broadcast(const Graph& graph, std::string_view owner, Value labels, Value predictions) {
  const TensorType &given = graph.type(labels), &predicted = graph.type(predictions);
  if (!is_floating(given.dtype) || !differ_by_last(given.shape, predicted.shape)) return;
  throw Error(
      fmt::format("{}: labels {} do not match predictions {}: their difference would pair each label with the "
                  "predictions of all examples; give the labels as many dimensions, or integers where they are "
                  "class indices",
                  owner, to_string(given), to_string(predicted)));
}

void expect_classes(const Graph& graph, std::string_view owner, Value predictions) {
  const TensorType& type = graph.type(predictions);
  if (type.rank() < 2 || !is_floating(type.dtype)) {
    throw Error(fmt::format("{}: predictions must be floating-point [batch, classes], got {}", owner, to_string(type)));
  }
  if (type.shape.back() == 0) {
    throw Error(fmt::format("{}: the predictions {} are of no class; at least one is needed", owner, to_string(type)));
  }
}

Value class_indices(Graph& graph, std::string_view owner, Value labels, Value predictions) {
  expect_classes(graph, owner, predictions);
  const TensorType type = graph.type(labels);
  Shape wanted = graph.type(predictions).shape;
  wanted.back() = 1;
  const bool column = type.shape == wanted;
  wanted.pop_back();
  if (type.shape != wanted && !column) {
    throw Error(fmt::format("{}: labels must be one class index per example, {}, got {} for predictions {}", owner,
                            to_string(wanted), to_string(type), to_string(graph.type(predictions))));
  }
  if (is_floating(type.dtype) || type.dtype == Dtype::boolean || type.dtype == Dtype::bytes) {
    throw Error(fmt::format("{}: labels must be integers, got {}; one-hot labels go with categorical_crossentropy",
                            owner, to_string(type)));
  }
  return ops::reshape(graph, labels, wanted);
}

Value matching_labels(Graph& graph, std::string_view owner, Value labels, Value predictions) {
  const Shape wanted = graph.type(predictions).shape;
  const TensorType given = graph.type(labels);
  if (given.shape != wanted) {
    const bool same_count = given.elements() == element_count(wanted);
    const bool column = (given.rank() == 1 && wanted.size() == 2) || (given.rank() == 2 && wanted.size() == 1);
    if (!same_count || !column) {
      const bool sparse = given.rank() == 1 && wanted.size() == 2;
      throw Error(fmt::format("{}: labels must have the shape of the predictions {}, got {}{}", owner,
                              to_string(wanted), to_string(given),
                              sparse ? "; class indices go with sparse_categorical_crossentropy" : ""));
    }
    labels = ops::reshape(graph, labels, wanted);
  }
  return ops::cast(graph, labels, graph.type(predictions).dtype);
}

Value fitting_weights(Graph& graph, const std::string& name, Value weights, const TensorType& values) {
  Shape shape = graph.type(weights).shape;
  const auto fits = [&] {
    return shape.size() <= values.shape.size() && std::equal(shape.begin(), shape.end(), values.shape.begin());
  };
  if (!fits() && shape.size() >= 2 && shape.back() == 1) shape.pop_back();
  if (!fits()) {
    throw Error(fmt::format("sample weights: one number per example is expected for the values {} of {}, got {}{}",
                            to_string(values), name, to_string(graph.type(weights)),
                            values.rank() == 0 ? "; what gives one number for a batch takes no weights" : ""));
  }
  shape.resize(values.shape.size(), 1);
  return ops::reshape(graph, ops::cast(graph, weights, values.dtype), shape);
}

Value weighted(Graph& graph, const std::string& name, Value values, Value weights) {
  const TensorType type = graph.type(values);
  return ops::mul(graph, values, fitting_weights(graph, name, weights, type));
}

}  // namespace gpubench
