// The elements of a graph's tensors while it is computed, by coordinates; those of virtual tensors are kept here.
#pragma once
#include <map>
#include <vector>

#include "tests/support/cuda_on_cpu/dnn_descriptor.h"

namespace gpubench::cuda_on_cpu {

class Values {
 public:
  /// `memory`: of the tensors that are not virtual. As TF32: float32 images and filters are rounded.
  Values(const std::map<std::int64_t, void*>& memory, bool as_tf32) : memory_(memory), as_tf32_(as_tf32) {}

  using At = std::array<std::int64_t, 4>;
  double read(const GraphTensor& tensor, const At& at);
  void write(const GraphTensor& tensor, const At& at, double value);
  /// alpha * value + beta * what is there, which is not read when beta is 0.
  void blend(const GraphTensor& tensor, const At& at, const GraphOperation& operation, double value);

 private:
  std::vector<std::byte>& kept(const GraphTensor& tensor);

  const std::map<std::int64_t, void*>& memory_;
  bool as_tf32_;
  std::map<std::int64_t, std::vector<std::byte>> virtual_;
};

template <class Body>
void for_each(const std::array<std::int64_t, 4>& dims, const Body& body) {
  std::array<std::int64_t, 4> at{};
  for (at[0] = 0; at[0] < dims[0]; ++at[0]) {
    for (at[1] = 0; at[1] < dims[1]; ++at[1]) {
      for (at[2] = 0; at[2] < dims[2]; ++at[2]) {
        for (at[3] = 0; at[3] < dims[3]; ++at[3]) body(at);
      }
    }
  }
}

/// Computes an operation that is no convolution.
void compute(const GraphOperation& operation, Values& values);

}  // namespace gpubench::cuda_on_cpu
