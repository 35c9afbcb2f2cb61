// Converts labels and predictions to the form that losses and metrics need.
#pragma once
#include <string_view>

#include "core/graph/graph.h"

namespace gpubench {

/// Floating-point predictions cast to float32: losses and metrics compute in it, whatever type the model uses.
Value in_float32(Graph& graph, Value predictions);
/// Class indices of the predictions' shape without the classes: [batch] from [batch] or [batch, 1] integers, [batch,
/// tokens] from integers of that shape. Throws Error, naming `owner`, for other labels.
Value class_indices(Graph& graph, std::string_view owner, Value labels, Value predictions);
/// float32 labels of the predictions' shape; [batch] and [batch, 1] are converted into each other.
Value matching_labels(Graph& graph, std::string_view owner, Value labels, Value predictions);
/// Throws Error unless predictions are floating-point [batch, ..., classes].
void expect_classes(const Graph& graph, std::string_view owner, Value predictions);

}  // namespace gpubench
