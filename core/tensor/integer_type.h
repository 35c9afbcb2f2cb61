// Calls code for the C++ type under which a tensor of integers is stored.
#pragma once
#include <cstdint>

#include "core/tensor/dtype.h"

namespace gpubench {

/// Calls f(T{}) for the type T of an integer dtype. False, without a call, for all others: `boolean` too.
template <class F>
bool for_integer_type(Dtype dtype, F&& f) {
  switch (dtype) {
    case Dtype::i64:
      f(std::int64_t{});
      return true;
    case Dtype::i32:
      f(std::int32_t{});
      return true;
    case Dtype::i16:
      f(std::int16_t{});
      return true;
    case Dtype::i8:
      f(std::int8_t{});
      return true;
    case Dtype::u8:
      f(std::uint8_t{});
      return true;
    default:
      return false;
  }
}

}  // namespace gpubench
