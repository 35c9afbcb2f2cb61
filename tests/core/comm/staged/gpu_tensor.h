// What tests of communicators exchange between GPUs.
#pragma once
#include <cstdint>
#include <vector>

#include "core/device/device.h"
#include "core/tensor/tensor_view.h"

namespace gpubench {

/// A tensor in a GPU's memory.
class GpuTensor {
 public:
  template <class T>
  GpuTensor(Device& device, Dtype dtype, const std::vector<T>& values)
      : device_(device), type_{{static_cast<std::int64_t>(values.size() * sizeof(T) / size_of(dtype))}, dtype} {
    buffer_ = device.memory().allocate(values.size() * sizeof(T), "a test's tensor");
    set(values);
  }
  TensorView view() const { return {&type_, buffer_.data()}; }
  template <class T>
  void set(const std::vector<T>& values) {
    device_.stream().copy(buffer_.data(), values.data(), values.size() * sizeof(T));
    device_.stream().synchronize();
  }
  template <class T>
  std::vector<T> get() const {
    std::vector<T> values(type_.bytes() / sizeof(T));
    device_.stream().copy(values.data(), buffer_.data(), type_.bytes());
    device_.stream().synchronize();
    return values;
  }

 private:
  Device& device_;
  TensorType type_;
  Buffer buffer_;
};

}  // namespace gpubench
