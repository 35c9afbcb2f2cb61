// The gru whose reset gate comes before the product: two products a step, one of which needs the other's result, for
// the whole batch by oneDNN; rows of the cells are divided among threads.
#include <algorithm>

#include "core/backend/cpu/onednn.h"
#include "core/backend/cpu/recurrent_steps.h"
#include "core/base/error.h"
#include "core/device/device.h"
#include "core/math/elementary.h"

namespace gpubench::cpu {
namespace {

class ResetBefore {
 public:
  explicit ResetBefore(const RecurrentSteps& steps)
      : steps_(steps),
        batch_(steps.extents.batch),
        units_(steps.extents.units),
        width_(gates * units_),
        row_threads_(threads_for_stream(batch_, steps.state_elements() * 32, steps.state_elements() * 32)) {}

 protected:
  static constexpr std::int64_t gates = 3;  // z, r, g

  /// A matrix, of which `stride` elements lie between rows.
  struct Matrix {
    const float* data;
    std::int64_t stride;
    bool transposed = false;
  };
  /// to [m, n] = a [m, k] b [k, n], after transposing; nothing if an extent is 0.
  static void multiply(std::int64_t m, std::int64_t n, std::int64_t k, const Matrix& a, const Matrix& b, float* to) {
    if (m == 0 || n == 0 || k == 0) return;
    const dnnl_status_t status = dnnl_sgemm(a.transposed ? 'T' : 'N', b.transposed ? 'T' : 'N', m, n, k, 1.0F, a.data,
                                            a.stride, b.data, b.stride, 0.0F, to, n);
    if (status != dnnl_success) throw DeviceError("oneDNN", "dnnl_sgemm", "failed at run time");
  }

  /// body(row) for the rows of the batch.
  template <class Body>
  void for_rows(const Body& body) const {
    parallel_ranges(row_threads_, batch_, [&](int, std::int64_t first, std::int64_t last) {
      for (std::int64_t row = first; row < last; ++row) body(row);
    });
  }
  /// The factors of a gate in a row; null for no dropout.
  const float* factors_of(const RunExtras& extras, std::int64_t row, std::int64_t gate) const {
    return extras.factors == nullptr ? nullptr : extras.factors + row * width_ + gate * units_;
  }
  static float times(float value, const float* factors, std::int64_t u) {
    return factors == nullptr ? value : value * factors[u];
  }

  RecurrentSteps steps_;
  std::int64_t batch_, units_, width_;
  int row_threads_;
};

/// The workspace: a state of zeros, sums of two gates, and with dropout the state times the factors of one gate.
class ResetBeforeForward : public ResetBefore {
 public:
  using ResetBefore::ResetBefore;
  std::size_t workspace_bytes() const { return static_cast<std::size_t>(4 * steps_.state_elements()) * sizeof(float); }

  void operator()(Views inputs, Views outputs, std::span<std::byte> workspace) const {
    const std::int64_t elements = steps_.state_elements();
    auto* const zeros = reinterpret_cast<float*>(workspace.data());
    std::fill_n(zeros, 4 * elements, 0.0F);
    const Memory memory{.x = inputs[0].as<float>(),
                        .kernel = inputs[1].as<float>(),
                        .states = outputs[0].as<float>(),
                        .reset = outputs[1].as<float>(),
                        .gates = outputs[2].as<float>(),
                        .sums = zeros + elements,
                        .dropped = zeros + 3 * elements,
                        .extras = RunExtras(steps_.options, inputs, own_inputs(steps_.options.cell))};
    for (std::int64_t turn = 0; turn < steps_.extents.steps; ++turn) {
      const std::int64_t step = steps_.step(turn);
      const float* const before = turn == 0 ? zeros : memory.states + steps_.step(turn - 1) * elements;
      for (std::int64_t gate = 0; turn > 0 && gate < 2; ++gate) multiply_state(gate, before, memory);
      for_rows([&](std::int64_t row) { compute_gates(row, step * batch_ + row, before + row * units_, memory); });
      if (turn > 0) {
        multiply(batch_, units_, units_, {memory.reset + step * elements, units_},
                 {memory.kernel + 2 * units_ * units_, units_}, memory.sums);
      }
      for_rows([&](std::int64_t row) { compute_state(row, step * batch_ + row, before + row * units_, memory); });
      if (turn == 0) std::fill_n(memory.sums, 2 * elements, 0.0F);
    }
  }

