#include "core/backend/cuda/cuda_kernels.h"

namespace gpubench::cuda {

const KernelTable& kernels() {
  static const KernelTable table = [] {
    KernelTable rows;
    add_attention(rows);
    add_batch_norm(rows);
    add_conv(rows);
    add_elementwise(rows);
    add_image(rows);
    add_indexing(rows);
    add_layer_norm(rows);
    add_loss(rows);
    add_matmul(rows);
    add_measured_cross_entropy(rows);
    add_metric(rows);
    add_optimizer(rows);
    add_pool(rows);
    add_quantize(rows);
    add_random(rows);
    add_recurrent(rows);
    add_reduce(rows);
    add_shape_ops(rows);
    add_softmax(rows);
    add_sort(rows);
    add_state(rows);
    return rows;
  }();
  return table;
}

std::unique_ptr<Kernel> plan_kernel(const Op& op, const Signature& signature, Device& device) {
  return plan_by(kernels(), "cuda", op, signature, device);
}

}  // namespace gpubench::cuda
