// What lookups make of tokens on the host.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/tensor/host_tensor.h"
#include "lua/api/data/lookup.h"

namespace gpubench::lua {

std::string token_of_number(std::int64_t number);
/// Throws Error for tensors of other numbers.
std::vector<std::string> tokens_of_numbers(const TensorView& tensor, const std::string& owner);
/// What `encoded` gives for tokens of this shape.
TensorType encoded_type(const Lookup& lookup, const Shape& tokens);
/// Indices, or by output_mode what counts them along the last dimension.
HostTensor encoded(const Lookup& lookup, const Shape& shape, std::span<const std::string> tokens);
/// Of one text.
HostTensor encoded_text(const Lookup& lookup, std::string_view text);

}  // namespace gpubench::lua
