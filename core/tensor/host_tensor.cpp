#include "core/tensor/host_tensor.h"

#include <cstring>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/host_memory.h"

namespace gpubench {
namespace {

std::shared_ptr<std::byte> allocate(std::size_t bytes) {
  std::byte* const memory = allocate_host_memory(bytes, HostTensor::alignment);
  if (memory == nullptr)
    throw OutOfMemory(fmt::format("host: no memory for an array of {} bytes{}", bytes, host_memory_limit()));
  return {memory, [bytes](std::byte* of) { free_host_memory(of, bytes); }};
}

}  // namespace

HostTensor::HostTensor(TensorType type) : type_(std::move(type)), storage_(allocate(type_.bytes())) {}

HostTensor::HostTensor(TensorType type, std::shared_ptr<std::byte> memory)
    : type_(std::move(type)), storage_(std::move(memory)) {}

HostTensor HostTensor::zeros(TensorType type) {
  HostTensor tensor(std::move(type));
  std::memset(tensor.data(), 0, tensor.bytes());
  return tensor;
}

HostTensor HostTensor::rows(std::int64_t first, std::int64_t last) const {
  if (type_.rank() == 0) throw Error("slice: a scalar has no rows");
  if (first < 0 || last < first || last > type_.shape[0]) {
    throw Error(fmt::format("slice: rows {} to {} of a tensor with {} rows", first, last, type_.shape[0]));
  }
  TensorType type = type_;
  type.shape[0] = 1;
  const std::size_t row_bytes = type.bytes();
  type.shape[0] = last - first;
  return {std::move(type), std::shared_ptr<std::byte>(storage_, data() + static_cast<std::size_t>(first) * row_bytes)};
}

HostTensor HostTensor::reshaped(Shape shape) const {
  if (element_count(shape) != elements()) {
    throw Error(fmt::format("reshape: {} has {} elements, {} needs {}", to_string(type_), elements(), to_string(shape),
                            element_count(shape)));
  }
  HostTensor tensor = *this;
  tensor.type_.shape = std::move(shape);
  return tensor;
}

}  // namespace gpubench
