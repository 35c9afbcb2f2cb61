// The loop of all element-wise kernels: out[i] = f(a[i], b[i], ...), with each input either read per element or
// broadcast. The template instantiates a separate loop for every combination, so that each one vectorizes.
#pragma once
#include <memory>
#include <tuple>
#include <utility>

#include "core/backend/broadcast_plan.h"
#include "core/backend/cpu/loop_kernel.h"
#include "core/backend/cpu/parallel.h"

namespace gpubench::cpu {

template <class... In>
using Pointers = std::tuple<const In*...>;

namespace detail {

/// Broadcast inputs are read once, before the loop. `out` may be one of the inputs: element i is read before it is
/// written.
template <class F, class Out, class... In, bool... Stretched, std::size_t... I>
void loop(const F& f, std::int64_t count, Out* out, const Pointers<In...>& in, std::index_sequence<I...>,
          std::integer_sequence<bool, Stretched...>) {
  const std::tuple<In...> first{*std::get<I>(in)...};
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) out[i] = f((Stretched ? std::get<I>(first) : std::get<I>(in)[i])...);
}

template <bool... Chosen, class F, class Out, class... In>
void choose_loop(const F& f, std::int64_t count, Out* out, const Pointers<In...>& in,
                 const std::array<std::int64_t, sizeof...(In)>& strides) {
  if constexpr (sizeof...(Chosen) == sizeof...(In)) {
    loop(f, count, out, in, std::index_sequence_for<In...>{}, std::integer_sequence<bool, Chosen...>{});
  } else if (strides[sizeof...(Chosen)] == 0) {
    choose_loop<Chosen..., true>(f, count, out, in, strides);
  } else {
    choose_loop<Chosen..., false>(f, count, out, in, strides);
  }
}

}  // namespace detail

template <class F, class Out, class... In>
class Elementwise {
 public:
  static constexpr std::size_t arity = sizeof...(In);

  Elementwise(std::string_view op, F f, const Signature& signature, std::int64_t flops)
      : f_(f), plan_(plan_broadcast<arity>(op, signature.inputs, signature.outputs[0].shape)) {
    constexpr std::int64_t bytes = sizeof(Out) + (sizeof(In) + ...);
    elements_ = signature.outputs[0].elements();
    threads_ =
        threads_for_stream(plan_.rows == 1 ? elements_ / cache_line : plan_.rows, elements_ * bytes, elements_ * flops);
  }

  void operator()(Views inputs, Views outputs) const {
    if (elements_ == 0) return;
    if (plan_.rows == 1) {
      run_flat(std::index_sequence_for<In...>{}, inputs, outputs[0].as<Out>());
    } else {
      run_rows(std::index_sequence_for<In...>{}, inputs, outputs[0].as<Out>());
    }
  }

 private:
  /// Each thread's share begins at a multiple of this many elements, so that no two threads write to one cache line.
  static constexpr std::int64_t cache_line = 64;

  template <std::size_t... I>
  void run_flat(std::index_sequence<I...>, Views inputs, Out* out) const {
    const Pointers<In...> in{inputs[I].template as<In>()...};
    const std::int64_t lines = (elements_ + cache_line - 1) / cache_line;
    parallel_ranges(threads_, lines, [&](int, std::int64_t first, std::int64_t last) {
      const std::int64_t begin = first * cache_line, end = std::min(last * cache_line, elements_);
      const Pointers<In...> part{std::get<I>(in) + begin * plan_.inner_strides[I]...};
      detail::choose_loop<>(f_, end - begin, out + begin, part, plan_.inner_strides);
    });
  }

  template <std::size_t... I>
  void run_rows(std::index_sequence<I...>, Views inputs, Out* out) const {
    const Pointers<In...> in{inputs[I].template as<In>()...};
    parallel_ranges(threads_, plan_.rows, [&](int, std::int64_t begin, std::int64_t end) {
      RowCursor<arity> cursor(plan_, begin);
      for (std::int64_t row = begin; row < end; ++row, cursor.next()) {
        const Pointers<In...> part{std::get<I>(in) + cursor.offset(I)...};
        detail::choose_loop<>(f_, plan_.inner, out + row * plan_.inner, part, plan_.inner_strides);
      }
    });
  }

  F f_;
  BroadcastPlan<arity> plan_;
  std::int64_t elements_ = 0;
  int threads_ = 1;
};

/// A kernel of f: In... -> Out. `flops` is the cost of f per element; it decides the number of threads.
template <class Out, class... In, class F>
std::unique_ptr<Kernel> elementwise(std::string_view op, F f, const Signature& signature, std::int64_t flops = 0) {
  return loop_kernel(Elementwise<F, Out, In...>(op, f, signature, flops));
}

}  // namespace gpubench::cpu
