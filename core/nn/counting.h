// Parts that metrics have in common which count predictions and labels.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "core/nn/metric.h"

namespace gpubench {

/// 0 of nothing: Keras' divide_no_nan.
double ratio(double part, double whole);

/// float32: 1 where the bool is true.
Value in_float(Graph& graph, Value condition);
/// 1 where the label is not 0, in the predictions' shape.
Value positive_labels(Graph& graph, const std::string& owner, Value labels, Value predictions);
/// A constant of these numbers.
Value levels_of(Graph& graph, std::span<const float> numbers);
/// Sums over all axes but the last `kept`, with weights that broadcast if there are any: where both are 1, of positive
/// predictions, of positive labels; one behind the other.
Value confusion(Graph& graph, Value positive, Value actual, int kept, Value weights);

/// The last extent; 1 of a scalar.
std::int64_t columns_of(const TensorType& predictions);

/// Throws Error for a number of the option that is not from `low` to `high`.
void expect_within(const Config& config, std::string_view name, const Numbers& numbers, double low, double high);
/// An integer of at least `least`; -1 where it is not given, or where there is no such option.
std::int64_t optional_from(const Config& config, std::string_view name, std::int64_t least);

}  // namespace gpubench
