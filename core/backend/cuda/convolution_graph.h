// A convolution as a graph of cuDNN: images are [batch, channels, height, width], filters [output channels, input
// channels, height, width], both channels-last in memory.
#pragma once
#include "core/backend/cuda/conv_problem.h"
#include "core/backend/cuda/cudnn_graph.h"

namespace gpubench::cuda {

/// The convolution with the bias and relu that the problem fuses. Its runs take image, filter, result[, bias]. Throws
/// DeviceError when cuDNN refuses it.
CudnnGraph convolution_graph(const ConvolutionProblem& problem, cudnnHandle_t handle);

}  // namespace gpubench::cuda
