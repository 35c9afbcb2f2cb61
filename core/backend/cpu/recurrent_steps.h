// What the loops of all recurrent cells share: the order of the steps, and inputs that only some ops have.
#pragma once
#include <cstdint>
#include <memory>

#include "core/backend/backend.h"
#include "core/backend/cpu/lanes.h"
#include "core/backend/cpu/loop_kernel.h"
#include "core/backend/cpu/parallel.h"
#include "core/ops/recurrent.h"

namespace gpubench::cpu {

/// Order of the steps, and the work of one run.
struct RecurrentSteps {
  RecurrentSteps(const RecurrentExtents& of, const RecurrentAttributes& given)
      : extents(of),
        options(given),
        gates(gates_of(given.cell)),
        threads(threads_for(of.batch, of.steps * of.batch * of.units * of.units * gates / lane_count)) {}

  /// The step that is computed as number `turn`.
  std::int64_t step(std::int64_t turn) const { return options.backwards ? extents.steps - 1 - turn : turn; }
  /// Elements of a step of the states.
  std::int64_t state_elements() const { return extents.batch * extents.units; }

  RecurrentExtents extents;
  RecurrentAttributes options;
  std::int64_t gates;
  int threads;
};

/// The extras of one run.
struct RunExtras {
  RunExtras(const RecurrentAttributes& options, Views inputs, std::size_t own) {
    const RecurrentExtras<TensorView> given(options, inputs.subspan(own));
    if (given.factors != nullptr) factors = given.factors->as<float>();
    if (given.mask != nullptr) mask = given.mask->as<bool>();
  }
  /// `at`: step * batch + row.
  bool masked(std::int64_t at) const { return mask != nullptr && !mask[at]; }

  const float* factors = nullptr;
  const bool* mask = nullptr;
};

}  // namespace gpubench::cpu
