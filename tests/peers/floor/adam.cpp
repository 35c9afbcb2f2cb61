#include "tests/peers/floor/adam.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <omp.h>
#include <vector>

namespace gpubench::peers {
namespace {

struct AdamState {
  std::vector<float> variable, gradient, first, second;
  std::int64_t step = 0;
};

// A function of its own: inside an OpenMP region the compiler forgets that the arrays do not overlap.
void update_range(float* __restrict variable, const float* __restrict gradient, float* __restrict first,
                  float* __restrict second, std::int64_t count, float rate) {
  constexpr float beta1 = 0.9F;
  constexpr float beta2 = 0.999F;
  constexpr float epsilon = 1e-7F;
  for (std::int64_t i = 0; i < count; ++i) {
    const float m = first[i] + (gradient[i] - first[i]) * (1 - beta1);
    const float v = second[i] + (gradient[i] * gradient[i] - second[i]) * (1 - beta2);
    first[i] = m;
    second[i] = v;
    variable[i] -= rate * m / (std::sqrt(v) + epsilon);
  }
}

void update(AdamState& state, int threads) {
  const auto step = static_cast<double>(++state.step);
  const auto rate = static_cast<float>(0.001 * std::sqrt(1 - std::pow(0.999, step)) / (1 - std::pow(0.9, step)));
  const auto count = static_cast<std::int64_t>(state.variable.size());
  const auto share = (count + threads - 1) / threads;
  const auto range = [&](std::int64_t thread) {
    const auto begin = std::min(count, thread * share);
    update_range(state.variable.data() + begin, state.gradient.data() + begin, state.first.data() + begin,
                 state.second.data() + begin, std::min(share, count - begin), rate);
  };
  if (threads == 1) return range(0);
#pragma omp parallel num_threads(threads)
  range(omp_get_thread_num());
}

}  // namespace

Piece adam_piece(std::int64_t parameters, const Teams& teams, Seconds budget) {
  const auto count = static_cast<std::size_t>(parameters);
  auto state = std::make_shared<AdamState>(AdamState{std::vector<float>(count, 0.1F), std::vector<float>(count, 1e-3F),
                                                     std::vector<float>(count), std::vector<float>(count)});
  const PieceFactory plain = [state](int team) {
    Piece piece;
    piece.how = "plain loop";
    piece.run = [state, team] { update(*state, team); };
    return piece;
  };
  return fastest("update (Adam)", {plain}, teams, budget);
}

}  // namespace gpubench::peers
