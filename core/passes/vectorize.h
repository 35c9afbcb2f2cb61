// Turns a function of one element into a function of many: every tensor that depends on the element gets a new first
// dimension for the elements. Each op provides its own form (Op::block_form); if one op has none, the function cannot
// be vectorized.
#pragma once
#include <cstdint>
#include <optional>

#include "core/passes/pass.h"

namespace gpubench {

/// `element` for `count` elements: inputs and outputs are [count, ...], and each element's part of an output has
/// exactly the bytes that `element` computes for it alone. None if an op has no block form.
std::optional<Program> vectorize(const Program& element, std::int64_t count);

}  // namespace gpubench
