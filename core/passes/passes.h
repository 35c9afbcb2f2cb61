// The passes for all programs, in the order of the table in pass.cpp; each source describes its pass.
#pragma once
#include "core/passes/pass.h"

namespace gpubench {

Program merge_casts(Program program);
Program fuse_softmax_cross_entropy(Program program);
Program shrink_pool_gradient(Program program);
Program fold_batch_norm(Program program);
Program fuse_epilogue(Program program);
Program fuse_quantize(Program program);
Program pack_weights(Program program);
Program fuse_conv_pool(Program program);
Program fuse_activation_gradient(Program program, const Fuses& fuses);
Program fuse_accumulation(Program program, const Fuses& fuses);
Program fuse_bias_gradient(Program program, const Fuses& fuses);
Program fuse_elementwise(Program program);
Program place_copies(Program program);
Program offload(Program program, const OffloadOptions& options,
                const std::function<bool(const DeviceId& device)>& overlaps);
Program bucket_all_reduces(Program program, std::size_t bucket_bytes);
Program copy_exchanged(Program program);

}  // namespace gpubench
