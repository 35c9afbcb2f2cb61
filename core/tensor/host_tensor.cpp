#include "core/tensor/host_tensor.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <new>
#include <sys/mman.h>

#include "core/base/align.h"
#include "core/base/error.h"

namespace gpubench {
namespace {

/// From here on rows are read at random: with pages of 4 KiB each row would miss the TLB.
constexpr std::size_t huge_page = std::size_t{2} << 20;
constexpr std::size_t worth_huge_pages = 2 * huge_page;

std::shared_ptr<std::byte> allocate(std::size_t bytes) {
  const std::size_t alignment = bytes >= worth_huge_pages ? huge_page : HostTensor::alignment;
  const std::size_t rounded = align_up(std::max(bytes, std::size_t{1}), alignment);
  void* memory = std::aligned_alloc(alignment, rounded);
  if (memory == nullptr) throw OutOfMemory(fmt::format("host: no memory for an array of {} bytes", bytes));
  if (alignment == huge_page) ::madvise(memory, rounded, MADV_HUGEPAGE);  // a wish: small pages serve as well
  return {static_cast<std::byte*>(memory), [](std::byte* p) { std::free(p); }};
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

HostTensor HostTensor::row(std::int64_t index) const {
  HostTensor one = rows(index, index + 1);
  one.type_.shape.erase(one.type_.shape.begin());
  return one;
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
