// Two functions of elements as one: the first one's result stays in a cache-sized block, where the second reads it. So
// maps of maps become one stage for all kinds of functions; two graphs become one graph.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/data/function/element_function.h"

namespace gpubench {

/// Trial values for varying extents, where a function needs concrete ones: both have many divisors, so that functions
/// which divide extents evenly work, and both are large enough for crops of images.
inline constexpr std::array<std::int64_t, 2> extent_guesses{5040, 10080};

/// Output types of `function` for inputs whose extents may be `varying`. Functions accept concrete extents only, so an
/// output's extent is varying if two trial values of the inputs' extents give different results. Throws as the function
/// does.
std::vector<TensorType> infer_outputs(const ElementFunction& function, TensorTypes inputs);

/// `second` applied to the result of `first`, for inputs whose extents may be `varying`.
std::shared_ptr<const ElementFunction> chain(std::shared_ptr<const ElementFunction> first,
                                             std::shared_ptr<const ElementFunction> second, TensorTypes inputs);

}  // namespace gpubench
