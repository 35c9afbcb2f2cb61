#include "core/backend/cpu/unary.h"

#include "core/backend/cpu/dispatch.h"
#include "core/backend/cpu/elementwise.h"
#include "core/math/unary.h"
#include "core/ops/unary.h"

namespace gpubench::cpu {
namespace {

using Float = Types<float>;

/// The function of an op, the types it is compiled for, and flops beside the bytes (a polynomial has a dozen terms).
template <class F, class L = Float, int Flops = 0>
struct Row {
  using Function = F;
  using List = L;
  static constexpr int flops = Flops;
};

template <class O>
struct RowOf;
template <>
struct RowOf<Neg> : Row<math::Neg, Numbers> {};
template <>
struct RowOf<Abs> : Row<math::Abs, Numbers> {};
template <>
struct RowOf<Sign> : Row<math::Sign, Numbers> {};
template <>
struct RowOf<Square> : Row<math::Square, Numbers> {};
template <>
struct RowOf<Sqrt> : Row<math::Sqrt> {};
template <>
struct RowOf<Rsqrt> : Row<math::Rsqrt> {};
template <>
struct RowOf<Exp> : Row<math::Exp, Float, 16> {};
template <>
struct RowOf<Log> : Row<math::Log, Float, 24> {};
template <>
struct RowOf<Floor> : Row<math::Floor> {};
template <>
struct RowOf<Relu> : Row<math::Relu> {};
template <>
struct RowOf<Sigmoid> : Row<math::Sigmoid, Float, 20> {};
template <>
struct RowOf<Tanh> : Row<math::Tanh, Float, 32> {};
template <>
struct RowOf<Gelu> : Row<math::Gelu, Float, 40> {};
template <>
struct RowOf<GeluTanh> : Row<math::GeluTanh, Float, 28> {};
template <>
struct RowOf<LogicalNot> : Row<math::LogicalNot, Types<bool>> {};
template <>
struct RowOf<ReluGradient> : Row<math::ReluGradient> {};
template <>
struct RowOf<SigmoidGradient> : Row<math::SigmoidGradient> {};
template <>
struct RowOf<TanhGradient> : Row<math::TanhGradient> {};
template <>
struct RowOf<GeluGradient> : Row<math::GeluGradient, Float, 64> {};
template <>
struct RowOf<GeluTanhGradient> : Row<math::GeluTanhGradient, Float, 36> {};

}  // namespace

template <class O>
std::unique_ptr<Kernel> plan_unary(const O& op, const Signature& signature, Device&) {
  using Of = RowOf<O>;
  return dispatch(typename Of::List{}, op.name(), signature.inputs[0].dtype, [&]<class T>() {
    return elementwise<T, T>(op.name(), typename Of::Function{}, signature, Of::flops);
  });
}

template <class O>
std::unique_ptr<Kernel> plan_activation_gradient(const O& op, const Signature& signature, Device&) {
  using Of = RowOf<O>;
  return dispatch(typename Of::List{}, op.name(), signature.inputs[0].dtype, [&]<class T>() {
    return elementwise<T, T, T>(op.name(), typename Of::Function{}, signature, Of::flops);
  });
}

template std::unique_ptr<Kernel> plan_unary(const Neg&, const Signature&, Device&);
template std::unique_ptr<Kernel> plan_unary(const Abs&, const Signature&, Device&);
template std::unique_ptr<Kernel> plan_unary(const Sign&, const Signature&, Device&);
template std::unique_ptr<Kernel> plan_unary(const Square&, const Signature&, Device&);
template std::unique_ptr<Kernel> plan_unary(const Sqrt&, const Signature&, Device&);
template std::unique_ptr<Kernel> plan_unary(const Rsqrt&, const Signature&, Device&);
template std::unique_ptr<Kernel> plan_unary(const Exp&, const Signature&, Device&);
template std::unique_ptr<Kernel> plan_unary(const Log&, const Signature&, Device&);
template std::unique_ptr<Kernel> plan_unary(const Floor&, const Signature&, Device&);
template std::unique_ptr<Kernel> plan_unary(const Relu&, const Signature&, Device&);
template std::unique_ptr<Kernel> plan_unary(const Sigmoid&, const Signature&, Device&);
template std::unique_ptr<Kernel> plan_unary(const Tanh&, const Signature&, Device&);
template std::unique_ptr<Kernel> plan_unary(const Gelu&, const Signature&, Device&);
template std::unique_ptr<Kernel> plan_unary(const GeluTanh&, const Signature&, Device&);
template std::unique_ptr<Kernel> plan_unary(const LogicalNot&, const Signature&, Device&);
template std::unique_ptr<Kernel> plan_activation_gradient(const ReluGradient&, const Signature&, Device&);
template std::unique_ptr<Kernel> plan_activation_gradient(const SigmoidGradient&, const Signature&, Device&);
template std::unique_ptr<Kernel> plan_activation_gradient(const TanhGradient&, const Signature&, Device&);
template std::unique_ptr<Kernel> plan_activation_gradient(const GeluGradient&, const Signature&, Device&);
template std::unique_ptr<Kernel> plan_activation_gradient(const GeluTanhGradient&, const Signature&, Device&);

}  // namespace gpubench::cpu