 private:
  struct Memory {
    const float *x, *kernel;
    float *states, *reset, *gates, *sums, *dropped;
    RunExtras extras;
  };

  void multiply_state(std::int64_t gate, const float* state, const Memory& memory) const {
    const float* left = state;
    if (memory.extras.factors != nullptr) {
      for_rows([&](std::int64_t row) {
        const float* const factors = factors_of(memory.extras, row, gate);
        for (std::int64_t u = 0; u < units_; ++u)
          memory.dropped[row * units_ + u] = state[row * units_ + u] * factors[u];
      });
      left = memory.dropped;
    }
    multiply(batch_, units_, units_, {left, units_}, {memory.kernel + gate * units_ * units_, units_},
             memory.sums + gate * steps_.state_elements());
  }

  /// z, r and the reset state.
  void compute_gates(std::int64_t row, std::int64_t at, const float* before, const Memory& memory) const {
    const float* const x = memory.x + at * width_;
    float *const to = memory.gates + at * width_, *const reset = memory.reset + at * units_;
    if (memory.extras.masked(at)) {
      std::fill_n(to, width_, 0.0F);
      std::fill_n(reset, units_, 0.0F);
      return;
    }
    const float *const sums = memory.sums + row * units_, *const factors = factors_of(memory.extras, row, 2);
    const std::int64_t next = steps_.state_elements();
#pragma omp simd
    for (std::int64_t u = 0; u < units_; ++u) {
      const float z = math::sigmoid(x[u] + sums[u]), r = math::sigmoid(x[units_ + u] + sums[next + u]);
      to[u] = z;
      to[units_ + u] = r;
      reset[u] = times(r * before[u], factors, u);
    }
  }

  void compute_state(std::int64_t row, std::int64_t at, const float* before, const Memory& memory) const {
    float* const state = memory.states + at * units_;
    if (memory.extras.masked(at)) {
      std::copy_n(before, units_, state);
      return;
    }
    const float *const x = memory.x + at * width_, *const sums = memory.sums + row * units_;
    float* const own = memory.gates + at * width_;
#pragma omp simd
    for (std::int64_t u = 0; u < units_; ++u) {
      const float g = math::tanh(x[2 * units_ + u] + sums[u]);
      own[2 * units_ + u] = g;
      state[u] = own[u] * before[u] + (1.0F - own[u]) * g;
    }
  }
};

/// The workspace: dh, a product and a state of zeros; with dropout, all states times the factors of one gate.
class ResetBeforeBackward : public ResetBefore {
 public:
  using ResetBefore::ResetBefore;
  std::size_t workspace_bytes() const {
    const std::int64_t states = 3 + (steps_.options.dropout ? steps_.extents.steps - 1 : 0);
    return static_cast<std::size_t>(states * steps_.state_elements()) * sizeof(float);
  }

  void operator()(Views inputs, Views outputs, std::span<std::byte> workspace) const {
    const std::int64_t elements = steps_.state_elements();
    auto* const dh = reinterpret_cast<float*>(workspace.data());
    std::fill_n(dh, 3 * elements, 0.0F);
    const Memory memory{.kernel = inputs[0].as<float>(),
                        .states = inputs[1].as<float>(),
                        .reset = inputs[2].as<float>(),
                        .gates = inputs[3].as<float>(),
                        .dstates = inputs[4].as<float>(),
                        .zeros = dh + 2 * elements,
                        .dh = dh,
                        .product = dh + elements,
                        .dx = outputs[0].as<float>(),
                        .extras = RunExtras(steps_.options, inputs, 5)};
    for (std::int64_t turn = steps_.extents.steps - 1; turn >= 0; --turn) run_step(turn, memory);
    sum_kernel_gradient(memory, dh + 3 * elements, outputs[1].as<float>());
  }

 private:
  struct Memory {
    const float *kernel, *states, *reset, *gates, *dstates, *zeros;
    float *dh, *product, *dx;
    RunExtras extras;
  };

