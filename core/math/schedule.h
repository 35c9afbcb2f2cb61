// Learning rates as functions of the step, which counts from 0. Formulas as in Keras 3, in double precision. `name` and
// fields() describe the function in a graph.
#pragma once
#include <array>
#include <cmath>
#include <cstdint>

#include "core/math/host_device.h"

namespace gpubench::math {

/// From `initial` linearly to `peak` in `warmup` steps, then along half a cosine to alpha * peak in `steps` steps.
/// Without warm-up the peak is the initial rate.
struct CosineDecay {
  static constexpr const char* name = "cosine_decay";
  double initial, steps, alpha, peak, warmup;

  std::array<double, 5> fields() const { return {initial, steps, alpha, peak, warmup}; }
  GPUBENCH_HOST_DEVICE double operator()(double step) const {
    if (step < warmup) return initial + (peak - initial) * step / warmup;
    constexpr double pi = 3.14159265358979323846;
    const double since = step - warmup, share = (since < steps ? since : steps) / steps;
    return peak * ((1 - alpha) * 0.5 * (1 + ::cos(pi * share)) + alpha);
  }
};

/// Half a cosine from `initial` to alpha * initial in `steps` steps, then again over t_mul times as many as before from
/// m_mul times the rate (Loshchilov and Hutter, "SGDR", 2017).
struct CosineDecayRestarts {
  static constexpr const char* name = "cosine_decay_restarts";
  double initial, steps, t_mul, m_mul, alpha;

  std::array<double, 5> fields() const { return {initial, steps, t_mul, m_mul, alpha}; }
  GPUBENCH_HOST_DEVICE double operator()(double step) const {
    constexpr double pi = 3.14159265358979323846, rounding = 1e-9;
    double share = step / steps, restarts;
    if (t_mul == 1) {
      restarts = ::floor(share);
      share -= restarts;
    } else {
      restarts = ::floor(::log(1 + share * (t_mul - 1)) / ::log(t_mul) + rounding);
      const double length = ::pow(t_mul, restarts);
      share = (share - (length - 1) / (t_mul - 1)) / length;
    }
    return initial * ((1 - alpha) * 0.5 * ::pow(m_mul, restarts) * (1 + ::cos(pi * share)) + alpha);
  }
};

/// What falls with periods() = step / steps; `staircase` rounds it down.
struct PeriodicDecay {
  double initial, steps, rate;
  bool staircase;

  std::array<double, 4> fields() const { return {initial, steps, rate, staircase ? 1.0 : 0.0}; }
  GPUBENCH_HOST_DEVICE double periods(double step) const {
    const double share = step / steps;
    return staircase ? ::floor(share) : share;
  }
};

/// initial * rate ^ periods.
struct ExponentialDecay : PeriodicDecay {
  static constexpr const char* name = "exponential_decay";
  GPUBENCH_HOST_DEVICE double operator()(double step) const { return initial * ::pow(rate, periods(step)); }
};

/// initial / (1 + rate * periods).
struct InverseTimeDecay : PeriodicDecay {
  static constexpr const char* name = "inverse_time_decay";
  GPUBENCH_HOST_DEVICE double operator()(double step) const { return initial / (1 + rate * periods(step)); }
};

/// The product of Nadam's momentums of the steps 1 to `step`, each beta (1 - 0.96^step / 2). No rate, but a function of
/// the step like the others.
struct NadamMomentum {
  static constexpr const char* name = "nadam_momentum";
  double beta;

  std::array<double, 1> fields() const { return {beta}; }
  GPUBENCH_HOST_DEVICE double operator()(double step) const {
    constexpr double least = 1e-9, negligible = 1e-17;  // what float32 and double precision do not tell from 0
    double product = 1, share = 0.5, i = 1;
    for (; i <= step && product > least && share > negligible; ++i) {
      share *= 0.96;
      product *= beta * (1 - share);
    }
    return product * ::pow(beta, step + 1 - i);
  }
};

/// From `initial` to `end` in `steps` steps: (1 - step / steps) ^ power of the difference is left. `cycle` then begins
/// anew over twice, three times, ... as many steps.
struct PolynomialDecay {
  static constexpr const char* name = "polynomial_decay";
  double initial, steps, end, power;
  bool cycle;

  std::array<double, 5> fields() const { return {initial, steps, end, power, cycle ? 1.0 : 0.0}; }
  GPUBENCH_HOST_DEVICE double operator()(double step) const {
    const double cycles = cycle && step > steps ? ::ceil(step / steps) : 1;
    const double share = step / (steps * cycles);
    return (initial - end) * ::pow(share < 1 ? 1 - share : 0.0, power) + end;
  }
};

/// values[i] up to and including step boundaries[i], then values[count].
struct PiecewiseConstant {
  static constexpr const char* name = "piecewise_constant";
  static constexpr int capacity = 32;
  int count;  ///< of boundaries
  double boundaries[capacity];
  double values[capacity + 1];

  std::array<double, 2 * capacity + 1> fields() const {
    std::array<double, 2 * capacity + 1> all{};
    for (std::size_t i = 0; i <= capacity; ++i) all[i] = values[i];
    for (std::size_t i = 0; i < capacity; ++i) all[capacity + 1 + i] = boundaries[i];
    return all;
  }
  GPUBENCH_HOST_DEVICE double operator()(double step) const {
    int piece = 0;
    while (piece < count && step > boundaries[piece]) ++piece;
    return values[piece];
  }
};

}  // namespace gpubench::math
