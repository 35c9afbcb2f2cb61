// All arithmetic is in float32; 16-bit types are rounded where they are stored.
#include "core/backend/cuda/kernels/elementwise.cuh"
#include "core/backend/cuda/kernels/recurrent.h"
#include "core/math/elementary.h"

namespace gpubench::cuda {
namespace {

/// One unit of one row: `at` in [batch, units], gate g at `gate + g * units` in [batch, gates * units], and at
/// `sum + g * RecurrentStep::sums_gate` in the product's sums.
struct UnitPlace {
  std::int64_t at, row, unit, gate, sum, units;
};

template <class Body>
__device__ void for_each_unit(const RecurrentStep& step, std::int64_t gates, const Body& body) {
  for (std::int64_t i = first_index(); i < step.batch * step.units; i += index_step()) {
    const std::int64_t row = i / step.units, unit = i % step.units;
    body(UnitPlace{i, row, unit, row * gates * step.units + unit, row * step.sums_row + unit, step.units});
  }
}

__device__ float load_or_zero(const void* data, Dtype type, std::int64_t at) {
  return data == nullptr ? 0.0F : load_as<float>(data, type, at);
}

/// The factor of the next step's product.
__device__ void store_factor(const RecurrentStep& step, const RecurrentMemory& m, const UnitPlace& p, float state) {
  if (m.dropout == nullptr) {
    store_as<float>(m.factor, step.type, p.at, state);
    return;
  }
  for (int part = 0; part < step.parts; ++part) {
    const float kept = load_as<float>(m.dropout, step.type, p.gate + part * p.units);
    store_as<float>(m.factor, step.type, part * step.batch * p.units + p.at, state * kept);
  }
}

__device__ void store_state(const RecurrentStep& step, const RecurrentMemory& m, const UnitPlace& p, float state) {
  store_as<float>(m.state, step.type, p.at, state);
  store_factor(step, m, p, state);
}

__global__ void recurrent_start_kernel(RecurrentStep step, RecurrentMemory m) {
  for_each_unit(step, step.gru ? 3 : 4,
                [&](const UnitPlace& p) { store_factor(step, m, p, load_as<float>(m.state_before, step.type, p.at)); });
}

/// A masked step; `memory`: its memory.
__device__ void carry(const RecurrentStep& step, const RecurrentMemory& m, const UnitPlace& p, int gates,
                      float memory) {
  for (int g = 0; g < gates; ++g) store_as<float>(m.gates, step.type, p.gate + g * p.units, 0.0F);
  store_as<float>(m.memory, step.type, p.at, memory);
  store_state(step, m, p, load_or_zero(m.state_before, step.type, p.at));
}

__global__ void lstm_step_kernel(RecurrentStep step, RecurrentMemory m) {
  const Dtype type = step.type;
  for_each_unit(step, 4, [&](const UnitPlace& p) {
    const float before = load_or_zero(m.memory_before, type, p.at);
    if (m.mask != nullptr && !m.mask[p.row]) return carry(step, m, p, 4, before);
    const auto sum = [&](int g) {
      return load_as<float>(m.x, type, p.gate + g * p.units) + load_or_zero(m.sums, type, p.sum + g * step.sums_gate);
    };
    const float i = math::sigmoid(sum(0)), f = math::sigmoid(sum(1)), g = math::tanh(sum(2)), o = math::sigmoid(sum(3));
    const float c = f * before + i * g;
    store_as<float>(m.gates, type, p.gate, i);
    store_as<float>(m.gates, type, p.gate + p.units, f);
    store_as<float>(m.gates, type, p.gate + 2 * p.units, g);
    store_as<float>(m.gates, type, p.gate + 3 * p.units, o);
    store_as<float>(m.memory, type, p.at, c);
    store_state(step, m, p, o * math::tanh(c));
  });
}

__global__ void gru_step_kernel(RecurrentStep step, RecurrentMemory m) {
  const Dtype type = step.type;
  for_each_unit(step, 3, [&](const UnitPlace& p) {
    if (m.mask != nullptr && !m.mask[p.row]) return carry(step, m, p, 3, 0.0F);
    const auto x = [&](int g) { return load_as<float>(m.x, type, p.gate + g * p.units); };
    const auto sum = [&](int g) { return load_or_zero(m.sums, type, p.sum + g * step.sums_gate); };
    const float z = math::sigmoid(x(0) + sum(0)), r = math::sigmoid(x(1) + sum(1));
    const float inner = sum(2) + load_as<float>(m.bias, type, p.unit);
    const float g = math::tanh(x(2) + r * inner);
    store_as<float>(m.gates, type, p.gate, z);
    store_as<float>(m.gates, type, p.gate + p.units, r);
    store_as<float>(m.gates, type, p.gate + 2 * p.units, g);
    store_as<float>(m.memory, type, p.at, inner);
    store_state(step, m, p, z * load_or_zero(m.state_before, type, p.at) + (1.0F - z) * g);
  });
}

/// The gradient of the state: of the output, through the product of the next step, and besides it.
__device__ float state_gradient(const RecurrentStep& step, const RecurrentGradientMemory& m, const UnitPlace& p) {
  float sum = load_or_zero(m.dstate, step.type, p.at);
  if (m.carried_state != nullptr && m.has_carried) sum += m.carried_state[p.at];
  for (int part = 0; m.product != nullptr && part < step.parts; ++part) {
    const float product = load_as<float>(m.product, step.type, part * step.batch * p.units + p.at);
    const float kept = m.dropout == nullptr ? 1.0F : load_as<float>(m.dropout, step.type, p.gate + part * p.units);
    sum += product * kept;
  }
  return sum;
}

/// The gradient of gate g as the product has it.
__device__ void store_sum(const RecurrentStep& step, const RecurrentGradientMemory& m, const UnitPlace& p, int g,
                          float value) {
  store_as<float>(m.factor, step.type, p.sum + g * step.sums_gate, value);
  if (m.kept != nullptr) store_as<float>(m.kept, step.type, p.sum + g * step.kept_gate, value);
}

__device__ void store_dropped(const RecurrentStep& step, const RecurrentGradientMemory& m, const UnitPlace& p) {
  if (m.dropped == nullptr) return;
  const float state = load_as<float>(m.state_before, step.type, p.at);
  for (int part = 0; part < step.parts; ++part) {
    const float kept = load_as<float>(m.dropout, step.type, p.gate + part * p.units);
    store_as<float>(m.dropped, step.type, part * step.kept_gate + p.at, state * kept);
  }
}

__device__ void store_masked_gradient(const RecurrentStep& step, const RecurrentGradientMemory& m, const UnitPlace& p,
                                      int gates, float dh) {
  for (int g = 0; g < gates; ++g) {
    store_as<float>(m.dx, step.type, p.gate + g * p.units, 0.0F);
    store_sum(step, m, p, g, 0.0F);
  }
  m.carried_state[p.at] = dh;
}

__global__ void lstm_gradient_kernel(RecurrentStep step, RecurrentGradientMemory m) {
  const Dtype type = step.type;
  for_each_unit(step, 4, [&](const UnitPlace& p) {
    store_dropped(step, m, p);
    const float dh = state_gradient(step, m, p);
    const float carried = (m.has_carried ? m.carried_memory[p.at] : 0.0F) + load_or_zero(m.dmemory, type, p.at);
    if (m.mask != nullptr && !m.mask[p.row]) {
      m.carried_memory[p.at] = carried;
      return store_masked_gradient(step, m, p, 4, dh);
    }
    const auto gate = [&](int g) { return load_as<float>(m.gates, type, p.gate + g * p.units); };
    const float i = gate(0), f = gate(1), g = gate(2), o = gate(3);
    const float tanh_c = math::tanh(load_as<float>(m.memory, type, p.at));
    const float dc = carried + dh * o * (1.0F - tanh_c * tanh_c);
    const float d[4] = {dc * g * i * (1.0F - i), dc * load_or_zero(m.memory_before, type, p.at) * f * (1.0F - f),
                        dc * i * (1.0F - g * g), dh * tanh_c * o * (1.0F - o)};
    for (int k = 0; k < 4; ++k) {
      store_as<float>(m.dx, type, p.gate + k * p.units, d[k]);
      store_sum(step, m, p, k, d[k]);
    }
    m.carried_memory[p.at] = dc * f;
    if (m.carried_state != nullptr) m.carried_state[p.at] = 0.0F;
  });
}

__global__ void gru_gradient_kernel(RecurrentStep step, RecurrentGradientMemory m) {
  const Dtype type = step.type;
  for_each_unit(step, 3, [&](const UnitPlace& p) {
    store_dropped(step, m, p);
    const float dh = state_gradient(step, m, p);
    if (m.mask != nullptr && !m.mask[p.row]) {
      store_as<float>(m.inner, type, p.at, 0.0F);
      return store_masked_gradient(step, m, p, 3, dh);
    }
    const auto gate = [&](int g) { return load_as<float>(m.gates, type, p.gate + g * p.units); };
    const float z = gate(0), r = gate(1), g = gate(2);
    const float dg = dh * (1.0F - z) * (1.0F - g * g);
    const float dz = dh * (load_or_zero(m.state_before, type, p.at) - g) * z * (1.0F - z);
    const float dr = dg * load_as<float>(m.memory, type, p.at) * r * (1.0F - r);
    store_as<float>(m.dx, type, p.gate, dz);
    store_as<float>(m.dx, type, p.gate + p.units, dr);
    store_as<float>(m.dx, type, p.gate + 2 * p.units, dg);
    const float d[3] = {dz, dr, dg * r};
    for (int k = 0; k < 3; ++k) store_sum(step, m, p, k, d[k]);
    store_as<float>(m.inner, type, p.at, dg * r);
    m.carried_state[p.at] = dh * z;
  });
}

__global__ void recurrent_initial_gradient_kernel(RecurrentStep step, RecurrentGradientMemory m, void* dstate,
                                                  void* dmemory) {
  for_each_unit(step, step.gru ? 3 : 4, [&](const UnitPlace& p) {
    store_as<float>(dstate, step.type, p.at, state_gradient(step, m, p));
    if (dmemory != nullptr) store_as<float>(dmemory, step.type, p.at, m.carried_memory[p.at]);
  });
}

template <class Memory>
cudaError_t launch_step(const LaunchOn& on, const RecurrentStep& step, void (*kernel)(RecurrentStep, Memory),
                        const Memory& memory) {
  return launch(on, blocks_for(on, step.batch * step.units), block_threads, kernel, step, memory);
}

}  // namespace

cudaError_t launch_recurrent_step(const LaunchOn& on, const RecurrentStep& step, const RecurrentMemory& memory) {
  return launch_step(on, step, step.gru ? &gru_step_kernel : &lstm_step_kernel, memory);
}

cudaError_t launch_recurrent_start(const LaunchOn& on, const RecurrentStep& step, const RecurrentMemory& memory) {
  return launch_step(on, step, &recurrent_start_kernel, memory);
}

cudaError_t launch_recurrent_gradient_step(const LaunchOn& on, const RecurrentStep& step,
                                           const RecurrentGradientMemory& memory) {
  return launch_step(on, step, step.gru ? &gru_gradient_kernel : &lstm_gradient_kernel, memory);
}

cudaError_t launch_recurrent_initial_gradient(const LaunchOn& on, const RecurrentStep& step,
                                              const RecurrentGradientMemory& memory, void* dstate, void* dmemory) {
  return launch(on, blocks_for(on, step.batch * step.units), block_threads, &recurrent_initial_gradient_kernel, step,
                memory, dstate, dmemory);
}

}  // namespace gpubench::cuda
