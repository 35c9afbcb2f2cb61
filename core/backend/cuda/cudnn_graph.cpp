#include "core/backend/cuda/cudnn_graph.h"

#include <span>

namespace gpubench::cuda {
namespace {

using Dimensions = std::array<std::int64_t, 4>;

void set(const BackendDescriptor& descriptor, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
         std::int64_t count, const void* values) {
  check(cudnn().backend_set_attribute(descriptor.get(), name, type, count, values), "cudnnBackendSetAttribute");
}
void set(const BackendDescriptor& descriptor, cudnnBackendAttributeName_t name, std::span<const std::int64_t> values) {
  set(descriptor, name, CUDNN_TYPE_INT64, static_cast<std::int64_t>(values.size()), values.data());
}
void set(const BackendDescriptor& descriptor, cudnnBackendAttributeName_t name, std::int64_t value) {
  set(descriptor, name, std::span(&value, 1));
}
void set(const BackendDescriptor& descriptor, cudnnBackendAttributeName_t name, cudnnDataType_t type) {
  set(descriptor, name, CUDNN_TYPE_DATA_TYPE, 1, &type);
}
void set(const BackendDescriptor& descriptor, cudnnBackendAttributeName_t name, float value) {
  set(descriptor, name, CUDNN_TYPE_FLOAT, 1, &value);
}
void set(const BackendDescriptor& descriptor, cudnnBackendAttributeName_t name, const BackendDescriptor& value) {
  const cudnnBackendDescriptor_t handle = value.get();
  set(descriptor, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &handle);
}

void finalize(const BackendDescriptor& descriptor, std::string_view what) {
  check(cudnn().backend_finalize(descriptor.get()), what);
}

/// Virtual tensors have no memory: one operation hands them to the next.
BackendDescriptor tensor(std::int64_t id, const Dimensions& dimensions, cudnnDataType_t type, bool is_virtual = false) {
  constexpr std::int64_t alignment = 16;  // of bytes; tensors begin at multiples of 64
  BackendDescriptor result(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  set(result, CUDNN_ATTR_TENSOR_UNIQUE_ID, id);
  set(result, CUDNN_ATTR_TENSOR_DATA_TYPE, type);
  set(result, CUDNN_ATTR_TENSOR_DIMENSIONS, dimensions);
  set(result, CUDNN_ATTR_TENSOR_STRIDES, channels_last_strides(dimensions));
  set(result, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, alignment);
  set(result, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &is_virtual);
  finalize(result, "cudnnBackendFinalize of a tensor");
  return result;
}

BackendDescriptor sliding(const ConvolutionProblem& problem) {
  constexpr cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
  BackendDescriptor result(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  set(result, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_DATA_FLOAT);
  set(result, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode);
  set(result, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, std::int64_t{2});
  set(result, CUDNN_ATTR_CONVOLUTION_DILATIONS, problem.dilations);
  set(result, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, problem.strides);
  set(result, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, problem.padding_before);
  set(result, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, problem.padding_after);
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

/// The descriptors of one graph, and of them those that are operations.
class GraphParts {
 public:
  const BackendDescriptor& add(BackendDescriptor part) { return graph_.parts.emplace_back(std::move(part)); }
  /// A tensor with memory.
  const BackendDescriptor& add_tensor(std::int64_t id, const Dimensions& dimensions, cudnnDataType_t type) {
    graph_.ids.push_back(id);
    return add(tensor(id, dimensions, type));
  }
  /// One that is handed on in float32, so that nothing is rounded before the last operation.
  const BackendDescriptor& add_virtual(std::int64_t id, const Dimensions& dimensions) {
    return add(tensor(id, dimensions, CUDNN_DATA_FLOAT, true));
  }
  void add_operation(BackendDescriptor operation, std::string_view what) {
    finalize(operation, what);
    operations_.push_back(add(std::move(operation)).get());
  }
  /// to = mode(from[, with])
  void add_pointwise(cudnnPointwiseMode_t mode, const BackendDescriptor& from, const BackendDescriptor* with,
                     const BackendDescriptor& to) {
    BackendDescriptor function(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
    set(function, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &mode);
    set(function, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_DATA_FLOAT);
    finalize(function, "cudnnBackendFinalize of a pointwise function");
    BackendDescriptor operation(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    set(operation, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, add(std::move(function)));
    set(operation, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, from);
    if (with != nullptr) set(operation, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, *with);
    set(operation, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, to);
    add_operation(std::move(operation), "cudnnBackendFinalize of a pointwise operation");
  }
  CudnnGraph finish(cudnnHandle_t handle) {
    const BackendDescriptor& graph = graph_.graph;
    set(graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
    set(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
        static_cast<std::int64_t>(operations_.size()), operations_.data());
    finalize(graph, "cudnnBackendFinalize of a graph of operations");
    return std::move(graph_);
  }

 private:
  CudnnGraph graph_{{}, BackendDescriptor(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR), {}};
  std::vector<cudnnBackendDescriptor_t> operations_;
};

}  // namespace

CudnnGraph convolution_graph(const ConvolutionProblem& problem, cudnnHandle_t handle) {
  const Names names = names_of(problem.kind);
  const cudnnDataType_t type = cudnn_type(problem.dtype);
  GraphParts parts;
  const BackendDescriptor& image = parts.add_tensor(image_id, problem.image, type);
  const BackendDescriptor& filter = parts.add_tensor(filter_id, problem.filter, type);
  const BackendDescriptor& result = parts.add_tensor(result_id, problem.result, type);
  const BackendDescriptor& linear = problem.bias ? parts.add_virtual(linear_id, problem.result) : result;

  BackendDescriptor convolution(names.operation);
  set(convolution, names.sliding, parts.add(sliding(problem)));
  set(convolution, names.image, image);
  set(convolution, names.filter, filter);
  set(convolution, names.result, linear);
  set(convolution, names.alpha, 1.0F);
  set(convolution, names.beta, 0.0F);
  parts.add_operation(std::move(convolution), "cudnnBackendFinalize of a convolution's operation");

  if (problem.bias) {
    const BackendDescriptor& bias = parts.add_tensor(bias_id, {1, problem.result[1], 1, 1}, type);
    const BackendDescriptor& biased = problem.relu ? parts.add_virtual(biased_id, problem.result) : result;
    parts.add_pointwise(CUDNN_POINTWISE_ADD, linear, &bias, biased);
    if (problem.relu) parts.add_pointwise(CUDNN_POINTWISE_RELU_FWD, biased, nullptr, result);
  }
  return parts.finish(handle);
}

}  // namespace gpubench::cuda
