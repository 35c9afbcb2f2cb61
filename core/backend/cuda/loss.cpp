#include "core/backend/cuda/kernels/loss.h"

#include "core/backend/cuda/cuda_kernels.h"
#include "core/backend/cuda/elementwise.h"
#include "core/backend/cuda/launch_kernel.h"
#include "core/backend/cuda/status.h"
#include "core/math/loss.h"
#include "core/ops/loss.h"

namespace gpubench::cuda {
namespace {

LossShape loss_shape(const Op& op, const TensorType& predictions) {
  require_floating(op, predictions);
  const std::int64_t columns = predictions.shape.back();
  return {columns == 0 ? 0 : predictions.elements() / columns, columns, predictions.dtype};
}

Labels labels_in(const TensorView& view) {
  return {view.data, view.type->dtype, !is_floating(view.type->dtype)};
}

template <class O>
std::unique_ptr<Kernel> plan_cross_entropy(const O& op, const Signature& signature, Device& device) {
  return launch_kernel(op, device,
                       [shape = loss_shape(op, signature.inputs[0])](const LaunchOn& on, Views inputs, Views outputs) {
                         return launch_cross_entropy(on, shape, inputs[0].data, labels_in(inputs[1]), outputs[0].data);
                       });
}

template <class O>
std::unique_ptr<Kernel> plan_cross_entropy_gradient(const O& op, const Signature& signature, Device& device) {
  return launch_kernel(op, device,
                       [shape = loss_shape(op, signature.inputs[1])](const LaunchOn& on, Views inputs, Views outputs) {
                         return launch_cross_entropy_gradient(on, shape, inputs[0].data, inputs[1].data,
                                                              labels_in(inputs[2]), outputs[0].data);
                       });
}

template <class O>
std::unique_ptr<Kernel> plan_softmax_cross_entropy(const O& op, const Signature& signature, Device& device) {
  return launch_kernel(op, device,
                       [shape = loss_shape(op, signature.inputs[0])](const LaunchOn& on, Views inputs, Views outputs) {
                         return launch_softmax_cross_entropy(on, shape, inputs[0].data, labels_in(inputs[1]),
                                                             outputs[0].data, outputs[1].data);
                       });
}

template <class O>
std::unique_ptr<Kernel> plan_softmax_cross_entropy_gradient(const O& op, const Signature& signature, Device& device) {
  return launch_kernel(op, device,
                       [shape = loss_shape(op, signature.inputs[1])](const LaunchOn& on, Views inputs, Views outputs) {
                         return launch_softmax_cross_entropy_gradient(on, shape, inputs[0].data, inputs[1].data,
                                                                      labels_in(inputs[2]), outputs[0].data);
                       });
}

std::unique_ptr<Kernel> plan_binary_cross_entropy(const BinaryCrossEntropy& op, const Signature& signature,
                                                  Device& device) {
  require_floating(op, signature.inputs[0]);
  return plan_elementwise(op, signature, device,
                          op.from_logits ? elementwise_launch<math::BinaryCrossEntropyOfLogit>()
                                         : elementwise_launch<math::BinaryCrossEntropy>());
}

std::unique_ptr<Kernel> plan_binary_cross_entropy_gradient(const BinaryCrossEntropyGradient& op,
                                                           const Signature& signature, Device& device) {
  require_floating(op, signature.inputs[0]);
  return plan_elementwise(op, signature, device,
                          op.from_logits ? elementwise_launch<math::BinaryCrossEntropyOfLogitGradient>()
                                         : elementwise_launch<math::BinaryCrossEntropyGradient>());
}

template std::unique_ptr<Kernel> plan_cross_entropy(const CategoricalCrossEntropy&, const Signature&, Device&);
template std::unique_ptr<Kernel> plan_cross_entropy(const SparseCategoricalCrossEntropy&, const Signature&, Device&);
template std::unique_ptr<Kernel> plan_cross_entropy_gradient(const CategoricalCrossEntropyGradient&, const Signature&,
                                                             Device&);
template std::unique_ptr<Kernel> plan_cross_entropy_gradient(const SparseCategoricalCrossEntropyGradient&,
                                                             const Signature&, Device&);
template std::unique_ptr<Kernel> plan_softmax_cross_entropy(const SoftmaxCrossEntropy&, const Signature&, Device&);
template std::unique_ptr<Kernel> plan_softmax_cross_entropy(const SparseSoftmaxCrossEntropy&, const Signature&,
                                                            Device&);
template std::unique_ptr<Kernel> plan_softmax_cross_entropy_gradient(const SoftmaxCrossEntropyGradient&,
                                                                     const Signature&, Device&);
template std::unique_ptr<Kernel> plan_softmax_cross_entropy_gradient(const SparseSoftmaxCrossEntropyGradient&,
                                                                     const Signature&, Device&);

}  // namespace

void add_loss(KernelTable& table) {
  add_row<&plan_cross_entropy<CategoricalCrossEntropy>>(table);
  add_row<&plan_cross_entropy<SparseCategoricalCrossEntropy>>(table);
  add_row<&plan_cross_entropy_gradient<CategoricalCrossEntropyGradient>>(table);
  add_row<&plan_cross_entropy_gradient<SparseCategoricalCrossEntropyGradient>>(table);
  add_row<&plan_softmax_cross_entropy<SoftmaxCrossEntropy>>(table);
  add_row<&plan_softmax_cross_entropy<SparseSoftmaxCrossEntropy>>(table);
  add_row<&plan_softmax_cross_entropy_gradient<SoftmaxCrossEntropyGradient>>(table);
  add_row<&plan_softmax_cross_entropy_gradient<SparseSoftmaxCrossEntropyGradient>>(table);
  add_row<&plan_binary_cross_entropy>(table);
  add_row<&plan_binary_cross_entropy_gradient>(table);
}

}  // namespace gpubench::cuda
