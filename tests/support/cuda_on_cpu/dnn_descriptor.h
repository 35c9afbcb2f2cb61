// The descriptors of cuDNN's graph interface: what each may hold, and what they say when they are read.
#pragma once
#include <array>
#include <cstddef>
#include <cstring>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "tests/support/cuda_on_cpu/dnn.h"

namespace gpubench::cuda_on_cpu {

struct Attribute {
  cudnnBackendAttributeType_t type{};
  std::int64_t count = 0;
  std::vector<std::byte> bytes;
};

/// A tensor of a graph: where its elements lie, in elements.
struct GraphTensor {
  std::int64_t id = 0;
  cudnnDataType_t type{};
  std::array<std::int64_t, 4> dims{}, strides{};
  bool is_virtual = false;
  bool by_value = false;  ///< its memory is the host's, read when the graph starts
};

/// A convolution, or `to` from `from` and perhaps `with`: a pointwise operation, a product, a reduction or a reshape.
struct GraphOperation {
  cudnnBackendDescriptorType_t kind{};
  GraphTensor image = {}, filter = {}, result = {};  // of convolutions
  std::array<std::int64_t, 2> strides{}, dilations{}, before{}, after{};
  double alpha = 1, beta = 0;
  cudnnPointwiseMode_t mode{};
  cudnnReduceTensorOp_t reduction{};
  std::int64_t axis = 0;  // of an index
  GraphTensor from = {}, to = {};
  std::optional<GraphTensor> with = {}, chosen = {};  // chosen: where `from` is selected, not `with`

  bool is_convolution() const;
  std::vector<GraphTensor> tensors() const;
};

struct Engine {
  std::int64_t index = 0;
  std::vector<cudnnBackendNumericalNote_t> notes = {};
  std::int64_t workspace_bytes = 0;
  bool builds = true;
  /// By cudnnBackendKnobType_t.
  std::map<int, std::int64_t> knobs = {};
};

struct Descriptor {
  cudnnBackendDescriptorType_t type{};
  bool finalized = false;
  std::map<cudnnBackendAttributeName_t, Attribute> attributes;
  /// What finalizing has found: a graph's operations, also of what is made from the graph; an engine.
  std::vector<GraphOperation> operations;
  Engine engine;
  std::pair<int, std::int64_t> knob{0, 0};  ///< of a choice of knobs that a configuration has filled

  bool has(cudnnBackendAttributeName_t name) const { return attributes.contains(name); }
  template <class T>
  T get(cudnnBackendAttributeName_t name, std::size_t at = 0) const {
    T value{};
    std::memcpy(&value, attributes.at(name).bytes.data() + at * sizeof(T), sizeof(T));
    return value;
  }
  const Descriptor& part(cudnnBackendAttributeName_t name, std::size_t at = 0) const {
    return *static_cast<Descriptor*>(get<cudnnBackendDescriptor_t>(name, at));
  }
};

GraphTensor tensor_of(const Descriptor& descriptor);
/// Reads and checks an operation that is no convolution.
cudnnStatus_t read_operation(const Descriptor& descriptor, GraphOperation& operation);

/// Checks a descriptor whose attributes are all there, as its type demands.
cudnnStatus_t finish_tensor(const Descriptor& tensor);
cudnnStatus_t finish_sliding(const Descriptor& sliding);
cudnnStatus_t finish_operation(Descriptor& operation);
cudnnStatus_t finish_graph(Descriptor& graph);

/// The engines that cuDNN proposes for a graph.
std::vector<Engine> engines_for(const std::vector<GraphOperation>& operations, cudnnBackendHeurMode_t mode);
/// Whether the graph is one that engines of fused attention recognise: products and a softmax, or their gradients.
bool is_attention(const std::vector<GraphOperation>& operations);

}  // namespace gpubench::cuda_on_cpu
