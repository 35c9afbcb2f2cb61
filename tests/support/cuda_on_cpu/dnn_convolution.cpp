// What graphs mean: tensors and operations are checked and read, then computed in double precision.
#include <algorithm>
#include <cmath>
#include <set>

#include "tests/support/cuda_on_cpu/dnn_descriptor.h"

namespace gpubench::cuda_on_cpu {

GraphTensor tensor_of(const Descriptor& descriptor) {
  GraphTensor tensor{.id = descriptor.get<std::int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID),
                     .type = descriptor.get<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE)};
  for (std::size_t i = 0; i < 4; ++i) {
    tensor.dims[i] = descriptor.get<std::int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS, i);
    tensor.strides[i] = descriptor.get<std::int64_t>(CUDNN_ATTR_TENSOR_STRIDES, i);
  }
  const auto flag = [&](cudnnBackendAttributeName_t name) {
    return descriptor.has(name) && descriptor.get<bool>(name);
  };
  tensor.is_virtual = flag(CUDNN_ATTR_TENSOR_IS_VIRTUAL);
  tensor.by_value = flag(CUDNN_ATTR_TENSOR_IS_BY_VALUE);
  return tensor;
}

namespace {

cudnnStatus_t bad(const char* why) {
  return refused(CUDNN_STATUS_BAD_PARAM, why);
}

struct Names {
  cudnnBackendAttributeName_t sliding, image, filter, result, alpha, beta;
};

Names names_of(cudnnBackendDescriptorType_t kind) {
  if (kind == CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR) {
    return {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,         CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA};
  }
  if (kind == CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR) {
    return {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA};
  }
  return {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA};
}

cudnnStatus_t read_convolution(Descriptor& descriptor, GraphOperation& operation) {
  const Names names = names_of(descriptor.type);
  const Descriptor& sliding = descriptor.part(names.sliding);
  if (sliding.type != CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR) return bad("no convolution descriptor");
  operation.image = tensor_of(descriptor.part(names.image));
  operation.filter = tensor_of(descriptor.part(names.filter));
  operation.result = tensor_of(descriptor.part(names.result));
  operation.alpha = static_cast<double>(descriptor.get<float>(names.alpha));
  operation.beta = static_cast<double>(descriptor.get<float>(names.beta));
  for (std::size_t i = 0; i < 2; ++i) {
    operation.strides[i] = sliding.get<std::int64_t>(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, i);
    operation.dilations[i] = sliding.get<std::int64_t>(CUDNN_ATTR_CONVOLUTION_DILATIONS, i);
    operation.before[i] = sliding.get<std::int64_t>(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, i);
    operation.after[i] = sliding.get<std::int64_t>(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, i);
    const std::int64_t covered = (operation.filter.dims[2 + i] - 1) * operation.dilations[i] + 1;
    const std::int64_t padded = operation.image.dims[2 + i] + operation.before[i] + operation.after[i];
    if (operation.result.dims[2 + i] != (padded - covered) / operation.strides[i] + 1) {
      return bad("the result's extent is not what the convolution gives");
    }
  }
  const std::int64_t groups = operation.image.dims[1] / operation.filter.dims[1];
  if (groups * operation.filter.dims[1] != operation.image.dims[1] || operation.result.dims[1] % groups != 0) {
    return bad("the channels do not divide into groups");
  }
  if (operation.result.dims[1] != operation.filter.dims[0] || operation.image.dims[0] != operation.result.dims[0]) {
    return bad("batch or channels differ");
  }
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace

cudnnStatus_t finish_tensor(const Descriptor& tensor) {
  const std::int64_t rank = tensor.attributes.at(CUDNN_ATTR_TENSOR_DIMENSIONS).count;
  if (rank != tensor.attributes.at(CUDNN_ATTR_TENSOR_STRIDES).count) return bad("as many strides as dimensions");
  if (rank != 4) return refused(CUDNN_STATUS_NOT_SUPPORTED, "this cuDNN has tensors of four dimensions only");
  const auto alignment = tensor.get<std::int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT);
  const auto bytes = static_cast<std::int64_t>(element_bytes(tensor.get<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE)));
  if (alignment < bytes || alignment % bytes != 0) return bad("the alignment");
  for (std::size_t i = 0; i < 4; ++i) {
    if (tensor.get<std::int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS, i) < 1) return bad("an extent below 1");
    if (tensor.get<std::int64_t>(CUDNN_ATTR_TENSOR_STRIDES, i) < 1) return bad("a stride below 1");
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t finish_sliding(const Descriptor& sliding) {
  const auto dimensions = sliding.get<std::int64_t>(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS);
  if (dimensions != 2) return refused(CUDNN_STATUS_NOT_SUPPORTED, "this cuDNN has convolutions of two dimensions only");
  for (const auto name : {CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES,
                          CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS}) {
    if (sliding.attributes.at(name).count != dimensions) return bad("a value for each spatial dimension");
    const bool padding = name == CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS || name == CUDNN_ATTR_CONVOLUTION_POST_PADDINGS;
    for (std::size_t i = 0; i < 2; ++i) {
      if (sliding.get<std::int64_t>(name, i) < (padding ? 0 : 1)) return bad("a stride, dilation or padding too small");
    }
  }
  if (sliding.get<cudnnConvolutionMode_t>(CUDNN_ATTR_CONVOLUTION_CONV_MODE) != CUDNN_CROSS_CORRELATION) {
    return refused(CUDNN_STATUS_NOT_SUPPORTED, "this cuDNN knows cross correlation only");
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t finish_operation(Descriptor& descriptor) {
  GraphOperation operation{.kind = descriptor.type};
  const cudnnStatus_t status =
      operation.is_convolution() ? read_convolution(descriptor, operation) : read_operation(descriptor, operation);
  descriptor.operations = {operation};
  return status;
}

cudnnStatus_t finish_graph(Descriptor& graph) {
  std::set<std::int64_t> made;
  for (std::int64_t i = 0; i < graph.attributes.at(CUDNN_ATTR_OPERATIONGRAPH_OPS).count; ++i) {
    const Descriptor& part = graph.part(CUDNN_ATTR_OPERATIONGRAPH_OPS, static_cast<std::size_t>(i));
    if (part.operations.size() != 1) return bad("a part that is no operation");
    const GraphOperation& operation = part.operations[0];
    const bool is_convolution = operation.is_convolution();
    if (!is_convolution && operation.from.is_virtual && !made.contains(operation.from.id)) {
      return bad("a virtual tensor that no earlier operation makes");
    }
    const bool forward = operation.kind == CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR;
    if (!made.insert(!is_convolution ? operation.to.id : forward ? operation.result.id : -1).second) {
      return bad("two operations make one tensor");
    }
    graph.operations.push_back(operation);
  }
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace gpubench::cuda_on_cpu
