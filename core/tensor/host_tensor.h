// A tensor in host memory with shared ownership of its bytes: decoders return it and datasets pass it on. Copies and
// slices share storage; only a sole owner may write.
#pragma once
#include <algorithm>
#include <cassert>
#include <cstddef>
#include <memory>
#include <span>

#include "core/tensor/tensor_type.h"
#include "core/tensor/tensor_view.h"

namespace gpubench {

class HostTensor {
 public:
  /// Storage is aligned for vector loads and for oneDNN.
  static constexpr std::size_t alignment = 64;

  HostTensor() = default;
  /// Uninitialized memory for `type`.
  explicit HostTensor(TensorType type);
  /// Memory that `owner` keeps alive (a block of a file, a slot of a pool).
  HostTensor(TensorType type, std::shared_ptr<std::byte> memory);

  template <class T>
  static HostTensor of(Shape shape, std::span<const T> values) {
    HostTensor tensor(TensorType{std::move(shape), dtype_of<T>});
    assert(values.size() == static_cast<std::size_t>(tensor.elements()));
    std::copy(values.begin(), values.end(), tensor.values<T>().begin());
    return tensor;
  }
  template <class T>
  static HostTensor scalar(T value) {
    return of<T>({}, std::span<const T>(&value, 1));
  }
  static HostTensor zeros(TensorType type);

  const TensorType& type() const { return type_; }
  const Shape& shape() const { return type_.shape; }
  Dtype dtype() const { return type_.dtype; }
  std::int64_t elements() const { return type_.elements(); }
  std::size_t bytes() const { return type_.bytes(); }
  bool empty() const { return storage_ == nullptr; }

  /// Replaces type and memory; does not allocate if the rank was as high before.
  void assign(const TensorType& type, std::shared_ptr<std::byte> memory) {
    type_ = type;
    storage_ = std::move(memory);
  }
  /// Releases the memory; the tensor is empty until the next assign().
  void release() { storage_.reset(); }
  const std::shared_ptr<std::byte>& memory() const { return storage_; }

  std::byte* data() const { return storage_.get(); }
  template <class T>
  std::span<T> values() const {
    return {view().as<T>(), static_cast<std::size_t>(elements())};
  }
  TensorView view() const { return {&type_, data()}; }

  /// The rows [first, last) of the first dimension; shares storage. Throws Error if out of range.
  HostTensor rows(std::int64_t first, std::int64_t last) const;
  /// The same elements with another shape; throws Error if the counts differ.
  HostTensor reshaped(Shape shape) const;

 private:
  TensorType type_;
  std::shared_ptr<std::byte> storage_;
};

}  // namespace gpubench
