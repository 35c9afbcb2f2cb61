// Ops that apply one function of core/math to each element; the list in core/math/functions.h states for which types
// each is compiled. And the sum of many tensors, and the choice between two.
#include "core/backend/cpu/elementwise.h"

#include "core/backend/cpu/cpu_kernels.h"
#include "core/backend/cpu/dispatch.h"
#include "core/backend/cpu/loop_kernel.h"
#include "core/backend/cpu/parallel.h"
#include "core/backend/cpu/widened.h"
#include "core/backend/kernel_table.h"
#include "core/graph/leaf_ops.h"
#include "core/math/functions.h"
#include "core/ops/elementwise.h"

namespace gpubench::cpu {
namespace {

template <std::size_t arity>
class Elementwise {
 public:
  Elementwise(const ElementLoops<arity>& loops, std::int64_t elements, std::int64_t flops)
      : loops_(loops), elements_(elements) {
    std::int64_t bytes = loops.out_bytes;
    for (const std::int64_t each : loops.in_bytes) bytes += each;
    threads_ = threads_for_stream(loops.plan.rows == 1 ? elements / cache_line : loops.plan.rows, elements * bytes,
                                  elements * flops);
  }

  void operator()(Views inputs, Views outputs) const {
    if (elements_ == 0) return;
    if (loops_.plan.rows == 1) {
      run_flat(inputs, outputs[0].data);
    } else {
      run_rows(inputs, outputs[0].data);
    }
  }

 private:
  /// Threads begin at multiples of this many elements, so that no two of them write one cache line.
  static constexpr std::int64_t cache_line = 64;

  void run_flat(Views inputs, std::byte* out) const {
    const std::int64_t lines = (elements_ + cache_line - 1) / cache_line;
    parallel_ranges(threads_, lines, [&](int, std::int64_t first, std::int64_t last) {
      const std::int64_t begin = first * cache_line, end = std::min(last * cache_line, elements_);
      std::array<const std::byte*, arity> in;
      for (std::size_t i = 0; i < arity; ++i) {
        in[i] = inputs[i].data + begin * loops_.plan.inner_strides[i] * loops_.in_bytes[i];
      }
      loops_.loop(loops_.f.data(), {.count = end - begin}, out + begin * loops_.out_bytes, in.data());
    });
  }

  void run_rows(Views inputs, std::byte* out) const {
    parallel_ranges(threads_, loops_.plan.rows, [&](int, std::int64_t begin, std::int64_t end) {
      RowCursor<arity> cursor(loops_.plan, begin);
      std::array<std::int64_t, arity> steps;
      for (std::size_t i = 0; i < arity; ++i) steps[i] = cursor.step(i) * loops_.in_bytes[i];
      for (std::int64_t row = begin, count; row < end; row += count, cursor.advance(count)) {
        count = std::min(cursor.run(), end - row);
        std::array<const std::byte*, arity> in;
        for (std::size_t i = 0; i < arity; ++i) in[i] = inputs[i].data + cursor.offset(i) * loops_.in_bytes[i];
        loops_.loop(loops_.f.data(), {count, loops_.plan.inner, steps.data()},
                    out + row * loops_.plan.inner * loops_.out_bytes, in.data());
      }
    });
  }

  ElementLoops<arity> loops_;
  std::int64_t elements_ = 0;
  int threads_ = 1;
};

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

/// Sums in the order of the inputs, a block at a time, so that the sum stays in the first-level cache.
template <class T>
class Sum {
 public:
  explicit Sum(const Signature& signature)
      : elements_(signature.outputs[0].elements()),
        blocks_((elements_ + block - 1) / block),
        threads_(
            threads_for_stream(blocks_, elements_ * static_cast<std::int64_t>(sizeof(T) * signature.inputs.size()))) {}

  void operator()(Views inputs, Views outputs) const {
    parallel_ranges(threads_, blocks_, [&](int, std::int64_t first, std::int64_t last) {
      for (std::int64_t b = first; b < last; ++b) {
        const std::int64_t begin = b * block, end = std::min(begin + block, elements_);
        add_block(inputs, outputs[0].as<T>(), begin, end);
      }
    });
  }

 private:
  static constexpr std::int64_t block = 2048;

  /// The output may be the first input; it is then read before it is written.
  static void add_block(Views inputs, T* out, std::int64_t begin, std::int64_t end) {
    const T* const first = inputs[0].as<T>();
    const T* const second = inputs.size() > 1 ? inputs[1].as<T>() : nullptr;
#pragma omp simd
    for (std::int64_t i = begin; i < end; ++i) {
      out[i] = second == nullptr ? first[i] : static_cast<T>(first[i] + second[i]);
    }
    for (std::size_t n = 2; n < inputs.size(); ++n) {
      const T* const next = inputs[n].as<T>();
#pragma omp simd
      for (std::int64_t i = begin; i < end; ++i) out[i] = static_cast<T>(out[i] + next[i]);
    }
  }

  std::int64_t elements_, blocks_;
  int threads_;
};

std::unique_ptr<Kernel> plan_select(const Select& op, const Signature& signature, Device&) {
  return dispatch(NumbersAndBool{}, op.name(), signature.inputs[1].dtype,
                  [&]<class T>() { return elementwise<T, bool, T, T>(op.name(), math::Select{}, signature); });
}

std::unique_ptr<Kernel> plan_add_n(const AddN& op, const Signature& signature, Device&) {
  return dispatch(Numbers{}, op.name(), signature.inputs[0].dtype,
                  [&]<class T>() { return loop_kernel(Sum<T>(signature)); });
}

}  // namespace

template <std::size_t arity>
std::unique_ptr<Kernel> element_kernel(const ElementLoops<arity>& loops, std::int64_t elements, std::int64_t flops) {
  return loop_kernel(Elementwise<arity>(loops, elements, flops));
}
template std::unique_ptr<Kernel> element_kernel(const ElementLoops<1>&, std::int64_t, std::int64_t);
template std::unique_ptr<Kernel> element_kernel(const ElementLoops<2>&, std::int64_t, std::int64_t);
template std::unique_ptr<Kernel> element_kernel(const ElementLoops<3>&, std::int64_t, std::int64_t);

void add_elementwise(KernelTable& table) {
#define GPUBENCH_ROW(Kind, name, Type, domain, cost, flops) \
  table.emplace(typeid(Type), &plan_in_float32<&plan_function<math::Type, math::Domain::domain, (cost)>>);
  GPUBENCH_ELEMENTWISE_FUNCTIONS(GPUBENCH_ROW)
#undef GPUBENCH_ROW
  add_float32_row<&plan_add_n>(table);
  add_float32_row<&plan_select>(table);
}

}  // namespace gpubench::cpu
