#include "core/backend/cuda/cudnn_graph.h"

namespace gpubench::cuda {

FourExtents packed_strides(const FourExtents& dimensions) {
  const auto& [outer, second, third, last] = dimensions;
  static_cast<void>(outer);
  return {second * third * last, third * last, last, 1};
}

void set_attribute(const BackendDescriptor& descriptor, cudnnBackendAttributeName_t name,
                   cudnnBackendAttributeType_t type, std::int64_t count, const void* values) {
  check(cudnn().backend_set_attribute(descriptor.get(), name, type, count, values), "cudnnBackendSetAttribute");
}

void set_attribute(const BackendDescriptor& descriptor, cudnnBackendAttributeName_t name,
                   std::span<const std::int64_t> values) {
  set_attribute(descriptor, name, CUDNN_TYPE_INT64, static_cast<std::int64_t>(values.size()), values.data());
}

void set_attribute(const BackendDescriptor& descriptor, cudnnBackendAttributeName_t name, cudnnDataType_t type) {
  set_attribute(descriptor, name, CUDNN_TYPE_DATA_TYPE, 1, &type);
}

void set_attribute(const BackendDescriptor& descriptor, cudnnBackendAttributeName_t name, float value) {
  set_attribute(descriptor, name, CUDNN_TYPE_FLOAT, 1, &value);
}

void set_attribute(const BackendDescriptor& descriptor, cudnnBackendAttributeName_t name,
                   const BackendDescriptor& value) {
  const cudnnBackendDescriptor_t handle = value.get();
  set_attribute(descriptor, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, static_cast<const void*>(&handle));
}

void finalize(const BackendDescriptor& descriptor, std::string_view what) {
  check(cudnn().backend_finalize(descriptor.get()), what);
}

GraphTensor GraphBuilder::add(const FourExtents& dimensions, const FourExtents& strides, cudnnDataType_t type,
                              Memory memory) {
  constexpr std::int64_t alignment = 16;  // of bytes; tensors begin at multiples of 64
  const std::int64_t id = ++last_id_;
  const bool is_virtual = memory == Memory::none, by_value = memory == Memory::by_value;
  BackendDescriptor tensor(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  set_attribute(tensor, CUDNN_ATTR_TENSOR_UNIQUE_ID, std::span(&id, 1));
  set_attribute(tensor, CUDNN_ATTR_TENSOR_DATA_TYPE, type);
  set_attribute(tensor, CUDNN_ATTR_TENSOR_DIMENSIONS, dimensions);
  set_attribute(tensor, CUDNN_ATTR_TENSOR_STRIDES, strides);
  set_attribute(tensor, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, std::span(&alignment, 1));
  set_attribute(tensor, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &is_virtual);
  if (by_value) set_attribute(tensor, CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, 1, &by_value);
  finalize(tensor, "cudnnBackendFinalize of a tensor");
  if (memory == Memory::own) graph_.ids.push_back(id);
  return {&add(std::move(tensor)), dimensions, strides};
}

GraphTensor GraphBuilder::add_tensor(const FourExtents& dimensions, const FourExtents& strides, cudnnDataType_t type) {
  return add(dimensions, strides, type, Memory::own);
}

GraphTensor GraphBuilder::add_virtual(const FourExtents& dimensions, cudnnDataType_t type) {
  return add(dimensions, packed_strides(dimensions), type, Memory::none);
}

GraphTensor GraphBuilder::add_virtual(const FourExtents& dimensions, const FourExtents& strides, cudnnDataType_t type) {
  return add(dimensions, strides, type, Memory::none);
}

GraphTensor GraphBuilder::add_constant(float value) {
  const GraphTensor tensor = add({1, 1, 1, 1}, {1, 1, 1, 1}, CUDNN_DATA_FLOAT, Memory::by_value);
  graph_.constants.emplace_back(last_id_, value);
  return tensor;
}

void GraphBuilder::add_operation(BackendDescriptor operation, std::string_view what) {
  finalize(operation, what);
  operations_.push_back(add(std::move(operation)).get());
}

BackendDescriptor GraphBuilder::pointwise_function(cudnnPointwiseMode_t mode, cudnnDataType_t type) {
  BackendDescriptor function(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  set_attribute(function, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &mode);
  set_attribute(function, CUDNN_ATTR_POINTWISE_MATH_PREC, type);
  return function;
}

BackendDescriptor GraphBuilder::pointwise(BackendDescriptor function, const GraphTensor& from, const GraphTensor& to) {
  finalize(function, "cudnnBackendFinalize of a pointwise function");
  BackendDescriptor operation(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  set_attribute(operation, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, add(std::move(function)));
  set_attribute(operation, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, *from.descriptor);
  set_attribute(operation, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, *to.descriptor);
  return operation;
}

void GraphBuilder::add_pointwise(cudnnPointwiseMode_t mode, const GraphTensor& from, const GraphTensor& to) {
  add_operation(pointwise(pointwise_function(mode), from, to), "cudnnBackendFinalize of a pointwise operation");
}

void GraphBuilder::add_pointwise(cudnnPointwiseMode_t mode, const GraphTensor& from, const GraphTensor& with,
                                 const GraphTensor& to) {
  BackendDescriptor operation = pointwise(pointwise_function(mode), from, to);
  set_attribute(operation, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, *with.descriptor);
  add_operation(std::move(operation), "cudnnBackendFinalize of a pointwise operation");
}

CudnnGraph GraphBuilder::finish(cudnnHandle_t handle) {
  const BackendDescriptor& graph = graph_.graph;
  set_attribute(graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, static_cast<const void*>(&handle));
  set_attribute(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                static_cast<std::int64_t>(operations_.size()), static_cast<const void*>(operations_.data()));
  finalize(graph, "cudnnBackendFinalize of a graph of operations");
  return std::move(graph_);
}

}  // namespace gpubench::cuda
