// cuDNN's descriptors of graphs: tensors, convolutions and what follows them. Dimensions are in cuDNN's order whatever
// lies where in memory, which the strides say: images [batch, channels, height, width], filters [output channels, input
// channels, height, width].
#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "core/backend/cuda/conv_problem.h"
#include "core/backend/cuda/cudnn.h"

namespace gpubench::cuda {

/// The numbers by which a graph's memory is named when it runs.
enum CudnnTensorId : std::int64_t { image_id = 1, filter_id, result_id, bias_id, linear_id, biased_id };

/// A graph, and the descriptors that it is made of.
struct CudnnGraph {
  std::deque<BackendDescriptor> parts;  // which stay where they are
  BackendDescriptor graph;
  /// The tensors that have memory, in the order in which a run gives it: image, filter, result[, bias].
  std::vector<std::int64_t> ids;
};

/// The convolution of the problem, with the bias and relu that it fuses. Throws DeviceError for what cuDNN refuses.
CudnnGraph convolution_graph(const ConvolutionProblem& problem, cudnnHandle_t handle);

}  // namespace gpubench::cuda
