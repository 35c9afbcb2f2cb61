#include "core/backend/cuda/convolution_graph.h"

namespace gpubench::cuda {
namespace {

BackendDescriptor sliding(const ConvolutionProblem& problem) {
  constexpr std::int64_t dimensions = 2;
  constexpr cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
  BackendDescriptor result(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  set_attribute(result, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_DATA_FLOAT);
  set_attribute(result, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode);
  set_attribute(result, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, std::span(&dimensions, 1));
  set_attribute(result, CUDNN_ATTR_CONVOLUTION_DILATIONS, problem.dilations);
  set_attribute(result, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, problem.strides);
  set_attribute(result, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, problem.padding_before);
  set_attribute(result, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, problem.padding_after);
  finalize(result, "cudnnBackendFinalize of a convolution");
  return result;
}

struct Names {
  cudnnBackendDescriptorType_t operation;
  cudnnBackendAttributeName_t sliding, image, filter, result, alpha, beta;
};

Names names_of(ConvolutionKind kind) {
  switch (kind) {
    case ConvolutionKind::input_gradient:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA};
    case ConvolutionKind::filter_gradient:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA};
    default:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA};
  }
}

}  // namespace

CudnnGraph convolution_graph(const ConvolutionProblem& problem, cudnnHandle_t handle) {
  const Names names = names_of(problem.kind);
  const cudnnDataType_t type = cudnn_type(problem.dtype);
  GraphBuilder builder;
  const auto add = [&](const FourExtents& dimensions) {
    return builder.add_tensor(dimensions, channels_last_strides(dimensions), type);
  };
  const auto pass_on = [&] {
    return builder.add_virtual(problem.result, channels_last_strides(problem.result), CUDNN_DATA_FLOAT);
  };
  const GraphTensor image = add(problem.image), filter = add(problem.filter), result = add(problem.result);
  const GraphTensor linear = problem.bias ? pass_on() : result;

  BackendDescriptor convolution(names.operation);
  set_attribute(convolution, names.sliding, builder.add(sliding(problem)));
  set_attribute(convolution, names.image, *image.descriptor);
  set_attribute(convolution, names.filter, *filter.descriptor);
  set_attribute(convolution, names.result, *linear.descriptor);
  set_attribute(convolution, names.alpha, 1.0F);
  set_attribute(convolution, names.beta, 0.0F);
  builder.add_operation(std::move(convolution), "cudnnBackendFinalize of a convolution's operation");

  if (problem.bias) {
    const GraphTensor bias = add({1, problem.result[1], 1, 1});
    const GraphTensor biased = problem.relu ? pass_on() : result;
    builder.add_pointwise(CUDNN_POINTWISE_ADD, linear, bias, biased);
    if (problem.relu) builder.add_pointwise(CUDNN_POINTWISE_RELU_FWD, biased, result);
  }
  return builder.finish(handle);
}

}  // namespace gpubench::cuda
