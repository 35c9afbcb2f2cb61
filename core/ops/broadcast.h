// NumPy's broadcasting: shapes are aligned at the last dimension; missing dimensions and those of extent 1 are
// repeated.
#pragma once
#include <string_view>

#include "core/graph/graph.h"
#include "core/tensor/tensor_type.h"

namespace gpubench::ops {

/// The shape of an element-wise result. Throws Error naming the op and both shapes.
Shape broadcast_shapes(std::string_view op, const Shape& a, const Shape& b);
/// Whether broadcasting `from` gives exactly `to`.
bool broadcasts_to(const Shape& from, const Shape& to);

/// A constant scalar of any numeric dtype, to combine with tensors of that dtype.
Value scalar(Graph& graph, double value, Dtype dtype);

}  // namespace gpubench::ops
