#include "tests/core/backend/cuda/model_convolutions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/backend/cuda/cuda_device.h"
#include "core/backend/cuda/device_choices.h"
#include "lua/api/modules.h"
#include "lua/api/session.h"
#include "tests/lua/bind/script.h"
#include "tests/support/cuda_on_cpu/gpu.h"

namespace gpubench::cuda {
namespace {

const char* policy_of(Dtype dtype) {
  if (dtype == Dtype::f32) return "float32";
  return dtype == Dtype::f16 ? "mixed_float16" : "mixed_bfloat16";
}

/// `gb` and its zoo as scripts have them. model:memory plans a step without memory for its values.
constexpr const char* planning = R"lua(
  local root = "{}/"
  package.path = root .. "lua/?.lua;" .. root .. "lua/?/init.lua;" .. root .. "tests/peers/?.lua"
  package.loaded["gpubench"], package.loaded["gpubench.native"] = gb, gb
  gb.zoo = require "gpubench.zoo"
  local name, policy, batch_size = "{}", "{}", {}
  gb.config.set_dtype_policy(policy)
  local model = name == "M3" and require("models").build(name)
    or require("gpubench.zoo.workload").compiled(name, {{}}, policy)
  return model:memory(batch_size).total
)lua";

}  // namespace

std::vector<ConvolutionProblem> convolutions_of_step(const std::string& model, std::int64_t batch_size, Dtype dtype) {
  constexpr std::size_t enough_for_weights = std::size_t{4} << 30;
  cuda_on_cpu::machine().memory_bytes = enough_for_weights;
  lua::Session session{lua::SessionOptions{}};
  lua::Script script;
  lua::set_session(script.state(), session);
  lua::open_modules(script.state());
  script.run(fmt::format(fmt::runtime(planning), GPUBENCH_SOURCE_DIR, model, policy_of(dtype), batch_size));
  Device& device = session.world()->devices.device(parse_device_id("gpu:0"));
  return cuda_device(device).choices().convolutions.known();
}

std::string to_string(const ConvolutionProblem& problem) {
  const char* const kind = problem.kind == ConvolutionKind::forward          ? "forward"
                           : problem.kind == ConvolutionKind::input_gradient ? "input gradient"
                                                                             : "filter gradient";
  std::string text = fmt::format("{} {} by {}", kind, problem.image, problem.filter);
  if (problem.strides != Extents{1, 1}) text += fmt::format(", stride {}", problem.strides[0]);
  const std::int64_t groups = problem.image[1] / problem.filter[1];
  if (groups > 1) text += fmt::format(", {} groups", groups);
  if (problem.bias) text += ", bias";
  if (problem.relu) text += ", relu";
  return text;
}

}  // namespace gpubench::cuda