  void run_step(std::int64_t turn, const Memory& memory) const {
    const std::int64_t elements = steps_.state_elements(), step = steps_.step(turn);
    const float* const before = turn == 0 ? memory.zeros : memory.states + steps_.step(turn - 1) * elements;
    for_rows([&](std::int64_t row) { pass_state(row, step * batch_ + row, before + row * units_, memory); });
    if (turn == 0) std::fill_n(memory.product, elements, 0.0F);
    const auto multiply_gate = [&](std::int64_t gate) {
      multiply(batch_, units_, units_, {memory.dx + step * batch_ * width_ + gate * units_, width_},
               {memory.kernel + gate * units_ * units_, units_, true}, memory.product);
    };
    if (turn > 0) multiply_gate(2);
    for_rows([&](std::int64_t row) { pass_reset(row, step * batch_ + row, before + row * units_, memory); });
    for (std::int64_t gate = 0; turn > 0 && gate < 2; ++gate) {
      multiply_gate(gate);
      for_rows([&](std::int64_t row) {
        const float* const factors = factors_of(memory.extras, row, gate);
        float* const dh = memory.dh + row * units_;
        const float* const product = memory.product + row * units_;
        for (std::int64_t u = 0; u < units_; ++u) dh[u] += times(product[u], factors, u);
      });
    }
  }

  /// To z, g and the state before; dx may have the gates' memory.
  void pass_state(std::int64_t row, std::int64_t at, const float* before, const Memory& memory) const {
    float *const dh = memory.dh + row * units_, *const dx = memory.dx + at * width_;
    const float *const own = memory.gates + at * width_, *const dstate = memory.dstates + at * units_;
    if (memory.extras.masked(at)) {
      std::fill_n(dx, width_, 0.0F);
      for (std::int64_t u = 0; u < units_; ++u) dh[u] += dstate[u];
      return;
    }
#pragma omp simd
    for (std::int64_t u = 0; u < units_; ++u) {
      const float z = own[u], g = own[2 * units_ + u], d = dstate[u] + dh[u];
      dx[u] = d * (before[u] - g) * z * (1.0F - z);
      dx[2 * units_ + u] = d * (1.0F - z) * (1.0F - g * g);
      dh[u] = d * z;
    }
  }

  /// To r and the state before, from the gradient of the reset state in `product`.
  void pass_reset(std::int64_t row, std::int64_t at, const float* before, const Memory& memory) const {
    if (memory.extras.masked(at)) return;
    const float *const factors = factors_of(memory.extras, row, 2), *const product = memory.product + row * units_;
    const float* const own = memory.gates + at * width_ + units_;
    float *const dh = memory.dh + row * units_, *const dx = memory.dx + at * width_ + units_;
#pragma omp simd
    for (std::int64_t u = 0; u < units_; ++u) {
      const float r = own[u], d = times(product[u], factors, u);
      dx[u] = d * before[u] * r * (1.0F - r);
      dh[u] += d * r;
    }
  }

  /// Of z and r the product of all states with the gradients of the steps behind them, of g that of the reset states.
  void sum_kernel_gradient(const Memory& memory, float* dropped, float* dkernel) const {
    const std::int64_t elements = steps_.state_elements(), matrix = units_ * units_;
    const std::int64_t rows = steps_.extents.steps * batch_, later = rows - batch_;
    std::fill_n(dkernel, gates * matrix, 0.0F);
    const float* const states = memory.states + (steps_.options.backwards ? elements : 0);
    const float* const dx = memory.dx + (steps_.options.backwards ? 0 : batch_ * width_);
    for (std::int64_t gate = 0; gate < 2; ++gate) {
      const float* left = states;
      if (memory.extras.factors != nullptr) {
        for (std::int64_t row = 0; row < later; ++row) {
          const float* const factors = factors_of(memory.extras, row % batch_, gate);
          for (std::int64_t u = 0; u < units_; ++u) dropped[row * units_ + u] = states[row * units_ + u] * factors[u];
        }
        left = dropped;
      }
      multiply(units_, units_, later, {left, units_, true}, {dx + gate * units_, width_}, dkernel + gate * matrix);
    }
    multiply(units_, units_, rows, {memory.reset, units_, true}, {memory.dx + 2 * units_, width_},
             dkernel + 2 * matrix);
  }
};

}  // namespace

std::unique_ptr<Kernel> plan_reset_before(const Recurrence& op, const Signature& signature, Device& device) {
  device.bind_to_thread();
  const ResetBeforeForward loops(RecurrentSteps(recurrent_extents(signature.outputs[0]), op.options));
  return loop_kernel(loops, loops.workspace_bytes());
}

std::unique_ptr<Kernel> plan_reset_before_gradient(const RecurrenceGradient& op, const Signature& signature,
                                                   Device& device) {
  device.bind_to_thread();
  const ResetBeforeBackward loops(RecurrentSteps(recurrent_extents(signature.inputs[1]), op.options));
  return loop_kernel(loops, loops.workspace_bytes());
}

}  // namespace gpubench::cpu
