// Numbers for collectives whose exact results are known: small integers, which every type holds and adds without
// rounding, and of which not all ranks put in the same.
#pragma once
#include <cstdint>
#include <functional>

#include "core/comm/collective.h"

namespace gpubench {

/// What one of `ranks` ranks puts in at place `i`: 0 but for four ranks, which ones depends on the place.
int collective_input(int rank, int ranks, std::int64_t i);
/// The sum over all ranks of what they put in at place `i`.
int collective_sum(int ranks, std::int64_t i);

using NumberAt = std::function<int(std::int64_t place)>;
/// Writes numbers into host memory.
void write_numbers(const TensorView& tensor, const NumberAt& number);
/// How many elements in host memory are another number.
std::int64_t count_wrong(const TensorView& tensor, const NumberAt& expected);

}  // namespace gpubench
