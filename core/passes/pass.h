// Graph to graph. A pass has a name, can be switched off by it, and must not change results beyond rounding.
#pragma once
#include <cstddef>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/graph/graph.h"

namespace gpubench {

/// A graph and the values of it that its user reads.
struct Program {
  Graph graph;
  std::vector<Value> outputs;
};

struct OffloadOptions {
  /// Of these layers.
  std::vector<OwnerPtr> layers{};
  /// For how many layers a copy may take while kernels go on: it begins so many layers before its tensor is read, and
  /// the tensor keeps its place for so many after it was made. 0: kernels wait for every copy. More than overlap needs
  /// costs memory only.
  int ahead = 1;
};

/// As PyTorch's DistributedDataParallel has it.
inline constexpr std::size_t default_bucket_bytes = std::size_t{25} << 20;

struct PassOptions {
  /// Names of passes that are left out. Throws Error at apply_passes() when one is unknown.
  std::set<std::string> disabled{};
  /// Activations that wait for their gradients in the host's memory.
  OffloadOptions offload{};
  /// Gradients are exchanged together up to so many bytes.
  std::size_t bucket_bytes = default_bucket_bytes;
};

/// Whether `device` computes `op`, which a pass would make of several ops, and in less time than they take. Asked where
/// that depends on the device; what helps everywhere is not.
using Fuses = std::function<bool(const DeviceId& device, const Op& op, std::span<const TensorType> inputs)>;

/// What passes ask about the devices of a program.
struct PassDevices {
  Fuses fuses{};  ///< empty: no device has ops of its own
  /// Whether copies to the host run beside the device's kernels; empty: on none.
  std::function<bool(const DeviceId& device)> overlaps{};
};

/// Runs all passes but those that are switched off.
Program apply_passes(Program program, const PassOptions& options, PassDevices devices = {});

// The passes that every program goes through, in the order of the table in pass.cpp; the source of each says what it
// does.
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
