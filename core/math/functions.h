// The list of element-wise functions. ROW(name, Type, domain, flops): the op's name, the type of the function object
// in core/math and of the op in core/ops alike, what it is defined on, and what one element costs beside its bytes (a
// polynomial has a dozen terms). Every backend's kernels follow from it, so that a new function is one row here.
#pragma once
#include <cstdint>

namespace gpubench::math {

/// What a function takes: floating types; integers too; bool too; or bool alone.
enum class Domain : std::uint8_t { floats, numbers, numbers_and_bool, bools };

}  // namespace gpubench::math

/// Of one number, and the gradients of activations.
#define GPUBENCH_UNARY_FUNCTIONS(ROW)               \
  ROW(neg, Neg, numbers, 0)                         \
  ROW(abs, Abs, numbers, 0)                         \
  ROW(sign, Sign, numbers, 0)                       \
  ROW(square, Square, numbers, 0)                   \
  ROW(sqrt, Sqrt, floats, 0)                        \
  ROW(rsqrt, Rsqrt, floats, 0)                      \
  ROW(exp, Exp, floats, 16)                         \
  ROW(log, Log, floats, 24)                         \
  ROW(floor, Floor, floats, 0)                      \
  ROW(ceil, Ceil, floats, 0)                        \
  ROW(round, Round, floats, 0)                      \
  ROW(relu, Relu, floats, 0)                        \
  ROW(sigmoid, Sigmoid, floats, 20)                 \
  ROW(tanh, Tanh, floats, 32)                       \
  ROW(gelu, Gelu, floats, 40)                       \
  ROW(gelu_tanh, GeluTanh, floats, 28)              \
  ROW(relu_gradient, ReluGradient, floats, 0)       \
  ROW(sigmoid_gradient, SigmoidGradient, floats, 0) \
  ROW(tanh_gradient, TanhGradient, floats, 0)       \
  ROW(gelu_gradient, GeluGradient, floats, 64)      \
  ROW(gelu_tanh_gradient, GeluTanhGradient, floats, 36)

/// Of two numbers.
#define GPUBENCH_ARITHMETIC_FUNCTIONS(ROW) \
  ROW(add, Add, numbers, 0)                \
  ROW(sub, Sub, numbers, 0)                \
  ROW(mul, Mul, numbers, 0)                \
  ROW(div, Div, floats, 0)                 \
  ROW(pow, Pow, floats, 200)               \
  ROW(floor_div, FloorDiv, numbers, 8)     \
  ROW(floor_mod, FloorMod, numbers, 24)    \
  ROW(maximum, Maximum, numbers, 0)        \
  ROW(minimum, Minimum, numbers, 0)

/// With a truth value as result.
#define GPUBENCH_PREDICATES(ROW)                        \
  ROW(equal, Equal, numbers_and_bool, 0)                \
  ROW(not_equal, NotEqual, numbers_and_bool, 0)         \
  ROW(less, Less, numbers_and_bool, 0)                  \
  ROW(less_equal, LessEqual, numbers_and_bool, 0)       \
  ROW(greater, Greater, numbers_and_bool, 0)            \
  ROW(greater_equal, GreaterEqual, numbers_and_bool, 0) \
  ROW(logical_and, LogicalAnd, bools, 0)                \
  ROW(logical_or, LogicalOr, bools, 0)                  \
  ROW(logical_not, LogicalNot, bools, 0)

namespace gpubench::math {

/// The functions that give a float for floats, by name: what a program of steps is made of.
enum class Function : std::uint8_t {
#define GPUBENCH_ROW(name, Type, domain, flops) name,
  GPUBENCH_UNARY_FUNCTIONS(GPUBENCH_ROW) GPUBENCH_ARITHMETIC_FUNCTIONS(GPUBENCH_ROW)
#undef GPUBENCH_ROW
};

}  // namespace gpubench::math
