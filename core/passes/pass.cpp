#include "core/passes/pass.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.h"
#include "core/base/known_names.h"
#include "core/passes/rewriter.h"

namespace gpubench {
namespace {

enum class PassKind : std::uint8_t {
  required,  // needed by executors
  optional,  // makes a step faster or smaller; can be switched off
};

struct Pass {
  std::string_view name;
  Program (*run)(Program program, const PassOptions& options, const PassDevices& devices);
  PassKind kind = PassKind::optional;
};

/// A pass that is the same for all devices.
template <Program (*run)(Program)>
Program everywhere(Program program, const PassOptions&, const PassDevices&) {
  return run(std::move(program));
}

/// A pass that asks devices which fused ops they have.
template <Program (*run)(Program, const Fuses&)>
Program where_fused(Program program, const PassOptions&, const PassDevices& devices) {
  return run(std::move(program), devices.fuses);
}

Program offload_layers(Program program, const PassOptions& options, const PassDevices& devices) {
  return offload(std::move(program), options.offload, devices.overlaps);
}

Program bucket_gradients(Program program, const PassOptions& options, const PassDevices&) {
  return bucket_all_reduces(std::move(program), options.bucket_bytes);
}

Program overlap_recorded(Program program, const PassOptions&, const PassDevices&) {
  program.overlaps_recorded = true;
  return program;
}

// In execution order. From offload on, passes see the final kernels.
constexpr Pass passes[] = {
    {"merge_casts", &everywhere<&merge_casts>},
    {"fuse_softmax_cross_entropy", &everywhere<&fuse_softmax_cross_entropy>},
    {"shrink_pool_gradient", &everywhere<&shrink_pool_gradient>},
    {"remove_dead_code", &everywhere<&remove_dead_code>, PassKind::required},
    {"fold_batch_norm", &everywhere<&fold_batch_norm>},
    {"fuse_epilogue", &everywhere<&fuse_epilogue>},
    {"fuse_quantize", &everywhere<&fuse_quantize>},
    {"pack_weights", &everywhere<&pack_weights>},
    {"fuse_conv_pool", &everywhere<&fuse_conv_pool>},
    {"fuse_activation_gradient", &where_fused<&fuse_activation_gradient>},
    {"fuse_accumulation", &where_fused<&fuse_accumulation>},
    {"fuse_bias_gradient", &where_fused<&fuse_bias_gradient>},
    {"fuse_batch_norm", &where_fused<&fuse_batch_norm>},
    {"batch_casts", &where_fused<&batch_casts>},
    {"turn_filters", &where_fused<&turn_filters>},
    {"fuse_metrics", &where_fused<&fuse_metrics>},
    {"fuse_elementwise", &everywhere<&fuse_elementwise>},
    {"place_copies", &everywhere<&place_copies>, PassKind::required},
    {"offload", &offload_layers},
    {"bucket_all_reduces", &bucket_gradients},
    {"copy_exchanged", &everywhere<&copy_exchanged>, PassKind::required},
    {"overlap_recorded", &overlap_recorded},
};

void check_names(const PassOptions& options) {
  std::vector<std::string_view> known;
  for (const Pass& pass : passes) {
    if (pass.kind == PassKind::optional) known.push_back(pass.name);
  }
  for (const std::string& name : options.disabled) {
    if (std::ranges::find(known, name) != known.end()) continue;
    throw Error(fmt::format("there is no pass '{}' to switch off{}", name, known_names(name, known)));
  }
}

}  // namespace

Program apply_passes(Program program, const PassOptions& options, PassDevices devices) {
  check_names(options);
  if (!devices.fuses) devices.fuses = [](const DeviceId&, const Op&, TensorTypes) { return false; };
  if (!devices.overlaps) devices.overlaps = [](const DeviceId&) { return false; };
  for (const Pass& pass : passes) {
    if (pass.kind == PassKind::optional && options.disabled.contains(std::string(pass.name))) continue;
    program = pass.run(std::move(program), options, devices);
  }
  return program;
}

}  // namespace gpubench
