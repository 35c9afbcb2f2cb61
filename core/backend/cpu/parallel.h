// Threads for our own loops. A fork costs microseconds, so work that takes less stays on the calling thread.
#pragma once
#include <algorithm>
#include <cstdint>
#include <omp.h>
#include <span>
#include <vector>

#include "core/tensor/tensor_type.h"
#if defined(__SANITIZE_THREAD__)
#include <thread>
#endif

namespace gpubench::cpu {

/// Approximate bytes or flops that one thread handles in the time of a fork.
inline constexpr std::int64_t worth_a_thread = 32768;

/// Number of threads for `count` items of this total `cost`; 1 for small work. Depends only on the arguments and the
/// device, so that results that depend on the division are repeatable.
inline int threads_for(std::int64_t count, std::int64_t cost) {
  const std::int64_t useful = std::min(count, cost / worth_a_thread);
  return static_cast<int>(std::clamp<std::int64_t>(useful, 1, omp_get_max_threads()));
}

/// The same for a vectorized loop that moves `bytes` through the second-level cache and does `flops`: a core does about
/// 100 of either in a nanosecond, so that each thread works for 5 microseconds, twice the cost of a fork.
inline int threads_for_stream(std::int64_t count, std::int64_t bytes, std::int64_t flops = 0) {
  constexpr std::int64_t per_operation = 16;
  return threads_for(count, (bytes + flops) / per_operation);
}

/// Calls body(thread, begin, end) on each of `threads` threads with its contiguous share of [0, count). The team is
/// always the device's whole one: OpenMP's library (libgomp) ends the threads that a smaller team leaves out, and
/// begins them anew for the next larger one, at tens of microseconds each.
template <class Body>
void parallel_ranges(int threads, std::int64_t count, Body&& body) {
  if (threads <= 1) {
    body(0, std::int64_t{0}, count);
    return;
  }
#if defined(__SANITIZE_THREAD__)  // ThreadSanitizer understands std::thread, but not OpenMP's library
  const auto share = [&](std::int64_t thread) {
    body(static_cast<int>(thread), count * thread / threads, count * (thread + 1) / threads);
  };
  std::vector<std::thread> team;
  for (int thread = 1; thread < threads; ++thread) team.emplace_back(share, thread);
  share(0);
  for (std::thread& member : team) member.join();
#else
#pragma omp parallel
  {
    const std::int64_t thread = omp_get_thread_num(), parts = std::min(threads, omp_get_num_threads());
    if (thread < parts) body(static_cast<int>(thread), count * thread / parts, count * (thread + 1) / parts);
  }
#endif
}

/// Elements [begin, end) of one of many tensors, divided among threads as if the tensors were concatenated.
struct Segment {
  std::size_t tensor;
  std::int64_t begin, end;
};

/// Equal shares, one per thread, cut at cache-line multiples of float32. `total`: elements of all tensors.
inline std::vector<std::vector<Segment>> partition(TensorTypes tensors, int threads, std::int64_t total) {
  constexpr std::int64_t line = 16;
  std::vector<std::vector<Segment>> shares(static_cast<std::size_t>(threads));
  std::int64_t before = 0;  // elements of all earlier tensors
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const std::int64_t size = tensors[i].elements();
    for (std::int64_t t = 0; t < threads; ++t) {
      const auto cut = [&](std::int64_t share) {
        const std::int64_t inside = std::clamp<std::int64_t>(total * share / threads - before, 0, size);
        return inside == size ? size : inside / line * line;
      };
      const Segment segment{i, cut(t), cut(t + 1)};
      if (segment.begin < segment.end) shares[static_cast<std::size_t>(t)].push_back(segment);
    }
    before += size;
  }
  return shares;
}

}  // namespace gpubench::cpu
