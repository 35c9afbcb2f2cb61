// Recurrent ops in loops of our own: rows of the batch do not depend on each other, so each thread takes its rows
// through all steps, and no step waits for another thread. The kernel is packed once a run.
#include "core/ops/recurrent.h"

#include <algorithm>
#include <array>
#include <type_traits>

#include "core/backend/cpu/cpu_kernels.h"
#include "core/backend/cpu/loop_kernel.h"
#include "core/backend/cpu/onednn.h"
#include "core/backend/cpu/panel_product.h"
#include "core/backend/cpu/parallel.h"
#include "core/backend/cpu/recurrent_cells.h"
#include "core/backend/cpu/widened.h"
#include "core/base/error.h"
#include "core/device/device.h"

namespace gpubench::cpu {
namespace {

constexpr std::array<float, lane_count> lanes_of_zeros{};

/// The workspace: the kernel in panels; with dropout, of each row its state times the factors of each gate.
template <class Cell>
class Forward {
 public:
  explicit Forward(const RecurrentSteps& steps)
      : steps_(steps), kernel_{steps.extents.units, panels_of(steps.extents.units)} {}

  std::size_t workspace_bytes() const {
    const std::int64_t dropped = steps_.options.dropout ? Cell::gates * steps_.state_elements() : 0;
    return static_cast<std::size_t>(kernel_.elements() + dropped) * sizeof(float);
  }

  void operator()(Views inputs, Views outputs, std::span<std::byte> workspace) const {
    const std::int64_t units = steps_.extents.units;
    const std::int64_t term_stride = steps_.options.dropout ? units : Cell::gates * units;
    const std::int64_t gate_stride = steps_.options.dropout ? units * units : units;
    const float* const kernel = inputs[1].as<float>();
    auto* const packed = reinterpret_cast<float*>(workspace.data());
    kernel_.pack(packed, [&](std::int64_t term, std::int64_t panel, std::int64_t gate, std::int64_t lane) {
      const std::int64_t unit = panel * lane_count + lane;
      return unit < units ? kernel[term * term_stride + gate * gate_stride + unit] : 0.0F;
    });
    const std::size_t own = own_inputs(steps_.options.cell);
    const Memory memory{inputs[0].as<float>(),
                        own > 2 ? inputs[2].as<float>() : nullptr,
                        outputs[0].as<float>(),
                        outputs[1].as<float>(),
                        outputs[2].as<float>(),
                        packed + kernel_.elements(),
                        RunExtras(steps_.options, inputs, own)};
    parallel_ranges(steps_.threads, steps_.extents.batch, [&](int, std::int64_t first, std::int64_t last) {
      for (std::int64_t turn = 0; turn < steps_.extents.steps; ++turn) run_step(turn, first, last, packed, memory);
    });
  }

 private:
  using Kernel = PanelMatrix<Cell::gates>;
  struct Memory {
    const float *x, *bias;
    float *states, *memory, *gates, *dropped;
    RunExtras extras;
  };

  static std::int64_t panels_of(std::int64_t units) { return (units + lane_count - 1) / lane_count; }

  /// Rows [first, last) of the batch.
  void run_step(std::int64_t turn, std::int64_t first, std::int64_t last, const float* packed,
                const Memory& memory) const {
    const std::int64_t units = steps_.extents.units, batch = steps_.extents.batch, step = steps_.step(turn);
    const std::int64_t before = turn == 0 ? step : steps_.step(turn - 1);
    const bool from_zero = turn == 0 && memory.extras.state == nullptr;
    // Before the first step the state may be 0: a product of no terms.
    const Kernel kernel{from_zero ? 0 : kernel_.terms, kernel_.panels};
    // Of all rows of the batch.
    const float* const states_before =
        turn == 0 && !from_zero ? memory.extras.state : memory.states + before * batch * units;
    const float* const memory_before = turn == 0 ? memory.extras.memory : memory.memory + before * batch * units;
    if (memory.extras.factors != nullptr && !from_zero) drop(first, last, states_before, memory);
    for (std::int64_t panel = 0; panel < kernel_.panels; ++panel) {
      const std::int64_t unit = panel * lane_count, count = std::min(lane_count, units - unit);
      const auto cells = [&](std::int64_t row, std::int64_t rows, const float* sums) {
        for (std::int64_t r = 0; r < rows; ++r) {
          const std::int64_t at = step * batch + first + row + r, from = (first + row + r) * units + unit;
          const CellRow cell{.x = memory.x + at * Cell::gates * units + unit,
                             .sums = sums + r * Kernel::width,
                             .bias = memory.bias == nullptr ? nullptr : memory.bias + unit,
                             .state_before = from_zero ? lanes_of_zeros.data() : states_before + from,
                             .memory_before = memory_before == nullptr ? lanes_of_zeros.data() : memory_before + from,
                             .gates = memory.gates + at * Cell::gates * units + unit,
                             .memory = memory.memory + at * units + unit,
                             .state = memory.states + at * units + unit};
          if (memory.extras.masked(at)) {
            carry<Cell>(count, units, cell);
          } else if (count == lane_count) {
            Cell::forward(lane_count, units, cell);
          } else {
            Cell::forward(count, units, cell);
          }
        }
      };
      const float* const weights = packed + panel * kernel_.panel_elements();
      if (memory.extras.factors != nullptr) {
        const std::int64_t width = Cell::gates * units;
        kernel.multiply_each(last - first, memory.dropped + first * width, width, weights, cells);
      } else {
        kernel.multiply(last - first, states_before + first * units, units, weights, cells);
      }
    }
  }

