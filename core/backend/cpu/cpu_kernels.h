// The table of all CPU kernels. Each family has a source (add_reduce: reduce.cpp) that plans its ops and adds their
// rows.
#pragma once
#include "core/backend/kernel_table.h"

namespace gpubench::cpu {

const KernelTable& kernels();

/// Plans `op` by its row. For kernels that contain other kernels.
std::unique_ptr<Kernel> plan_kernel(const Op& op, const Signature& signature, Device& device);

void add_attention(KernelTable& table);
void add_attention_gradient(KernelTable& table);
void add_batch_norm(KernelTable& table);
void add_cast(KernelTable& table);
void add_conv(KernelTable& table);
void add_elementwise(KernelTable& table);
void add_elementwise_chain(KernelTable& table);
void add_image(KernelTable& table);
void add_indexing(KernelTable& table);
void add_layer_norm(KernelTable& table);
void add_linear(KernelTable& table);
void add_loss(KernelTable& table);
void add_matmul(KernelTable& table);
void add_metric(KernelTable& table);
void add_optimizer(KernelTable& table);
void add_pool(KernelTable& table);
void add_quantize(KernelTable& table);
void add_random(KernelTable& table);
void add_random_affine(KernelTable& table);
void add_recurrent(KernelTable& table);
void add_reduce(KernelTable& table);
void add_shape_ops(KernelTable& table);
void add_softmax(KernelTable& table);
void add_sort(KernelTable& table);
void add_state(KernelTable& table);

}  // namespace gpubench::cpu
