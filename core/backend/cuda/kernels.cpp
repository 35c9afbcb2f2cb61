#include "core/backend/cuda/kernels.h"

#include "core/backend/cuda/binary.h"
#include "core/backend/cuda/matmul.h"
#include "core/backend/cuda/optimizer.h"
#include "core/backend/cuda/shape_ops.h"
#include "core/backend/cuda/state.h"
#include "core/backend/cuda/unary.h"
#include "core/ops/unary.h"

namespace gpubench::cuda {

const KernelTable& kernels() {
  static const KernelTable table{
      // core/graph
      planner<AddN, &plan_add_n>(),
      // matmul
      planner<Matmul, &plan_matmul>(),
      // unary
      planner<Neg, &plan_unary<Neg>>(),
      planner<Abs, &plan_unary<Abs>>(),
      planner<Sign, &plan_unary<Sign>>(),
      planner<Square, &plan_unary<Square>>(),
      planner<Sqrt, &plan_unary<Sqrt>>(),
      planner<Rsqrt, &plan_unary<Rsqrt>>(),
      planner<Exp, &plan_unary<Exp>>(),
      planner<Log, &plan_unary<Log>>(),
      planner<Floor, &plan_unary<Floor>>(),
      planner<Relu, &plan_unary<Relu>>(),
      planner<Sigmoid, &plan_unary<Sigmoid>>(),
      planner<Tanh, &plan_unary<Tanh>>(),
      planner<Gelu, &plan_unary<Gelu>>(),
      planner<LogicalNot, &plan_unary<LogicalNot>>(),
      planner<ReluGradient, &plan_unary<ReluGradient>>(),
      planner<SigmoidGradient, &plan_unary<SigmoidGradient>>(),
      planner<TanhGradient, &plan_unary<TanhGradient>>(),
      planner<GeluGradient, &plan_unary<GeluGradient>>(),
      // binary
      planner<Add, &plan_binary<Add>>(),
      planner<Sub, &plan_binary<Sub>>(),
      planner<Mul, &plan_binary<Mul>>(),
      planner<Div, &plan_binary<Div>>(),
      planner<Pow, &plan_binary<Pow>>(),
      planner<Maximum, &plan_binary<Maximum>>(),
      planner<Minimum, &plan_binary<Minimum>>(),
      planner<Equal, &plan_binary<Equal>>(),
      planner<NotEqual, &plan_binary<NotEqual>>(),
      planner<Less, &plan_binary<Less>>(),
      planner<LessEqual, &plan_binary<LessEqual>>(),
      planner<Greater, &plan_binary<Greater>>(),
      planner<GreaterEqual, &plan_binary<GreaterEqual>>(),
      planner<LogicalAnd, &plan_binary<LogicalAnd>>(),
      planner<LogicalOr, &plan_binary<LogicalOr>>(),
      planner<Select, &plan_select>(),
      // cast
      planner<Cast, &plan_cast>(),
      // shape_ops
      planner<Transpose, &plan_transpose>(),
      planner<Slice, &plan_slice>(),
      planner<SliceGradient, &plan_slice_gradient>(),
      planner<Concat, &plan_concat>(),
      planner<BroadcastTo, &plan_broadcast_to>(),
      // state, schedule
      planner<Assign, &plan_assign>(),
      planner<AssignAdd, &plan_assign_add>(),
      planner<MovingAverage, &plan_moving_average>(),
      planner<AccumulateMean, &plan_accumulate_mean>(),
      planner<CosineDecay, &plan_cosine_decay>(),
      planner<ExponentialDecay, &plan_exponential_decay>(),
      // optimizer
      planner<SgdUpdate, &plan_sgd_update>(),
      planner<AdamUpdate, &plan_adam_update>(),
      planner<RmspropUpdate, &plan_rmsprop_update>(),
  };
  return table;
}

}  // namespace gpubench::cuda
