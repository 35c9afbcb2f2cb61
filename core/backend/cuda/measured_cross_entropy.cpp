#include "core/backend/cuda/kernels/measured_cross_entropy.h"

#include <fmt/format.h>

#include "core/backend/cuda/cuda_kernels.h"
#include "core/backend/cuda/launch_kernel.h"
#include "core/backend/cuda/status.h"
#include "core/ops/measured_cross_entropy.h"

namespace gpubench::cuda {
namespace {

MeasuredLoss measured_loss(const MeasuredCrossEntropy& op, const Signature& signature) {
  const TensorType &logits = signature.inputs[0], &labels = signature.inputs[1];
  MeasuredLoss measured{.columns = logits.shape.back(),
                        .labels = {nullptr, labels.dtype, !is_floating(labels.dtype)},
                        .of_logits = op.options.ranks_logits,
                        .metrics = static_cast<int>(op.options.metrics.size()),
                        .adds = op.options.adds};
  measured.rows = measured.columns == 0 ? 0 : logits.elements() / measured.columns;
  return measured;
}

std::unique_ptr<Kernel> plan_measured_cross_entropy(const MeasuredCrossEntropy& op, const Signature& signature,
                                                    Device& device) {
  MeasuredLoss measured = measured_loss(op, signature);
  if (!fits_a_block(measured)) {
    refuse(op, fmt::format("{} with {} metrics is more than a block's work", to_string(signature.inputs[0]),
                           op.options.metrics.size()));
  }
  std::ranges::copy(op.options.metrics, measured.k);
  return launch_kernel(op, device,
                       [measured, gradient = op.options.gradient, first = op.first_figure()](
                           const LaunchOn& on, Views inputs, Views outputs) mutable {
                         measured.logits = inputs[0].as<float>();
                         measured.labels.data = inputs[1].data;
                         measured.probabilities = outputs[0].as<float>();
                         if (gradient) {
                           measured.dloss = inputs[2].as<float>();
                           measured.gradient = outputs[1].as<float>();
                         }
                         for (std::size_t i = first; i < outputs.size(); ++i) {
                           measured.figures[i - first] = outputs[i].as<float>();
                         }
                         return launch_measured_cross_entropy(on, measured);
                       });
}

}  // namespace

bool fuses_metrics(const Op& op, const Signature& signature) {
  const auto* const known = dynamic_cast<const MeasuredCrossEntropy*>(&op);
  return known != nullptr && fits_a_block(measured_loss(*known, signature));
}

void add_measured_cross_entropy(KernelTable& table) {
  add_row<&plan_measured_cross_entropy>(table);
}

}  // namespace gpubench::cuda
