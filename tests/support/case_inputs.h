// The random inputs of one OpCase, as kernels and as the reference see them.
#pragma once
#include <cstdint>
#include <random>
#include <vector>

#include "tests/support/op_case.h"

namespace gpubench::support {

/// GPUBENCH_TEST_SEED, or drawn once per process.
std::uint64_t run_seed();

struct CaseInputs {
  /// Another `draw` gives other values.
  explicit CaseInputs(const OpCase& op_case, std::uint64_t draw = 0);

  std::mt19937_64 random;
  std::vector<HostTensor> tensors;
  std::vector<Array> arrays;  ///< the tensors' values after rounding to their dtypes
};

}  // namespace gpubench::support
