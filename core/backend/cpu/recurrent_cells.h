// What the loops of recurrent ops share: the order of the steps, inputs that only some ops have, and the cells for one
// row of the batch: gates, memory and state of `count` neighbouring units from the sums of the product with the
// previous state, and the derivatives. `units` is the distance between gates.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>

#include "core/backend/backend.h"
#include "core/backend/cpu/lanes.h"
#include "core/backend/cpu/loop_kernel.h"
#include "core/backend/cpu/parallel.h"
#include "core/math/elementary.h"
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
    if (given.state != nullptr) state = given.state->as<float>();
    if (given.memory != nullptr) memory = given.memory->as<float>();
    if (given.dmemory != nullptr) dmemory = given.dmemory->as<float>();
  }
  /// `at`: step * batch + row.
  bool masked(std::int64_t at) const { return mask != nullptr && !mask[at]; }

  const float* factors = nullptr;
  const bool* mask = nullptr;
  const float *state = nullptr, *memory = nullptr;  ///< before the first step; null for 0
  const float* dmemory = nullptr;
};

/// What a cell reads and writes in one row, at its first unit.
struct CellRow {
  const float* x;                             ///< of each gate
  const float* sums;                          ///< of each gate, lane_count apart
  const float* bias;                          ///< gru
  const float *state_before, *memory_before;  ///< of the previous step
  float *gates, *memory, *state;
};

struct LstmCell {
  static constexpr std::int64_t gates = 4;
  static constexpr bool carries_memory = true;

  static void forward(std::int64_t count, std::int64_t units, const CellRow& row) {
#pragma omp simd
    for (std::int64_t u = 0; u < count; ++u) {
      const float i = math::sigmoid(row.x[u] + row.sums[u]);
      const float f = math::sigmoid(row.x[units + u] + row.sums[lane_count + u]);
      const float g = math::tanh(row.x[2 * units + u] + row.sums[2 * lane_count + u]);
      const float o = math::sigmoid(row.x[3 * units + u] + row.sums[3 * lane_count + u]);
      const float c = f * row.memory_before[u] + i * g;
      row.gates[u] = i;
      row.gates[units + u] = f;
      row.gates[2 * units + u] = g;
      row.gates[3 * units + u] = o;
      row.memory[u] = c;
      row.state[u] = o * math::tanh(c);
    }
  }
};

struct GruCell {
  static constexpr std::int64_t gates = 3;
  static constexpr bool carries_memory = false;

  static void forward(std::int64_t count, std::int64_t units, const CellRow& row) {
#pragma omp simd
    for (std::int64_t u = 0; u < count; ++u) {
      const float z = math::sigmoid(row.x[u] + row.sums[u]);
      const float r = math::sigmoid(row.x[units + u] + row.sums[lane_count + u]);
      const float inner = row.sums[2 * lane_count + u] + row.bias[u];
      const float g = math::tanh(row.x[2 * units + u] + r * inner);
      row.gates[u] = z;
      row.gates[units + u] = r;
      row.gates[2 * units + u] = g;
      row.memory[u] = inner;
      row.state[u] = z * row.state_before[u] + (1.0F - z) * g;
    }
  }
};

/// A masked step.
template <class Cell>
void carry(std::int64_t count, std::int64_t units, const CellRow& row) {
  for (std::int64_t gate = 0; gate < Cell::gates; ++gate) std::fill_n(row.gates + gate * units, count, 0.0F);
  std::copy_n(row.state_before, count, row.state);
  if constexpr (Cell::carries_memory) {
    std::copy_n(row.memory_before, count, row.memory);
  } else {
    std::fill_n(row.memory, count, 0.0F);
  }
}

/// The same for the derivatives, over all units of a row.
struct CellGradientRow {
  const float *gates, *memory;
  const float* before;  ///< of the previous step; lstm: its memory, gru: its state
  const float* dstate;
  float* dh;    ///< in: of the state from the next step; out: what the previous state gets besides the product
  float* dc;    ///< lstm: of the memory, from the next step and for the previous one
  float* dx;    ///< of the gates' sums as x has them; may be the gates
  float* sums;  ///< gru: of the gates' sums as the product has them; lstm: the same as dx
};

inline void lstm_gradient(std::int64_t units, const CellGradientRow& row) {
#pragma omp simd
  for (std::int64_t u = 0; u < units; ++u) {
    const float i = row.gates[u], f = row.gates[units + u], g = row.gates[2 * units + u], o = row.gates[3 * units + u];
    const float tanh_c = math::tanh(row.memory[u]), dh = row.dstate[u] + row.dh[u];
    const float dc = row.dc[u] + dh * o * (1.0F - tanh_c * tanh_c);
    row.dx[u] = dc * g * i * (1.0F - i);
    row.dx[units + u] = dc * row.before[u] * f * (1.0F - f);
    row.dx[2 * units + u] = dc * i * (1.0F - g * g);
    row.dx[3 * units + u] = dh * tanh_c * o * (1.0F - o);
    row.dc[u] = dc * f;
    row.dh[u] = 0;
  }
}

inline void gru_gradient(std::int64_t units, const CellGradientRow& row) {
#pragma omp simd
  for (std::int64_t u = 0; u < units; ++u) {
    const float z = row.gates[u], r = row.gates[units + u], g = row.gates[2 * units + u];
    const float dh = row.dstate[u] + row.dh[u];
    const float dz = dh * (row.before[u] - g) * z * (1.0F - z), dg = dh * (1.0F - z) * (1.0F - g * g);
    const float dr = dg * row.memory[u] * r * (1.0F - r);
    row.dx[u] = row.sums[u] = dz;
    row.dx[units + u] = row.sums[units + u] = dr;
    row.dx[2 * units + u] = dg;
    row.sums[2 * units + u] = dg * r;
    row.dh[u] = dh * z;
  }
}

/// Of a masked step, whose gates add up to `width`.
inline void carry_gradient(std::int64_t units, std::int64_t width, const CellGradientRow& row) {
  std::fill_n(row.dx, width, 0.0F);
  std::fill_n(row.sums, width, 0.0F);
  for (std::int64_t u = 0; u < units; ++u) row.dh[u] += row.dstate[u];
}

}  // namespace gpubench::cpu
