#include "core/passes/pass.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.h"
#include "core/passes/fuse_conv_pool.h"
#include "core/passes/fuse_elementwise.h"
#include "core/passes/fuse_epilogue.h"
#include "core/passes/fuse_softmax_cross_entropy.h"
#include "core/passes/place_copies.h"
#include "core/passes/rewriter.h"
#include "core/passes/shrink_pool_gradient.h"

namespace gpubench {
namespace {

constexpr Pass passes[] = {
    {"fuse_softmax_cross_entropy", &fuse_softmax_cross_entropy, Pass::Kind::optional},
    {"shrink_pool_gradient", &shrink_pool_gradient, Pass::Kind::optional},
    {"remove_dead_code", &remove_dead_code, Pass::Kind::required},
    {"fuse_epilogue", &fuse_epilogue, Pass::Kind::optional},
    {"fuse_conv_pool", &fuse_conv_pool, Pass::Kind::optional},
    {"fuse_elementwise", &fuse_elementwise, Pass::Kind::optional},
    {"place_copies", &place_copies, Pass::Kind::required},
};

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

Program apply_passes(Program program, const PassOptions& options, std::vector<PassTiming>* timings) {
  check_names(options);
  for (const Pass& pass : passes) {
    if (pass.kind == Pass::Kind::optional && options.disabled.contains(std::string(pass.name))) continue;
    const Stopwatch watch;
    program = pass.run(std::move(program));
    if (timings != nullptr) timings->push_back({pass.name, watch.elapsed()});
  }
  return program;
}

}  // namespace gpubench
