// cuDNN's graph descriptors: tensors, convolutions and epilogues. Dimensions are in cuDNN's order, independent of the
// layout in memory, which the strides describe: images [batch, channels, height, width], filters [output channels,
// input channels, height, width].
#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "core/backend/cuda/conv_problem.h"
#include "core/backend/cuda/cudnn.h"

namespace gpubench::cuda {

/// Ids under which a graph's run receives its memory.
enum CudnnTensorId : std::int64_t { image_id = 1, filter_id, result_id, bias_id, linear_id, biased_id };

/// A graph, and the descriptors that it is made of.
struct CudnnGraph {
  std::deque<BackendDescriptor> parts;  // a deque, because descriptors must not move
  BackendDescriptor graph;
  /// Ids of the tensors with memory, in the order in which a run takes them: image, filter, result[, bias].
  std::vector<std::int64_t> ids;
};

/// The convolution with the bias and relu that the problem fuses. Throws DeviceError when cuDNN refuses it.
CudnnGraph convolution_graph(const ConvolutionProblem& problem, cudnnHandle_t handle);

}  // namespace gpubench::cuda
