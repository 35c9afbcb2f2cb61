#include "core/backend/cuda/search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <vector>

#include "core/math/half.h"
#include "core/math/philox.h"

namespace gpubench::cuda {
namespace {

/// Times taken of each candidate, after one that loads its code; odd, so that the median is one of them.
constexpr std::size_t rounds = 9;
/// Random numbers that are drawn; larger buffers repeat them.
constexpr std::size_t drawn = std::size_t{1} << 18;

/// Drawn at the first call.
template <class Round>
std::span<const std::byte> values_of(const Round& round) {
  static const auto values = [&round] {
    std::vector<decltype(round(0.0F))> result(drawn);
    for (std::size_t i = 0; i < drawn; ++i) result[i] = round(2 * math::to_uniform(math::philox(1, 0, i).word[0]) - 1);
    return result;
  }();
  return std::as_bytes(std::span(values));
}

std::span<const std::byte> random_values(Dtype dtype) {
  if (dtype == Dtype::f16) return values_of([](float x) { return math::to_float16(x); });
  if (dtype == Dtype::bf16) return values_of([](float x) { return math::to_bfloat16(x); });
  if (dtype == Dtype::i8) return values_of([](float x) { return static_cast<std::int8_t>(127 * x); });
  return values_of([](float x) { return x; });
}

/// Runs in a row, so that what the host takes to start one hides behind the one before.
int group_for(Seconds one) {
  constexpr Seconds long_enough{200e-6};
  constexpr double most = 64;
  return static_cast<int>(std::clamp(std::ceil(long_enough / std::max(one, Seconds(1e-9))), 1.0, most));
}

}  // namespace

Buffer random_buffer(CudaDevice& device, std::size_t bytes, Dtype dtype) {
  Buffer buffer = device.memory().allocate(bytes, "search of algorithms");
  if (bytes == 0) return buffer;
  const std::span<const std::byte> values = random_values(dtype);
  std::size_t filled = std::min(values.size(), bytes);
  device.stream().copy(buffer.data(), values.data(), filled);
  while (filled < bytes) {  // copies on the device, each twice as long as the one before
    const std::size_t part = std::min(filled, bytes - filled);
    device.stream().copy(buffer.data() + filled, buffer.data(), part);
    filled += part;
  }
  device.stream().synchronize();
  return buffer;
}

std::vector<Seconds> median_times(CudaDevice& device, std::size_t candidates,
                                  const std::function<void(std::size_t)>& queue) {
  device.bind_to_thread();
  Stream& stream = device.stream();
  const std::unique_ptr<Event> before = device.new_timed_event(), after = device.new_timed_event();
  const auto time_of = [&](std::size_t candidate, int group) {
    stream.record(*before);
    for (int run = 0; run < group; ++run) queue(candidate);
    stream.record(*after);
    after->wait();
    return after->since(*before) / group;
  };
  std::vector<int> groups;
  for (std::size_t i = 0; i < candidates; ++i) {
    static_cast<void>(time_of(i, 1));  // loads the kernel
    groups.push_back(group_for(time_of(i, 1)));
  }
  std::vector<std::array<Seconds, rounds>> times(candidates);
  // Round by round, so that a clock that rises or falls meanwhile does so for all of them.
  for (std::size_t round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < candidates; ++i) times[i][round] = time_of(i, groups[i]);
  }
  std::vector<Seconds> medians;
  for (auto& of_one : times) {
    std::nth_element(of_one.begin(), of_one.begin() + rounds / 2, of_one.end());
    medians.push_back(of_one[rounds / 2]);
  }
  return medians;
}

std::size_t fastest(CudaDevice& device, std::size_t candidates, const std::function<void(std::size_t)>& queue) {
  const std::vector<Seconds> times = median_times(device, candidates, queue);
  return static_cast<std::size_t>(std::ranges::min_element(times) - times.begin());
}

}  // namespace gpubench::cuda