  void drop(std::int64_t first, std::int64_t last, const float* states, const Memory& memory) const {
    const std::int64_t units = steps_.extents.units;
    for (std::int64_t row = first; row < last; ++row) {
      for (std::int64_t gate = 0; gate < Cell::gates; ++gate) {
        const std::int64_t at = (row * Cell::gates + gate) * units;
        for (std::int64_t u = 0; u < units; ++u) {
          memory.dropped[at + u] = states[row * units + u] * memory.extras.factors[at + u];
        }
      }
    }
  }

  RecurrentSteps steps_;
  Kernel kernel_;
};

/// The workspace: the transposed kernel in panels; dh, dc and a row of zeros; for gru, the gradient of the products'
/// sums in all steps; and with dropout, all states times the factors of one gate.
template <class Cell>
class Backward {
 public:
  explicit Backward(const RecurrentSteps& steps)
      : steps_(steps), kernel_{Cell::gates * steps.extents.units, panels_of(steps.extents.units)} {}

  std::size_t workspace_bytes() const {
    return static_cast<std::size_t>(kernel_.elements() + 2 * steps_.state_elements() + steps_.extents.units +
                                    sums_elements() + dropped_elements()) *
           sizeof(float);
  }

  void operator()(Views inputs, Views outputs, std::span<std::byte> workspace) const {
    const std::int64_t units = steps_.extents.units;
    auto* const packed = reinterpret_cast<float*>(workspace.data());
    pack(inputs[0].as<float>(), packed);
    float* const dh = packed + kernel_.elements();
    float* const dx = outputs[0].as<float>();
    float* const zeros = dh + 2 * steps_.state_elements();
    const Memory memory{.states = inputs[1].as<float>(),
                        .memory = inputs[2].as<float>(),
                        .gates = inputs[3].as<float>(),
                        .dstates = inputs[4].as<float>(),
                        .zeros = zeros,
                        .dh = dh,
                        .dc = dh + steps_.state_elements(),
                        .dx = dx,
                        .sums = Cell::carries_memory ? dx : zeros + units,
                        .extras = RunExtras(steps_.options, inputs, 5)};
    std::fill_n(dh, 2 * steps_.state_elements() + units, 0.0F);
    parallel_ranges(steps_.threads, steps_.extents.batch, [&](int, std::int64_t first, std::int64_t last) {
      for (std::int64_t turn = steps_.extents.steps - 1; turn >= 0; --turn) {
        run_step(turn, first, last, packed, memory);
      }
    });
    sum_kernel_gradient(memory, zeros + units + sums_elements(), outputs[1].as<float>());
    if (!Cell::carries_memory) sum_bias_gradient(memory.sums, outputs[2].as<float>());
    if (!steps_.options.initial) return;
    constexpr std::size_t own = Cell::carries_memory ? 2 : 3;
    std::copy_n(memory.dh, steps_.state_elements(), outputs[own].as<float>());
    if (Cell::carries_memory) std::copy_n(memory.dc, steps_.state_elements(), outputs[own + 1].as<float>());
  }

 private:
  static constexpr std::int64_t vectors = 4;
  using Kernel = PanelMatrix<vectors>;
  struct Memory {
    const float *states, *memory, *gates, *dstates, *zeros;
    float *dh, *dc, *dx, *sums;
    RunExtras extras;
  };

