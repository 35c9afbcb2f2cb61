#include "core/backend/cuda/kernels.h"

#include "core/backend/cuda/batch_norm.h"
#include "core/backend/cuda/bias.h"
#include "core/backend/cuda/binary.h"
#include "core/backend/cuda/conv.h"
#include "core/backend/cuda/conv_pool.h"
#include "core/backend/cuda/indexing.h"
#include "core/backend/cuda/loss.h"
#include "core/backend/cuda/matmul.h"
#include "core/backend/cuda/metric.h"
#include "core/backend/cuda/optimizer.h"
#include "core/backend/cuda/pool.h"
#include "core/backend/cuda/random.h"
#include "core/backend/cuda/reduce.h"
#include "core/backend/cuda/shape_ops.h"
#include "core/backend/cuda/softmax.h"
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
      planner<MatmulBiasGradient, &plan_matmul_bias_gradient>(),
      planner<MatmulAux, &plan_matmul_aux>(),
      planner<MatmulActivationGradient, &plan_matmul_activation_gradient>(),
      // conv, pool
      planner<Conv2D, &plan_conv2d>(),
      planner<Conv2DInputGradient, &plan_conv2d_input_gradient>(),
      planner<Conv2DFilterGradient, &plan_conv2d_filter_gradient>(),
      planner<Conv2DMaxPool, &plan_conv2d_max_pool>(),
      planner<Conv2DMaxPoolFilterGradient, &plan_conv2d_max_pool_filter_gradient>(),
      planner<MaxPool2D, &plan_max_pool2d>(),
      planner<MaxPool2DGradient, &plan_max_pool2d_gradient>(),
      planner<AveragePool2D, &plan_average_pool2d>(),
      planner<AveragePool2DGradient, &plan_average_pool2d_gradient>(),
      // batch_norm
      planner<BatchNorm, &plan_batch_norm>(),
      planner<BatchNormGradient, &plan_batch_norm_gradient>(),
      planner<BatchNormInference, &plan_batch_norm_inference>(),
      planner<BatchNormInferenceGradient, &plan_batch_norm_inference_gradient>(),
      // softmax
      planner<Softmax, &plan_softmax>(),
      planner<SoftmaxGradient, &plan_softmax_gradient>(),
      planner<LogSoftmax, &plan_log_softmax>(),
      planner<LogSoftmaxGradient, &plan_log_softmax_gradient>(),
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
      planner<GeluTanh, &plan_unary<GeluTanh>>(),
      planner<LogicalNot, &plan_unary<LogicalNot>>(),
      planner<ReluGradient, &plan_unary<ReluGradient>>(),
      planner<SigmoidGradient, &plan_unary<SigmoidGradient>>(),
      planner<TanhGradient, &plan_unary<TanhGradient>>(),
      planner<GeluGradient, &plan_unary<GeluGradient>>(),
      planner<GeluTanhGradient, &plan_unary<GeluTanhGradient>>(),
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
      // bias
      planner<BiasAdd, &plan_bias_add>(),
      planner<BiasGradient, &plan_bias_gradient>(),
      // reduce
      planner<ReduceSum, &plan_reduce_sum>(),
      planner<ReduceMean, &plan_reduce_mean>(),
      planner<ReduceMax, &plan_reduce_max>(),
      planner<ReduceMin, &plan_reduce_min>(),
      planner<ArgMax, &plan_arg_max>(),
      // loss
      planner<CategoricalCrossEntropy, &plan_cross_entropy<CategoricalCrossEntropy>>(),
      planner<SparseCategoricalCrossEntropy, &plan_cross_entropy<SparseCategoricalCrossEntropy>>(),
      planner<CategoricalCrossEntropyGradient, &plan_cross_entropy_gradient<CategoricalCrossEntropyGradient>>(),
      planner<SparseCategoricalCrossEntropyGradient,
              &plan_cross_entropy_gradient<SparseCategoricalCrossEntropyGradient>>(),
      planner<SoftmaxCrossEntropy, &plan_softmax_cross_entropy<SoftmaxCrossEntropy>>(),
      planner<SparseSoftmaxCrossEntropy, &plan_softmax_cross_entropy<SparseSoftmaxCrossEntropy>>(),
      planner<SoftmaxCrossEntropyGradient, &plan_softmax_cross_entropy_gradient<SoftmaxCrossEntropyGradient>>(),
      planner<SparseSoftmaxCrossEntropyGradient,
              &plan_softmax_cross_entropy_gradient<SparseSoftmaxCrossEntropyGradient>>(),
      planner<BinaryCrossEntropy, &plan_binary_cross_entropy>(),
      planner<BinaryCrossEntropyGradient, &plan_binary_cross_entropy_gradient>(),
      // metric
      planner<TopKMatches, &plan_top_k_matches>(),
      planner<BinaryMatches, &plan_binary_matches>(),
      // indexing
      planner<OneHot, &plan_one_hot>(),
      planner<Gather, &plan_gather>(),
      planner<GatherGradient, &plan_gather_gradient>(),
      // random
      planner<Dropout, &plan_dropout>(),
      planner<DropoutGradient, &plan_dropout_gradient>(),
      planner<RandomUniform, &plan_random_uniform>(),
      planner<RandomNormal, &plan_random_normal>(),
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
