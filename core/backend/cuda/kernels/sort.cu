#include <bit>
#include <type_traits>

#include "core/backend/cuda/kernels/elementwise.cuh"
#include "core/backend/cuda/kernels/sort.h"

namespace gpubench::cuda {
namespace {

/// Columns that fit into shared memory.
constexpr std::int64_t shared_columns = 2048;
constexpr int most_sort_threads = 512;
/// With this bound the compiler uses the registers that it needs; without it, it spills some to fit more blocks.
constexpr int sort_blocks_per_multiprocessor = 2;

/// C: float, or std::int64_t for integers. The place is as wide as the value: bytes between two members would be copied
/// with them, though nobody has written them.
template <class C>
struct PlacedValue {
  C value;
  std::conditional_t<sizeof(C) == sizeof(std::int64_t), std::int64_t, std::int32_t> place;
};

/// Before b in the order. What is not a number is the largest, equal values keep their order, and what only fills the
/// row up to a power of two is last.
template <class C>
__device__ bool precedes(const PlacedValue<C>& a, const PlacedValue<C>& b, const SortShape& shape) {
  const bool a_exists = a.place < shape.columns, b_exists = b.place < shape.columns;
  if (a_exists != b_exists) return a_exists;
  const C low = shape.descending ? b.value : a.value, high = shape.descending ? a.value : b.value;
  if (low < high) return true;
  if (high < low) return false;
  const bool low_is_number = low == low, high_is_number = high == high;
  return low_is_number == high_is_number ? a.place < b.place : low_is_number;
}

// Each pair belongs to one thread between two barriers. Blocks of pairs are brought into rising and falling order in
// turn, so that two neighbours can be merged.
template <class C, bool in_shared>
__global__ void __launch_bounds__(most_sort_threads, sort_blocks_per_multiprocessor)
    sort_rows(SortShape shape, int padded, const void* in, void* values, std::int64_t* places,
              PlacedValue<C>* workspace) {
  __shared__ PlacedValue<C> tile[in_shared ? shared_columns : 1];
  PlacedValue<C>* const held = in_shared ? tile : workspace + static_cast<std::int64_t>(blockIdx.x) * padded;
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  for (std::int64_t row = blockIdx.x; row < shape.rows; row += gridDim.x) {
    for (int i = thread; i < padded; i += threads) {
      held[i] = {i < shape.columns ? load_as<C>(in, shape.type, row * shape.columns + i) : C{}, i};
    }
    __syncthreads();
    for (int run = 2; run <= padded; run *= 2) {
      for (int distance = run / 2; distance > 0; distance /= 2) {
        for (int pair = thread; pair < padded / 2; pair += threads) {
          const int first = 2 * pair - (pair & (distance - 1)), second = first + distance;
          const bool rising = (first & run) == 0;
          const PlacedValue<C> a = held[first], b = held[second];
          if (precedes(b, a, shape) != rising) continue;
          held[first] = b;
          held[second] = a;
        }
        __syncthreads();
      }
    }
    for (int i = thread; i < shape.kept; i += threads) {
      store_as<C>(values, shape.type, row * shape.kept + i, held[i].value);
      places[row * shape.kept + i] = held[i].place;
    }
    __syncthreads();
  }
}

int padded_columns(const SortShape& shape) {
  return static_cast<int>(std::bit_ceil(static_cast<std::uint64_t>(shape.columns)));
}

/// Blocks that sort long rows: one a multiprocessor, as each takes memory.
unsigned blocks_of_long_rows(const LaunchOn& on, const SortShape& shape) {
  return static_cast<unsigned>(std::min<std::int64_t>(shape.rows, on.multiprocessors));
}

template <class C>
cudaError_t launch_sort_in(const LaunchOn& on, const SortShape& shape, const void* in, void* values,
                           std::int64_t* places, void* workspace) {
  const int padded = padded_columns(shape);
  const auto threads = static_cast<unsigned>(std::clamp(padded / 2, 32, most_sort_threads));
  auto* const held = static_cast<PlacedValue<C>*>(workspace);
  if (shape.columns <= shared_columns) {
    return launch(on, blocks_for(on, shape.rows, 1), threads, &sort_rows<C, true>, shape, padded, in, values, places,
                  held);
  }
  return launch(on, blocks_of_long_rows(on, shape), threads, &sort_rows<C, false>, shape, padded, in, values, places,
                held);
}

}  // namespace

std::size_t sort_workspace_bytes(const LaunchOn& on, const SortShape& shape) {
  if (shape.columns <= shared_columns || shape.rows == 0) return 0;
  const std::size_t element = is_floating(shape.type) ? sizeof(PlacedValue<float>) : sizeof(PlacedValue<std::int64_t>);
  return blocks_of_long_rows(on, shape) * static_cast<std::size_t>(padded_columns(shape)) * element;
}

cudaError_t launch_sort(const LaunchOn& on, const SortShape& shape, const void* in, void* values, std::int64_t* places,
                        void* workspace) {
  if (shape.rows == 0 || shape.kept == 0) return cudaSuccess;
  return is_floating(shape.type) ? launch_sort_in<float>(on, shape, in, values, places, workspace)
                                 : launch_sort_in<std::int64_t>(on, shape, in, values, places, workspace);
}

}  // namespace gpubench::cuda
