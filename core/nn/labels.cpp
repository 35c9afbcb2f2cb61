#include "core/nn/labels.h"

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/ops/cast.h"
#include "core/ops/shape_ops.h"

namespace gpubench {

Value in_float32(Graph& graph, Value predictions) {
  return is_floating(graph.type(predictions).dtype) ? ops::cast(graph, predictions, Dtype::f32) : predictions;
}

void expect_classes(const Graph& graph, std::string_view owner, Value predictions) {
  const TensorType& type = graph.type(predictions);
  if (type.rank() >= 2 && is_floating(type.dtype)) return;
  throw Error(fmt::format("{}: predictions must be floating-point [batch, classes], got {}", owner, to_string(type)));
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

}  // namespace gpubench
