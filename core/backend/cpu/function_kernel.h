// The planner of any op that applies one function of core/math: the list in core/math/functions.h says which types it
// is compiled for.
#pragma once
#include <type_traits>

#include "core/backend/cpu/dispatch.h"
#include "core/backend/cpu/elementwise.h"
#include "core/math/functions.h"

namespace gpubench::cpu {

template <math::Domain domain>
auto types_of() {
  using math::Domain;
  if constexpr (domain == Domain::floats) {
    return Types<float>{};
  } else if constexpr (domain == Domain::numbers) {
    return Numbers{};
  } else if constexpr (domain == Domain::numbers_and_bool) {
    return NumbersAndBool{};
  } else {
    return Types<bool>{};
  }
}

template <class F, math::Domain domain, std::int64_t flops>
std::unique_ptr<Kernel> plan_function(const Op& op, const Signature& signature, Device&) {
  return dispatch(types_of<domain>(), op.name(), signature.inputs[0].dtype, [&]<class T>() {
    if constexpr (std::is_invocable_v<F, T>) {
      return elementwise<std::invoke_result_t<F, T>, T>(op.name(), F{}, signature, flops);
    } else {
      return elementwise<std::invoke_result_t<F, T, T>, T, T>(op.name(), F{}, signature, flops);
    }
  });
}

}  // namespace gpubench::cpu
