// All arithmetic is in float32; 16-bit types are rounded where they are stored.
#include "core/backend/cuda/kernels/elementwise.cuh"
#include "core/backend/cuda/kernels/recurrent.h"
#include "core/math/elementary.h"

namespace gpubench::cuda {
namespace {

/// One unit of one row: `at` in [batch, units], gate g at `gate + g * units` in [batch, gates * units].
struct UnitPlace {
  std::int64_t at, unit, gate, units;
};

template <class Body>
__device__ void for_each_unit(const RecurrentStep& step, std::int64_t gates, const Body& body) {
  for (std::int64_t i = first_index(); i < step.batch * step.units; i += index_step()) {
    const std::int64_t row = i / step.units, unit = i % step.units;
    body(UnitPlace{i, unit, row * gates * step.units + unit, step.units});
  }
}

__device__ float load_or_zero(const void* data, Dtype type, std::int64_t at) {
  return data == nullptr ? 0.0F : load_as<float>(data, type, at);
}

__device__ void store_both(void* to, void* copy, Dtype type, std::int64_t at, float value) {
  store_as<float>(to, type, at, value);
  if (copy != nullptr) store_as<float>(copy, type, at, value);
}

__global__ void lstm_step_kernel(RecurrentStep step, RecurrentMemory m) {
  const Dtype type = step.type;
  for_each_unit(step, 4, [&](const UnitPlace& p) {
    const auto sum = [&](int g) {
      const std::int64_t at = p.gate + g * p.units;
      return load_as<float>(m.x, type, at) + load_or_zero(m.sums, type, at);
    };
    const float i = math::sigmoid(sum(0)), f = math::sigmoid(sum(1)), g = math::tanh(sum(2)), o = math::sigmoid(sum(3));
    const float c = f * load_or_zero(m.previous, type, p.at) + i * g;
    store_as<float>(m.gates, type, p.gate, i);
    store_as<float>(m.gates, type, p.gate + p.units, f);
    store_as<float>(m.gates, type, p.gate + 2 * p.units, g);
    store_as<float>(m.gates, type, p.gate + 3 * p.units, o);
    store_as<float>(m.memory, type, p.at, c);
    store_both(m.state, m.factor, type, p.at, o * math::tanh(c));
  });
}

__global__ void gru_step_kernel(RecurrentStep step, RecurrentMemory m) {
  const Dtype type = step.type;
  for_each_unit(step, 3, [&](const UnitPlace& p) {
    const auto x = [&](int g) { return load_as<float>(m.x, type, p.gate + g * p.units); };
    const auto sum = [&](int g) { return load_or_zero(m.sums, type, p.gate + g * p.units); };
    const float z = math::sigmoid(x(0) + sum(0)), r = math::sigmoid(x(1) + sum(1));
    const float inner = sum(2) + load_as<float>(m.bias, type, p.unit);
    const float g = math::tanh(x(2) + r * inner);
    store_as<float>(m.gates, type, p.gate, z);
    store_as<float>(m.gates, type, p.gate + p.units, r);
    store_as<float>(m.gates, type, p.gate + 2 * p.units, g);
    store_as<float>(m.memory, type, p.at, inner);
    store_both(m.state, m.factor, type, p.at, z * load_or_zero(m.previous, type, p.at) + (1.0F - z) * g);
  });
}

__global__ void lstm_gradient_kernel(RecurrentStep step, RecurrentGradientMemory m) {
  const Dtype type = step.type;
  for_each_unit(step, 4, [&](const UnitPlace& p) {
    const auto gate = [&](int g) { return load_as<float>(m.gates, type, p.gate + g * p.units); };
    const float i = gate(0), f = gate(1), g = gate(2), o = gate(3);
    const float tanh_c = math::tanh(load_as<float>(m.memory, type, p.at));
    const float dh = load_as<float>(m.dstate, type, p.at) + load_or_zero(m.product, type, p.at);
    const float dc = (m.has_carried ? m.carried[p.at] : 0.0F) + dh * o * (1.0F - tanh_c * tanh_c);
    const float d[4] = {dc * g * i * (1.0F - i), dc * load_or_zero(m.previous, type, p.at) * f * (1.0F - f),
                        dc * i * (1.0F - g * g), dh * tanh_c * o * (1.0F - o)};
    for (int k = 0; k < 4; ++k) {
      const std::int64_t at = p.gate + k * p.units;
      store_as<float>(m.dx, type, at, d[k]);
      store_both(m.factor, m.kept, type, at, d[k]);
    }
    m.carried[p.at] = dc * f;
  });
}

__global__ void gru_gradient_kernel(RecurrentStep step, RecurrentGradientMemory m) {
  const Dtype type = step.type;
  for_each_unit(step, 3, [&](const UnitPlace& p) {
    const auto gate = [&](int g) { return load_as<float>(m.gates, type, p.gate + g * p.units); };
    const float z = gate(0), r = gate(1), g = gate(2);
    const float dh = load_as<float>(m.dstate, type, p.at) + load_or_zero(m.product, type, p.at) +
                     (m.has_carried ? m.carried[p.at] : 0.0F);
    const float dg = dh * (1.0F - z) * (1.0F - g * g);
    const float dz = dh * (load_or_zero(m.previous, type, p.at) - g) * z * (1.0F - z);
    const float dr = dg * load_as<float>(m.memory, type, p.at) * r * (1.0F - r);
    store_as<float>(m.dx, type, p.gate, dz);
    store_as<float>(m.dx, type, p.gate + p.units, dr);
    store_as<float>(m.dx, type, p.gate + 2 * p.units, dg);
    const float d[3] = {dz, dr, dg * r};
    for (int k = 0; k < 3; ++k) store_both(m.factor, m.kept, type, p.gate + k * p.units, d[k]);
    store_as<float>(m.inner, type, p.at, dg * r);
    m.carried[p.at] = dh * z;
  });
}

}  // namespace

cudaError_t launch_recurrent_step(const LaunchOn& on, const RecurrentStep& step, const RecurrentMemory& memory) {
  const unsigned blocks = blocks_for(on, step.batch * step.units);
  return launch(on, blocks, block_threads, step.gru ? &gru_step_kernel : &lstm_step_kernel, step, memory);
}

cudaError_t launch_recurrent_gradient_step(const LaunchOn& on, const RecurrentStep& step,
                                           const RecurrentGradientMemory& memory) {
  const unsigned blocks = blocks_for(on, step.batch * step.units);
  return launch(on, blocks, block_threads, step.gru ? &gru_gradient_kernel : &lstm_gradient_kernel, step, memory);
}

}  // namespace gpubench::cuda
