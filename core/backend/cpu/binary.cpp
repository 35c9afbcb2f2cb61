#include "core/backend/cpu/binary.h"

#include "core/backend/cpu/dispatch.h"
#include "core/backend/cpu/elementwise.h"
#include "core/math/binary.h"

namespace gpubench::cpu {
namespace {

using Float = Types<float>;
using Bool = Types<bool>;

/// The function of an op, the input types it is compiled for, and flops beside the bytes.
template <class F, class L, int Flops = 0>
struct Row {
  using Function = F;
  using List = L;
  static constexpr int flops = Flops;
};

template <class O>
struct RowOf;
template <>
struct RowOf<Add> : Row<math::Add, Numbers> {};
template <>
struct RowOf<Sub> : Row<math::Sub, Numbers> {};
template <>
struct RowOf<Mul> : Row<math::Mul, Numbers> {};
template <>
struct RowOf<Div> : Row<math::Div, Float> {};
template <>
struct RowOf<Pow> : Row<math::Pow, Float, 200> {};
template <>
struct RowOf<Maximum> : Row<math::Maximum, Numbers> {};
template <>
struct RowOf<Minimum> : Row<math::Minimum, Numbers> {};
template <>
struct RowOf<Equal> : Row<math::Equal, NumbersAndBool> {};
template <>
struct RowOf<NotEqual> : Row<math::NotEqual, NumbersAndBool> {};
template <>
struct RowOf<Less> : Row<math::Less, NumbersAndBool> {};
template <>
struct RowOf<LessEqual> : Row<math::LessEqual, NumbersAndBool> {};
template <>
struct RowOf<Greater> : Row<math::Greater, NumbersAndBool> {};
template <>
struct RowOf<GreaterEqual> : Row<math::GreaterEqual, NumbersAndBool> {};
template <>
struct RowOf<LogicalAnd> : Row<math::LogicalAnd, Bool> {};
template <>
struct RowOf<LogicalOr> : Row<math::LogicalOr, Bool> {};

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

}  // namespace

template <class O>
std::unique_ptr<Kernel> plan_binary(const O& op, const Signature& signature, Device&) {
  using Of = RowOf<O>;
  return dispatch(typename Of::List{}, op.name(), signature.inputs[0].dtype, [&]<class T>() {
    using Out = std::invoke_result_t<typename Of::Function, T, T>;
    return elementwise<Out, T, T>(op.name(), typename Of::Function{}, signature, Of::flops);
  });
}

std::unique_ptr<Kernel> plan_select(const Select& op, const Signature& signature, Device&) {
  return dispatch(NumbersAndBool{}, op.name(), signature.inputs[1].dtype,
                  [&]<class T>() { return elementwise<T, bool, T, T>(op.name(), math::Select{}, signature); });
}

std::unique_ptr<Kernel> plan_add_n(const AddN& op, const Signature& signature, Device&) {
  return dispatch(Numbers{}, op.name(), signature.inputs[0].dtype,
                  [&]<class T>() { return loop_kernel(Sum<T>(signature)); });
}

template std::unique_ptr<Kernel> plan_binary(const Add&, const Signature&, Device&);
template std::unique_ptr<Kernel> plan_binary(const Sub&, const Signature&, Device&);
template std::unique_ptr<Kernel> plan_binary(const Mul&, const Signature&, Device&);
template std::unique_ptr<Kernel> plan_binary(const Div&, const Signature&, Device&);
template std::unique_ptr<Kernel> plan_binary(const Pow&, const Signature&, Device&);
template std::unique_ptr<Kernel> plan_binary(const Maximum&, const Signature&, Device&);
template std::unique_ptr<Kernel> plan_binary(const Minimum&, const Signature&, Device&);
template std::unique_ptr<Kernel> plan_binary(const Equal&, const Signature&, Device&);
template std::unique_ptr<Kernel> plan_binary(const NotEqual&, const Signature&, Device&);
template std::unique_ptr<Kernel> plan_binary(const Less&, const Signature&, Device&);
template std::unique_ptr<Kernel> plan_binary(const LessEqual&, const Signature&, Device&);
template std::unique_ptr<Kernel> plan_binary(const Greater&, const Signature&, Device&);
template std::unique_ptr<Kernel> plan_binary(const GreaterEqual&, const Signature&, Device&);
template std::unique_ptr<Kernel> plan_binary(const LogicalAnd&, const Signature&, Device&);
template std::unique_ptr<Kernel> plan_binary(const LogicalOr&, const Signature&, Device&);

}  // namespace gpubench::cpu
