// Kernels that apply one function to each element: out[i] = f(a[i], b[i], ...), with each input read per element or
// broadcast. Only the loop over rows of elements is compiled for each function and choice of types, once per
// combination of broadcast inputs, so that it vectorizes.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>

#include "core/backend/backend.h"
#include "core/backend/broadcast_plan.h"

namespace gpubench::cpu {

/// `rows` of `count` elements, without gaps in the output; each input's rows are its `steps` apart, in bytes.
struct ElementRows {
  std::int64_t rows = 1, count = 0;
  const std::int64_t* steps = nullptr;  ///< not read for one row
};

/// Writes the rows at `out` from those at `in`. `f`: the function object. `out` may be one of the inputs that are not
/// broadcast.
using ElementLoop = void (*)(const void* f, ElementRows rows, void* out, const std::byte* const* in);

/// The plan of a kernel with `arity` inputs.
template <std::size_t arity>
struct ElementLoops {
  BroadcastPlan<arity> plan;
  ElementLoop loop = nullptr;  ///< for the plan's combination of broadcast inputs
  alignas(8) std::array<std::byte, 16> f{};
  std::int64_t out_bytes = 0;  ///< of an element
  std::array<std::int64_t, arity> in_bytes{};
};

/// `flops`: cost of f per element; it decides the number of threads. For 1, 2 and 3 inputs.
template <std::size_t arity>
std::unique_ptr<Kernel> element_kernel(const ElementLoops<arity>& loops, std::int64_t elements, std::int64_t flops);

namespace detail {

template <class Body, bool... Stretched>
struct LoopOf;

/// Broadcast inputs are read once, before the loop.
template <class F, class Out, class... In, bool... Stretched>
struct LoopOf<Out(F, In...), Stretched...> {
  static void run(const void* f, ElementRows rows, void* out, const std::byte* const* in) {
    run(*static_cast<const F*>(f), rows, static_cast<Out*>(out), in, std::index_sequence_for<In...>{});
  }

 private:
  template <std::size_t... I>
  static void run(const F f, ElementRows rows, Out* out, const std::byte* const* bytes, std::index_sequence<I...>) {
    std::array<const std::byte*, sizeof...(In)> from{bytes[I]...};
    while (true) {
      row(f, rows.count, out, std::tuple<const In*...>{reinterpret_cast<const In*>(from[I])...},
          std::index_sequence<I...>{});
      if (--rows.rows == 0) return;
      out += rows.count;
      ((from[I] += rows.steps[I]), ...);
    }
  }

  template <std::size_t... I>
  static void row(const F f, std::int64_t count, Out* out, const std::tuple<const In*...> in,
                  std::index_sequence<I...>) {
    const std::tuple<In...> first{*std::get<I>(in)...};
    if constexpr ((Stretched && ...)) {
      std::fill_n(out, count, f(std::get<I>(first)...));
    } else {
#pragma omp simd
      for (std::int64_t i = 0; i < count; ++i) out[i] = f((Stretched ? std::get<I>(first) : std::get<I>(in)[i])...);
    }
  }
};

}  // namespace detail

/// The loop of Body, Out(F, In...), for inputs with these strides, each 1 or 0.
template <class Body, bool... Chosen, std::size_t arity>
ElementLoop choose_loop(const std::array<std::int64_t, arity>& strides) {
  if constexpr (sizeof...(Chosen) < arity) {
    return strides[sizeof...(Chosen)] == 0 ? choose_loop<Body, Chosen..., true>(strides)
                                           : choose_loop<Body, Chosen..., false>(strides);
  } else {
    return &detail::LoopOf<Body, Chosen...>::run;
  }
}

/// A kernel of f: In... -> Out.
template <class Out, class... In, class F>
std::unique_ptr<Kernel> elementwise(std::string_view op, F f, const Signature& signature, std::int64_t flops = 0) {
  constexpr std::size_t arity = sizeof...(In);
  ElementLoops<arity> loops;
  static_assert(std::is_trivially_copyable_v<F> && sizeof(F) <= sizeof(loops.f) && alignof(F) <= 8);
  loops.plan = plan_broadcast<arity>(op, signature.inputs, signature.outputs[0].shape);
  loops.loop = choose_loop<Out(F, In...)>(loops.plan.inner_strides);
  new (loops.f.data()) F(f);
  loops.out_bytes = sizeof(Out);
  loops.in_bytes = {sizeof(In)...};
  return element_kernel(loops, signature.outputs[0].elements(), flops);
}

}  // namespace gpubench::cpu