  static std::int64_t panels_of(std::int64_t units) { return (units + Kernel::width - 1) / Kernel::width; }
  std::int64_t sums_elements() const {
    return Cell::carries_memory ? 0 : steps_.extents.steps * Cell::gates * steps_.state_elements();
  }
  std::int64_t dropped_elements() const {
    const std::int64_t least = steps_.options.initial ? 1 : 0;
    return steps_.options.dropout ? std::max(steps_.extents.steps - 1, least) * steps_.state_elements() : 0;
  }

  void pack(const float* kernel, float* packed) const {
    const std::int64_t units = steps_.extents.units, width = Cell::gates * units;
    const bool by_gates = steps_.options.dropout;
    kernel_.pack(packed, [&](std::int64_t term, std::int64_t panel, std::int64_t v, std::int64_t lane) {
      const std::int64_t unit = (panel * vectors + v) * lane_count + lane;
      if (unit >= units) return 0.0F;
      return by_gates ? kernel[(term / units * units + unit) * units + term % units] : kernel[unit * width + term];
    });
  }

  void run_step(std::int64_t turn, std::int64_t first, std::int64_t last, const float* packed,
                const Memory& memory) const {
    const std::int64_t units = steps_.extents.units, width = Cell::gates * units;
    const std::int64_t batch = steps_.extents.batch, step = steps_.step(turn);
    const std::int64_t before = turn == 0 ? step : steps_.step(turn - 1);
    const float* const carried = Cell::carries_memory ? memory.memory : memory.states;
    const float* const initial = Cell::carries_memory ? memory.extras.memory : memory.extras.state;
    const float* const carried_before = turn == 0 ? initial : carried + before * batch * units;
    for (std::int64_t row = first; row < last; ++row) {
      const std::int64_t at = step * batch + row;
      if (memory.extras.dmemory != nullptr) {
        const float* const dmemory = memory.extras.dmemory + at * units;
        for (std::int64_t u = 0; u < units; ++u) memory.dc[row * units + u] += dmemory[u];
      }
      const CellGradientRow cell{.gates = memory.gates + at * width,
                                 .memory = memory.memory + at * units,
                                 .before = carried_before == nullptr ? memory.zeros : carried_before + row * units,
                                 .dstate = memory.dstates + at * units,
                                 .dh = memory.dh + row * units,
                                 .dc = memory.dc + row * units,
                                 .dx = memory.dx + at * width,
                                 .sums = memory.sums + at * width};
      if (memory.extras.masked(at)) {
        carry_gradient(units, width, cell);
      } else {
        Cell::carries_memory ? lstm_gradient(units, cell) : gru_gradient(units, cell);
      }
    }
    if (turn == 0 && memory.extras.state == nullptr) return;
    const float* const sums = memory.sums + step * batch * width;
    if (memory.extras.factors == nullptr) {
      multiply_gradient<false>(kernel_, 0, first, last, sums, packed, memory);
      return;
    }
    for (std::int64_t gate = 0; gate < Cell::gates; ++gate) {
      multiply_gradient<true>({units, kernel_.panels}, gate * units, first, last, sums, packed, memory);
    }
  }

  /// Adds the product of the terms from `offset` on, with dropout times the factors of their gate, to dh.
  template <bool Dropped>
  void multiply_gradient(const Kernel& terms, std::int64_t offset, std::int64_t first, std::int64_t last,
                         const float* sums, const float* packed, const Memory& memory) const {
    const std::int64_t units = steps_.extents.units, width = Cell::gates * units;
    for (std::int64_t panel = 0; panel < kernel_.panels; ++panel) {
      const std::int64_t unit = panel * Kernel::width, count = std::min(Kernel::width, units - unit);
      terms.multiply(last - first, sums + first * width + offset, width,
                     packed + panel * kernel_.panel_elements() + offset * Kernel::width,
                     [&](std::int64_t row, std::int64_t rows, const float* products) {
                       for (std::int64_t r = 0; r < rows; ++r) {
                         const std::int64_t at = first + row + r;
                         float* const to = memory.dh + at * units + unit;
                         const float* const from = products + r * Kernel::width;
                         if constexpr (Dropped) {
                           const float* const factors = memory.extras.factors + at * width + offset + unit;
                           for (std::int64_t u = 0; u < count; ++u) to[u] += from[u] * factors[u];
                         } else {
                           for (std::int64_t u = 0; u < count; ++u) to[u] += from[u];
                         }
                       }
                     });
    }
  }

