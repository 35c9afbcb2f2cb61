#include "core/backend/cuda/kernels/loss.cuh"
#include "core/backend/cuda/kernels/measured_cross_entropy.h"
#include "core/backend/cuda/kernels/metric.cuh"

namespace gpubench::cuda {
namespace {

constexpr int most_threads = 1024;
/// A thread takes at most two elements. More would take longer than the start of a kernel, about 1 us, which is what
/// one block saves on a step's longest path: an element waits for about 20 exchanges between lanes and 6 loads, 1500
/// cycles.
constexpr std::int64_t most_elements = 2 * most_threads;
constexpr std::int64_t most_rows = most_threads;  // of one column: two would fill the shared memory of a block

// As in the kernels of the parts, element by element and sum by sum, so that the results are theirs bit by bit.
__global__ void __launch_bounds__(most_threads, 1)
    measured_cross_entropy_kernel(RowShape shape, const __grid_constant__ MeasuredLoss of) {
  __shared__ float values[1 + MeasuredLoss::most_metrics][most_rows];
  for_each_row<ByLanes>(shape, [&](ByLanes by, const Row& row) {
    SoftmaxCrossEntropy<1>{Dtype::f32, of.logits, of.labels, values[0], of.probabilities}(by, row);
    if (of.gradient != nullptr) {
      SoftmaxCrossEntropyGradient<1>{Dtype::f32, of.dloss, of.probabilities, of.labels, of.gradient}(by, row);
    }
    if (of.metrics == 0) return;
    __syncwarp();  // a label's probability is another lane's
    const float* const ranked = of.of_logits ? of.logits : of.probabilities;
    const std::int64_t rank = LabelRank{ranked, of.labels.data, of.labels.type, !of.labels.sparse}(by, row);
    for (int metric = 0; metric < of.metrics && row.leads(); ++metric) {
      values[1 + metric][row.index] = is_within(of.k[metric], rank);
    }
  });
  __syncthreads();
  for (int figure = 0; figure <= of.metrics; ++figure) {
    accumulate(of.figures[figure], values[figure], shape.rows, of.adds);
  }
}

}  // namespace

bool fits_a_block(const MeasuredLoss& measured) {
  const std::int64_t rows = measured.rows, columns = measured.columns;
  if (rows < 1 || rows > most_rows || columns < 1 || columns > most_columns_of_lanes) return false;
  const std::int64_t lanes = lanes_of(columns);
  return measured.metrics <= MeasuredLoss::most_metrics &&
         rows * ((columns + lanes - 1) / lanes * lanes) <= most_elements;
}

cudaError_t launch_measured_cross_entropy(const LaunchOn& on, const MeasuredLoss& measured) {
  const int width = lanes_of(measured.columns);
  const std::int64_t warps = (measured.rows * width + warp_size - 1) / warp_size;
  const auto threads = static_cast<unsigned>(std::clamp<std::int64_t>(warps * warp_size, block_threads, most_threads));
  return launch(on, 1, threads, &measured_cross_entropy_kernel, RowShape{measured.rows, measured.columns, width},
                measured);
}

}  // namespace gpubench::cuda
