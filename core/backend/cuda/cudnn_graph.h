// Graphs of cuDNN operations, built from tensors. Dimensions are in cuDNN's order, independent of the layout in memory,
// which the strides describe.
#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "core/backend/cuda/cudnn.h"

namespace gpubench::cuda {

/// A graph, and the descriptors that it is made of.
struct CudnnGraph {
  std::deque<BackendDescriptor> parts;  // a deque, because descriptors must not move
  BackendDescriptor graph;
  /// Ids of the tensors with memory, in the order in which a run takes them.
  std::vector<std::int64_t> ids;
  /// Numbers that a run takes besides, with their ids.
  std::vector<std::pair<std::int64_t, float>> constants;
};

using FourExtents = std::array<std::int64_t, 4>;

/// A tensor of a graph that is being built.
struct GraphTensor {
  const BackendDescriptor* descriptor = nullptr;
  FourExtents dimensions{}, strides{};
};

/// Strides of a tensor whose last dimension is innermost.
FourExtents packed_strides(const FourExtents& dimensions);

/// Sets a descriptor's attribute, `count` values of cuDNN's `type`. Throws DeviceError when cuDNN refuses it.
void set_attribute(const BackendDescriptor& descriptor, cudnnBackendAttributeName_t name,
                   cudnnBackendAttributeType_t type, std::int64_t count, const void* values);
void set_attribute(const BackendDescriptor& descriptor, cudnnBackendAttributeName_t name,
                   std::span<const std::int64_t> values);
void set_attribute(const BackendDescriptor& descriptor, cudnnBackendAttributeName_t name, cudnnDataType_t type);
void set_attribute(const BackendDescriptor& descriptor, cudnnBackendAttributeName_t name, float value);
void set_attribute(const BackendDescriptor& descriptor, cudnnBackendAttributeName_t name,
                   const BackendDescriptor& value);
/// Throws DeviceError naming `what` when cuDNN refuses the descriptor.
void finalize(const BackendDescriptor& descriptor, std::string_view what);

/// Collects tensors and operations; finish() makes the graph.
class GraphBuilder {
 public:
  /// Keeps a descriptor that operations refer to.
  const BackendDescriptor& add(BackendDescriptor part) { return graph_.parts.emplace_back(std::move(part)); }

  /// A tensor with memory; a run takes these in the order in which they are added.
  GraphTensor add_tensor(const FourExtents& dimensions, const FourExtents& strides, cudnnDataType_t type);
  /// A packed tensor without memory, which one operation hands to the next; by default in float32, so that nothing is
  /// rounded before the last operation.
  GraphTensor add_virtual(const FourExtents& dimensions, cudnnDataType_t type = CUDNN_DATA_FLOAT);
  GraphTensor add_virtual(const FourExtents& dimensions, const FourExtents& strides, cudnnDataType_t type);
  /// A number.
  GraphTensor add_constant(float value);

  void add_operation(BackendDescriptor operation, std::string_view what);
  /// to = mode(from)
  void add_pointwise(cudnnPointwiseMode_t mode, const GraphTensor& from, const GraphTensor& to);
  /// to = mode(from, with); `with` is stretched where its extent is 1
  void add_pointwise(cudnnPointwiseMode_t mode, const GraphTensor& from, const GraphTensor& with,
                     const GraphTensor& to);

  /// Throws DeviceError when cuDNN refuses the graph.
  CudnnGraph finish(cudnnHandle_t handle);

 protected:
  /// A pointwise operation without its second and third input.
  BackendDescriptor pointwise(BackendDescriptor function, const GraphTensor& from, const GraphTensor& to);
  static BackendDescriptor pointwise_function(cudnnPointwiseMode_t mode, cudnnDataType_t type = CUDNN_DATA_FLOAT);

 private:
  enum class Memory : std::uint8_t { own, none, by_value };
  GraphTensor add(const FourExtents& dimensions, const FourExtents& strides, cudnnDataType_t type, Memory memory);

  CudnnGraph graph_{{}, BackendDescriptor(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR), {}, {}};
  std::vector<cudnnBackendDescriptor_t> operations_;
  std::int64_t last_id_ = 0;
};

}  // namespace gpubench::cuda
