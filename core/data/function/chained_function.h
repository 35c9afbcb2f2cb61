// Two functions of elements as one: what the first gives stays in a cache-sized block of memory, where the second reads
// it. So maps of maps are one stage, whatever their functions are; two graphs become one graph.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/data/function/element_function.h"

namespace gpubench {

/// What stands for extents that vary where a function must be given extents: two numbers that many others divide, so
/// that functions which cut them evenly work, and large enough to take a crop out of an image.
inline constexpr std::array<std::int64_t, 2> extent_guesses{5040, 10080};

/// What `function` gives for inputs whose extents may be `varying`. Functions know given extents only: an output's
/// extent varies where two guesses at the inputs' make a difference. Throws what the function throws.
std::vector<TensorType> infer_outputs(const ElementFunction& function, std::span<const TensorType> inputs);

/// `second` of what `first` gives for such inputs, whose extents may be `varying`.
std::shared_ptr<const ElementFunction> chain(std::shared_ptr<const ElementFunction> first,
                                             std::shared_ptr<const ElementFunction> second,
                                             std::span<const TensorType> inputs);

}  // namespace gpubench
