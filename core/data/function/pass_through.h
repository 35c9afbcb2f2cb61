// For functions of an element's first tensor: the other tensors are passed on unchanged.
#pragma once
#include <cstring>
#include <fmt/format.h>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/data/dataset.h"
#include "core/data/function/element_function.h"

namespace gpubench {

/// Output types: `first` replaces the first input, which must be a byte string; the types of the others follow.
inline std::vector<TensorType> with_others(std::vector<TensorType> first, TensorTypes inputs,
                                           std::string_view operation) {
  if (inputs.empty() || inputs.front().dtype != Dtype::u8 || inputs.front().rank() != 1) {
    throw Error(fmt::format("{}: takes elements that start with a byte string, uint8[?]; these are {}", operation,
                            to_string(inputs)));
  }
  first.insert(first.end(), inputs.begin() + 1, inputs.end());
  return first;
}

/// Copies the inputs after the first to the outputs from `index` on.
inline void pass_others(std::span<const TensorView> inputs, ElementOutputs& outputs, std::size_t index) {
  for (const TensorView& input : inputs.subspan(1)) {
    std::memcpy(outputs.place(index++, *input.type), input.data, input.type->bytes());
  }
}

inline std::span<const std::byte> bytes_of(const TensorView& tensor) {
  return {tensor.data, tensor.type->bytes()};
}
inline std::string_view text_of(const TensorView& tensor) {
  return {reinterpret_cast<const char*>(tensor.data), tensor.type->bytes()};
}

}  // namespace gpubench
