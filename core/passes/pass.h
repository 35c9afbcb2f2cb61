// Passes transform a graph into another graph. Each has a name by which it can be switched off, and must not change
// results beyond rounding.
#pragma once
#include <cstddef>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/graph/graph.h"

namespace gpubench {

/// A graph and the values that its user reads.
struct Program {
  Graph graph;
  std::vector<Value> outputs;
  /// Work that a device records waits only for work with the same memory, instead of for all before it. The last pass
  /// sets it.
  bool overlaps_recorded = false;
};

struct OffloadOptions {
  /// The layers whose activations are offloaded.
  std::vector<OwnerPtr> layers{};
  /// Number of layers that a copy may overlap: a copy back begins this many layers before its tensor is read, and the
  /// tensor keeps its memory for this many layers after it was computed. 0: kernels wait for every copy. Values above
  /// what the overlap needs only cost memory.
  int ahead = 1;
};

/// The default of PyTorch's DistributedDataParallel.
inline constexpr std::size_t default_bucket_bytes = std::size_t{25} << 20;

struct PassOptions {
  /// Names of passes to skip. apply_passes() throws Error for an unknown name.
  std::set<std::string> disabled{};
  /// Activations that are moved to host memory until their gradients are computed.
  OffloadOptions offload{};
  /// Gradients are exchanged in buckets of up to this many bytes.
  std::size_t bucket_bytes = default_bucket_bytes;
};

/// Whether `device` can run `op`, a fusion of several ops or another form of one, faster than those ops. Passes ask
/// only if the answer depends on the device.
using Fuses = std::function<bool(const DeviceId& device, const Op& op, TensorTypes inputs)>;

/// Facts about the program's devices that passes need.
struct PassDevices {
  Fuses fuses{};  ///< empty: no device has fused ops
  /// Whether copies to the host overlap the device's kernels; empty: on no device.
  std::function<bool(const DeviceId& device)> overlaps{};
};

/// Runs all passes that are not disabled.
Program apply_passes(Program program, const PassOptions& options, PassDevices devices = {});

// The passes for all programs, in the order of the table in pass.cpp; each source describes its pass.
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
Program fuse_batch_norm(Program program, const Fuses& fuses);
Program batch_casts(Program program, const Fuses& fuses);
Program turn_filters(Program program, const Fuses& fuses);
Program fuse_metrics(Program program, const Fuses& fuses);
Program fuse_elementwise(Program program);
Program place_copies(Program program);
Program offload(Program program, const OffloadOptions& options,
                const std::function<bool(const DeviceId& device)>& overlaps);
Program bucket_all_reduces(Program program, std::size_t bucket_bytes);
Program copy_exchanged(Program program);

}  // namespace gpubench
