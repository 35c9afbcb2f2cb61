// Input numbers with exactly known results: small integers, which every type holds and adds without rounding; ranks
// contribute different ones.
#pragma once
#include <cstdint>
#include <functional>

#include "core/comm/collective.h"

namespace gpubench {

/// The input of one of `ranks` ranks at position `i`: 0 except for four ranks, which depend on the position.
int collective_input(int rank, int ranks, std::int64_t i);
/// The sum over all ranks at position `i`.
int collective_sum(int ranks, std::int64_t i);

using NumberAt = std::function<int(std::int64_t place)>;
/// Writes numbers into host memory.
void write_numbers(const TensorView& tensor, const NumberAt& number);
/// Number of elements in host memory that differ from the expected number.
std::int64_t count_wrong(const TensorView& tensor, const NumberAt& expected);

}  // namespace gpubench
