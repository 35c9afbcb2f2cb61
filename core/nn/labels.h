// Brings labels and predictions into the form that losses and metrics compute with.
#pragma once
#include <string_view>

#include "core/graph/graph.h"

namespace gpubench {

/// Losses and metrics compute in float32, whatever type the model computes in: floating-point predictions are cast.
Value in_float32(Graph& graph, Value predictions);
/// [batch] class indices out of [batch] or [batch, 1] integers. Throws Error, naming `owner`, for anything else.
Value class_indices(Graph& graph, std::string_view owner, Value labels, Value predictions);
/// float32 labels of the predictions' shape; [batch] and [batch, 1] are taken for each other.
Value matching_labels(Graph& graph, std::string_view owner, Value labels, Value predictions);
/// [batch, classes] floating-point predictions. Throws Error otherwise.
void expect_classes(const Graph& graph, std::string_view owner, Value predictions);

}  // namespace gpubench
