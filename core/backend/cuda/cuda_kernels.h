// The table of all GPU kernels. Each family has a source (add_reduce: reduce.cpp) that plans its ops and adds their
// rows.
#pragma once
#include "core/backend/kernel_table.h"

namespace gpubench::cuda {

const KernelTable& kernels();

/// Plans `op` by its row. For kernels that contain other kernels.
std::unique_ptr<Kernel> plan_kernel(const Op& op, const Signature& signature, Device& device);

/// Whether cuBLASLt has an algorithm for this product with its epilogue, and a large product with the sum of a factor
/// is faster so (fused_sum.h); passes ask before they fuse. The answer is cached for planning the op.
bool fuses_matmul(const Op& op, const Signature& signature, Device& device);

/// Whether this convolution's filter, which is turned (Conv2DAttributes), has the layout of cuDNN's engines, so that
/// the op needs no transpose of its own.
bool reads_turned_filter(const Op& op, const Signature& signature);

/// Whether one block of threads computes this measured_cross_entropy in no more time than its parts take.
bool fuses_metrics(const Op& op, const Signature& signature);

void add_attention(KernelTable& table);
void add_batch_norm(KernelTable& table);
void add_conv(KernelTable& table);
void add_elementwise(KernelTable& table);
void add_image(KernelTable& table);
void add_indexing(KernelTable& table);
void add_layer_norm(KernelTable& table);
void add_loss(KernelTable& table);
void add_matmul(KernelTable& table);
void add_measured_cross_entropy(KernelTable& table);
void add_metric(KernelTable& table);
void add_optimizer(KernelTable& table);
void add_pool(KernelTable& table);
void add_quantize(KernelTable& table);
void add_random(KernelTable& table);
void add_recurrent(KernelTable& table);
void add_reduce(KernelTable& table);
void add_shape_ops(KernelTable& table);
void add_softmax(KernelTable& table);
void add_sort(KernelTable& table);
void add_state(KernelTable& table);

}  // namespace gpubench::cuda
