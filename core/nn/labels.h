// Converts labels and predictions to the form that losses and metrics need.
#pragma once
#include <string>
#include <string_view>

#include "core/graph/graph.h"

namespace gpubench {

/// Floating-point predictions cast to float32: losses and metrics compute in it, whatever type the model uses.
Value in_float32(Graph& graph, Value predictions);
/// Labels of [batch] for predictions of [batch, 1], and the other way round, in the predictions' shape; others as they
/// are. Every loss and metric gets them so.
Value meeting_labels(Graph& graph, Value labels, Value predictions);
/// Throws Error, naming `owner`, for floating-point labels that a function of a script would broadcast against
/// predictions of one dimension more or less: [batch] and [batch, classes].
void expect_no_broadcast(const Graph& graph, std::string_view owner, Value labels, Value predictions);
/// Class indices of the predictions' shape without the classes: [batch] from [batch] or [batch, 1] integers, [batch,
/// tokens] from integers of that shape. Throws Error, naming `owner`, for other labels.
Value class_indices(Graph& graph, std::string_view owner, Value labels, Value predictions);
/// float32 labels of the predictions' shape; [batch] and [batch, 1] are converted into each other.
Value matching_labels(Graph& graph, std::string_view owner, Value labels, Value predictions);
/// `weights` of examples, [batch] or [batch, steps] (or one for all), in a form that multiplies `values` of the loss or
/// metric `name`: of their type, and as many dimensions. Throws Error naming it for others.
Value fitting_weights(Graph& graph, const std::string& name, Value weights, const TensorType& values);
/// `values` of the loss or metric `name` times the weights of their examples.
Value weighted(Graph& graph, const std::string& name, Value values, Value weights);
/// Throws Error unless predictions are floating-point [batch, ..., classes], of one class at least.
void expect_classes(const Graph& graph, std::string_view owner, Value predictions);

}  // namespace gpubench
