#include "core/passes/pass.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.h"
#include "core/passes/passes.h"
#include "core/passes/rewriter.h"

namespace gpubench {
namespace {

/// A pass that does the same for every device.
template <Program (*run)(Program)>
Program everywhere(Program program, const Fuses&) {
  return run(std::move(program));
}

constexpr Pass passes[] = {
    {"merge_casts", &everywhere<&merge_casts>, Pass::Kind::optional},
    {"fuse_softmax_cross_entropy", &everywhere<&fuse_softmax_cross_entropy>, Pass::Kind::optional},
    {"shrink_pool_gradient", &everywhere<&shrink_pool_gradient>, Pass::Kind::optional},
    {"remove_dead_code", &everywhere<&remove_dead_code>, Pass::Kind::required},
    {"fold_batch_norm", &everywhere<&fold_batch_norm>, Pass::Kind::optional},
    {"fuse_epilogue", &everywhere<&fuse_epilogue>, Pass::Kind::optional},
    {"fuse_quantize", &everywhere<&fuse_quantize>, Pass::Kind::optional},
    {"pack_weights", &everywhere<&pack_weights>, Pass::Kind::optional},
    {"fuse_conv_pool", &everywhere<&fuse_conv_pool>, Pass::Kind::optional},
    {"fuse_activation_gradient", &fuse_activation_gradient, Pass::Kind::optional},
    {"fuse_accumulation", &fuse_accumulation, Pass::Kind::optional},
    {"fuse_bias_gradient", &fuse_bias_gradient, Pass::Kind::optional},
    {"fuse_elementwise", &everywhere<&fuse_elementwise>, Pass::Kind::optional},
    {"place_copies", &everywhere<&place_copies>, Pass::Kind::required},
};

bool on_no_device(const DeviceId&, const Op&, std::span<const TensorType>) {
  return false;
}

void check_names(const PassOptions& options) {
  std::vector<std::string_view> known;
  for (const Pass& pass : passes) {
    if (pass.kind == Pass::Kind::optional) known.push_back(pass.name);
  }
  for (const std::string& name : options.disabled) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    throw Error(fmt::format("there is no pass '{}' to switch off (known: {})", name, fmt::join(known, ", ")));
  }
}

}  // namespace

std::span<const Pass> all_passes() {
  return passes;
}

Program apply_passes(Program program, const PassOptions& options, const Fuses& fuses,
                     std::vector<PassTiming>* timings) {
  check_names(options);
  const Fuses asked = fuses ? fuses : &on_no_device;
  for (const Pass& pass : passes) {
    if (pass.kind == Pass::Kind::optional && options.disabled.contains(std::string(pass.name))) continue;
    const Stopwatch watch;
    program = pass.run(std::move(program), asked);
    if (timings != nullptr) timings->push_back({pass.name, watch.elapsed()});
  }
  return program;
}

}  // namespace gpubench
