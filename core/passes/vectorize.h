// Turns a function of one element into one of many at once: every tensor that depends on the element gets the elements
// as a new first dimension. Each op says its own form (Op::block_form); where one has none, there is no such function.
#pragma once
#include <cstdint>
#include <optional>

#include "core/passes/pass.h"

namespace gpubench {

/// `element` for `count` elements: its inputs and outputs are [count, ...], and each element's part of an output holds
/// the bytes that `element` gives for it alone. None where an op has no form for blocks.
std::optional<Program> vectorize(const Program& element, std::int64_t count);

}  // namespace gpubench