  /// The product of all states with the gradients of the steps behind them.
  void sum_kernel_gradient(const Memory& memory, float* dropped, float* dkernel) const {
    const std::int64_t batch = steps_.extents.batch, units = steps_.extents.units;
    const std::int64_t width = Cell::gates * units, rows = (steps_.extents.steps - 1) * batch;
    if (rows == 0) std::fill_n(dkernel, units * width, 0.0F);
    if (rows > 0) {
      const float* const states = memory.states + (steps_.options.backwards ? batch * units : 0);
      const float* const sums = memory.sums + (steps_.options.backwards ? 0 : batch * width);
      add_products(memory, rows, states, sums, 0, dropped, dkernel);
    }
    if (memory.extras.state == nullptr || batch == 0) return;
    add_products(memory, batch, memory.extras.state, memory.sums + steps_.step(0) * batch * width, 1, dropped, dkernel);
  }

  /// dkernel times `kept`, plus the product of `rows` states with gradients of sums.
  void add_products(const Memory& memory, std::int64_t rows, const float* states, const float* sums, float kept,
                    float* dropped, float* dkernel) const {
    const std::int64_t batch = steps_.extents.batch, units = steps_.extents.units, width = Cell::gates * units;
    const auto multiply = [&](const float* left, const float* right, std::int64_t columns, float* to) {
      const dnnl_status_t status =
          dnnl_sgemm('T', 'N', units, columns, rows, 1.0F, left, units, right, width, kept, to, columns);
      if (status != dnnl_success) throw DeviceError("oneDNN", "dnnl_sgemm", "failed at run time");
    };
    if (memory.extras.factors == nullptr) {
      multiply(states, sums, width, dkernel);
      return;
    }
    for (std::int64_t gate = 0; gate < Cell::gates; ++gate) {
      for (std::int64_t row = 0; row < rows; ++row) {
        const float* const factors = memory.extras.factors + (row % batch * Cell::gates + gate) * units;
        for (std::int64_t u = 0; u < units; ++u) dropped[row * units + u] = states[row * units + u] * factors[u];
      }
      multiply(dropped, sums + gate * units, units, dkernel + gate * units * units);
    }
  }

  void sum_bias_gradient(const float* sums, float* dbias) const {
    const std::int64_t units = steps_.extents.units, width = Cell::gates * units;
    const std::int64_t rows = steps_.extents.steps * steps_.extents.batch;
    constexpr std::int64_t block = 64;
    for (std::int64_t unit = 0; unit < units; unit += block) {
      const std::int64_t count = std::min(block, units - unit);
      std::array<double, block> totals{};
      for (std::int64_t row = 0; row < rows; ++row) {
        const float* const from = sums + row * width + 2 * units + unit;
        for (std::int64_t u = 0; u < count; ++u) totals[static_cast<std::size_t>(u)] += static_cast<double>(from[u]);
      }
      std::transform(totals.begin(), totals.begin() + count, dbias + unit,
                     [](double total) { return static_cast<float>(total); });
    }
  }

  RecurrentSteps steps_;
  Kernel kernel_;
};

template <template <class> class Loops>
std::unique_ptr<Kernel> plan_cell(const RecurrentAttributes& options, const TensorType& states, Device& device) {
  device.bind_to_thread();
  const RecurrentSteps steps(recurrent_extents(states), options);
  const auto kernel = [](const auto& loops) { return loop_kernel(loops, loops.workspace_bytes()); };
  return options.cell == RecurrentCell::lstm ? kernel(Loops<LstmCell>(steps)) : kernel(Loops<GruCell>(steps));
}

std::unique_ptr<Kernel> plan_recurrence(const Recurrence& op, const Signature& signature, Device& device) {
  return plan_cell<Forward>(op.options, signature.outputs[0], device);
}

std::unique_ptr<Kernel> plan_recurrence_gradient(const RecurrenceGradient& op, const Signature& signature,
                                                 Device& device) {
  return plan_cell<Backward>(op.options, signature.inputs[1], device);
}

}  // namespace

void add_recurrent(KernelTable& table) {
  add_float32_row<&plan_recurrence>(table);
  add_float32_row<&plan_recurrence_gradient>(table);
}

}  // namespace gpubench::cpu
