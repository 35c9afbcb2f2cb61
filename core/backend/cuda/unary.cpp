#include "core/backend/cuda/unary.h"

#include "core/backend/cuda/elementwise.h"
#include "core/math/unary.h"
#include "core/ops/unary.h"

namespace gpubench::cuda {
namespace {

/// The function that an op applies.
template <class O>
struct FunctionOf;
template <>
struct FunctionOf<Neg> {
  using Type = math::Neg;
};
template <>
struct FunctionOf<Abs> {
  using Type = math::Abs;
};
template <>
struct FunctionOf<Sign> {
  using Type = math::Sign;
};
template <>
struct FunctionOf<Square> {
  using Type = math::Square;
};
template <>
struct FunctionOf<Sqrt> {
  using Type = math::Sqrt;
};
template <>
struct FunctionOf<Rsqrt> {
  using Type = math::Rsqrt;
};
template <>
struct FunctionOf<Exp> {
  using Type = math::Exp;
};
template <>
struct FunctionOf<Log> {
  using Type = math::Log;
};
template <>
struct FunctionOf<Floor> {
  using Type = math::Floor;
};
template <>
struct FunctionOf<Relu> {
  using Type = math::Relu;
};
template <>
struct FunctionOf<Sigmoid> {
  using Type = math::Sigmoid;
};
template <>
struct FunctionOf<Tanh> {
  using Type = math::Tanh;
};
template <>
struct FunctionOf<Gelu> {
  using Type = math::Gelu;
};
template <>
struct FunctionOf<GeluTanh> {
  using Type = math::GeluTanh;
};
template <>
struct FunctionOf<LogicalNot> {
  using Type = math::LogicalNot;
};
template <>
struct FunctionOf<ReluGradient> {
  using Type = math::ReluGradient;
};
template <>
struct FunctionOf<SigmoidGradient> {
  using Type = math::SigmoidGradient;
};
template <>
struct FunctionOf<TanhGradient> {
  using Type = math::TanhGradient;
};
template <>
struct FunctionOf<GeluGradient> {
  using Type = math::GeluGradient;
};
template <>
struct FunctionOf<GeluTanhGradient> {
  using Type = math::GeluTanhGradient;
};

}  // namespace

template <class O>
std::unique_ptr<Kernel> plan_unary(const O& op, const Signature& signature, Device& device) {
  return plan_elementwise(op, signature, device, elementwise_launch<typename FunctionOf<O>::Type>());
}

std::unique_ptr<Kernel> plan_cast(const Cast& op, const Signature& signature, Device& device) {
  return plan_elementwise(op, signature, device, &launch_cast);
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
template std::unique_ptr<Kernel> plan_unary(const ReluGradient&, const Signature&, Device&);
template std::unique_ptr<Kernel> plan_unary(const SigmoidGradient&, const Signature&, Device&);
template std::unique_ptr<Kernel> plan_unary(const TanhGradient&, const Signature&, Device&);
template std::unique_ptr<Kernel> plan_unary(const GeluGradient&, const Signature&, Device&);
template std::unique_ptr<Kernel> plan_unary(const GeluTanhGradient&, const Signature&, Device&);

}  // namespace gpubench::cuda
