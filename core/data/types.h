// Element types whose extents may differ between elements: their common type, their type in a batch, and their text.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/tensor/tensor_type.h"

namespace gpubench {

/// An extent that differs between elements.
inline constexpr std::int64_t varying = -1;

/// Whether no extent varies.
bool is_fixed(TensorTypes types);
/// The bytes of an element of these types, without padding between tensors. No extent may vary.
std::size_t element_bytes(TensorTypes types);
/// The common types of both: extents that differ become varying. None if they differ otherwise.
std::optional<std::vector<TensorType>> common_types(TensorTypes a, TensorTypes b);

/// Each type with a first dimension of `count`.
std::vector<TensorType> stacked(TensorTypes types, std::int64_t count);
/// The error for an element of `type` in a batch whose earlier elements have `expected`.
Error unequal_shapes(const TensorType& type, const TensorType& expected);

/// "float32[?, 784]": a varying extent is "?".
std::string to_text(const TensorType& type);
/// "(float32[784], float32[10])".
std::string to_string(TensorTypes types);
/// The inverse of to_text(): "float32[28, 28]", "uint8[?]", "int64[]"; "int64" alone is a scalar. Throws Error naming
/// `what` ("synthetic") and the text.
TensorType parse_type(std::string_view text, std::string_view what);

}  // namespace gpubench
