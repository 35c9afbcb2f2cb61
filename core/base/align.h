// Sizes and offsets in multiples of an alignment.
#pragma once
#include <type_traits>

namespace gpubench {

/// The smallest multiple of `alignment` that is at least `value`; `value` is not negative.
template <class Integer>
constexpr Integer align_up(Integer value, std::type_identity_t<Integer> alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

}  // namespace gpubench
