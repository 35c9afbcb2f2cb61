#include "core/backend/cuda/kernels.h"

#include "core/backend/cuda/batch_norm.h"
#include "core/backend/cuda/bias.h"
#include "core/backend/cuda/binary.h"
#include "core/backend/cuda/conv.h"
#include "core/backend/cuda/conv_pool.h"
#include "core/backend/cuda/elementwise_chain.h"
#include "core/backend/cuda/image.h"
#include "core/backend/cuda/indexing.h"
#include "core/backend/cuda/loss.h"
#include "core/backend/cuda/loss_scale.h"
#include "core/backend/cuda/matmul.h"
#include "core/backend/cuda/metric.h"
#include "core/backend/cuda/optimizer.h"
#include "core/backend/cuda/pool.h"
#include "core/backend/cuda/quantize.h"
#include "core/backend/cuda/quantized_linear.h"
#include "core/backend/cuda/random.h"
#include "core/backend/cuda/reduce.h"
#include "core/backend/cuda/shape_ops.h"
#include "core/backend/cuda/softmax.h"
#include "core/backend/cuda/state.h"
#include "core/backend/cuda/unary.h"

namespace gpubench::cuda {
namespace {

/// Adds the rows that follow from the list in core/math/functions.h.
KernelTable with_functions(KernelTable table) {
  add_unary(table);
  add_binary(table);
  return table;
}

}  // namespace

const KernelTable& kernels() {
  static const KernelTable table = with_functions({
      // core/graph
      planner<AddN, &plan_add_n>(),
      // matmul
      planner<Matmul, &plan_matmul>(),
      planner<MatmulAccumulate, &plan_matmul_accumulate>(),
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
      // quantize
      planner<Quantize, &plan_quantize>(),
      planner<FakeQuantize, &plan_fake_quantize>(),
      planner<FakeQuantizeGradient, &plan_fake_quantize_gradient>(),
      planner<QuantizedMatmul, &plan_quantized_matmul>(),
      planner<QuantizedConv2D, &plan_quantized_conv2d>(),
      planner<PackWeights, &plan_pack_weights>(),
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
      // binary
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
      planner<SumAndCount, &plan_sum_and_count>(),
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
      // cast, chains
      planner<Cast, &plan_cast>(),
      planner<ElementwiseChain, &plan_elementwise_chain>(),
      // shape_ops
      planner<Transpose, &plan_transpose>(),
      planner<Reverse, &plan_reverse>(),
      planner<Slice, &plan_slice>(),
      planner<SliceGradient, &plan_slice_gradient>(),
      planner<Concat, &plan_concat>(),
      planner<BroadcastTo, &plan_broadcast_to>(),
      // image
      planner<RandomFlipLeftRight, &plan_random_flip_left_right>(),
      planner<RandomBrightness, &plan_random_brightness>(),
      planner<RandomContrast, &plan_random_contrast>(),
      planner<RandomCrop, &plan_random_crop>(),
      planner<ResizeImages, &plan_resize_images>(),
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
      planner<Unscale, &plan_unscale>(),
      planner<LossScaleUpdate, &plan_loss_scale_update>(),
  });
  return table;
}

}  // namespace gpubench::cuda
