// What the installed cuDNN plans for every convolution of real training steps, on described GPUs, beside
// cudnn_plans.txt, which is compared if it is of the same cuDNN. CUDNN_PLANS=all prints each convolution with its
// engines, and the lines of the table.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "core/backend/cuda/conv_problem.h"
#include "core/backend/cuda/convolution_graph.h"
#include "core/backend/cuda/cuda_device.h"
#include "core/backend/cuda/cudnn_plan.h"
#include "core/backend/cuda/device_choices.h"
#include "lua/api/modules.h"
#include "lua/api/session.h"
#include "tests/core/backend/cuda/described_gpu.h"
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

/// Builds the model ("M3" of tests/peers/models.lua, or a net of gb.zoo in its published size) in the GPU backend on
/// the simulated CUDA and plans its training step there, without running it. `dtype`: of its arithmetic, float32 or as
/// the policies mixed_float16 and mixed_bfloat16.
std::vector<ConvolutionProblem> convolutions_of_step(const std::string& model, std::int64_t batch_size, Dtype dtype) {
  constexpr std::size_t enough_for_weights = std::size_t{4} << 30;
  cuda_on_cpu::machine().memory_bytes = enough_for_weights;
  lua::Session session{lua::SessionOptions{}};
  lua::Script script;
  lua::set_session(script.state(), session);
  lua::open_modules(script.state());
  script.run(fmt::format(fmt::runtime(planning), GPUBENCH_SOURCE_DIR, model, policy_of(dtype), batch_size));
  Device& device = session.placement.world()->devices.device(parse_device_id("gpu:0"));
  return cuda_device(device).choices().convolutions.known();
}

/// "forward [64, 64, 56, 56] by [64, 64, 3, 3], bias, relu", in cuDNN's order of dimensions.
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

struct Net {
  const char* name;
  std::int64_t batch_size;
};

constexpr std::array nets{Net{"M3", 256}, Net{"resnet18", 64}, Net{"resnet50", 64}, Net{"mobilenet_v2", 64}};

bool prints() {
  const char* const wanted = std::getenv("CUDNN_PLANS");
  return wanted != nullptr && std::string(wanted) == "all";
}

/// Convolutions of all nets, each with the nets that ask for it.
using Asked = std::map<ConvolutionProblem, std::set<std::string>>;

const Asked& asked_in(Dtype dtype) {
  static std::map<Dtype, Asked> known;
  const auto [found, is_new] = known.try_emplace(dtype);
  for (const Net& net : nets) {
    if (!is_new) break;
    for (const ConvolutionProblem& problem : convolutions_of_step(net.name, net.batch_size, dtype)) {
      found->second[problem].insert(net.name);
    }
  }
  return found->second;
}

std::size_t tensor_bytes(const ConvolutionProblem& problem) {
  std::size_t bytes = 0;
  for (const auto& tensor : {problem.image, problem.filter, problem.result}) {
    std::size_t elements = 1;
    for (const std::int64_t extent : tensor) elements *= static_cast<std::size_t>(extent);
    bytes += elements * size_of(problem.dtype);
  }
  return bytes;
}

bool is_grouped(const ConvolutionProblem& problem) {
  return problem.image[1] != problem.filter[1];
}

struct Planned {
  std::vector<std::shared_ptr<const CudnnPlan>> engines;  ///< those that are timed against each other on a GPU
  bool epilogue_apart = false;                            ///< bias and relu by our own kernel
  std::string why_not;

  /// Engine 0 computes every convolution. Where groups have a channel each, cuDNN expects it to be fastest.
  bool has_only_engine_0() const {
    return std::ranges::all_of(engines, [](const auto& engine) { return engine->engine() == 0; });
  }
  /// The least workspace that a candidate needs, over the bytes of image, filter and result.
  double least_workspace(const ConvolutionProblem& problem) const {
    std::size_t least = std::numeric_limits<std::size_t>::max();
    for (const auto& engine : engines) least = std::min(least, engine->workspace_bytes());
    return static_cast<double>(least) / static_cast<double>(tensor_bytes(problem));
  }
  /// Likewise of the candidate that cuDNN expects to be fastest.
  double first_workspace(const ConvolutionProblem& problem) const {
    return static_cast<double>(engines[0]->workspace_bytes()) / static_cast<double>(tensor_bytes(problem));
  }
};

/// As engine_plans.h, without timing.
Planned plan(const ConvolutionProblem& problem, const DescribedGpu& gpu, CudnnHandle& handle) {
  constexpr std::size_t candidates = 6;
  const EngineRules rules{.dtype = problem.dtype, .workspace_limit = workspace_limit(gpu.memory_bytes())};
  const auto engines = [&](const ConvolutionProblem& of, std::string& why_not) {
    return CudnnPlan::candidates(convolution_graph(of, handle.handle()), handle, rules, candidates, why_not);
  };
  Planned planned;
  planned.engines = engines(problem, planned.why_not);
  if (planned.engines.empty() && problem.bias) {
    planned.epilogue_apart = true;
    planned.engines = engines(without_epilogue(problem), planned.why_not);
  }
  return planned;
}

std::string row(const ConvolutionProblem& problem, const std::set<std::string>& of, const Planned& planned) {
  std::string text = fmt::format("  {}:", to_string(problem));
  if (planned.engines.empty()) return text + " none: " + planned.why_not;
  for (const auto& engine : planned.engines) {
    const double mebibytes = static_cast<double>(engine->workspace_bytes()) / (1 << 20);
    text += fmt::format(" {}{}({:.1f} MiB)", engine->engine(), engine->is_fallback() ? " fallback " : " ", mebibytes);
  }
  if (planned.epilogue_apart) text += ", bias apart";
  if (problem.transposes_filter()) text += ", filter turned";
  return text + fmt::format(", {:.2f} of its tensors; {}", planned.least_workspace(problem), fmt::join(of, " "));
}

/// A line of the table: the convolutions of one net in one type on one GPU.
struct Summary {
  std::size_t convolutions = 0, turned = 0, apart = 0, fallbacks = 0, only_engine_0 = 0, grouped_of_these = 0;
  std::size_t fewest_engines = std::numeric_limits<std::size_t>::max();
  std::set<std::int64_t> first_engines;
  double thriftiest = 0, first = 0;  ///< workspaces over the bytes of the tensors, of the convolution with the largest

  void add(const ConvolutionProblem& problem, const Planned& planned) {
    ++convolutions;
    turned += problem.transposes_filter() ? 1 : 0;
    apart += planned.epilogue_apart ? 1 : 0;
    fewest_engines = std::min(fewest_engines, planned.engines.size());
    if (planned.engines.empty()) return;
    fallbacks += planned.engines[0]->is_fallback() ? 1 : 0;
    if (planned.has_only_engine_0()) {
      ++only_engine_0;
      grouped_of_these += is_grouped(problem) ? 1 : 0;
    }
    first_engines.insert(planned.engines[0]->engine());
    thriftiest = std::max(thriftiest, planned.least_workspace(problem));
    first = std::max(first, planned.first_workspace(problem));
  }
  std::string line(const char* gpu, Dtype dtype, const std::string& net) const {
    return fmt::format("{:<5} {:<9} {:<13} {:>12} {:>6} {:>5} {:>8} {:>6} {:>7} {:>7} {:>10.2f} {:>6.2f}  {}", gpu,
                       to_string(dtype), net, convolutions, turned, apart, fallbacks, only_engine_0, grouped_of_these,
                       fewest_engines, thriftiest, first, fmt::join(first_engines, " "));
  }
};

/// cudnn_plans.txt
struct Table {
  std::string head;
  std::vector<std::string> lines;

  Table() {
    std::ifstream file(std::filesystem::path(GPUBENCH_SOURCE_DIR) / "tests/core/backend/cuda/cudnn_plans.txt");
    std::getline(file, head);
    for (std::string line; std::getline(file, line);) {
      if (!line.starts_with("#")) lines.push_back(line);
    }
  }
  bool is_of(const std::string& version) const { return head.find("cuDNN " + version + " ") != std::string::npos; }
  bool has(Dtype dtype, const char* net) const {
    const std::string words = fmt::format(" {:<9} {:<13} ", to_string(dtype), net);
    return std::ranges::any_of(lines, [&](const std::string& line) { return line.find(words) != std::string::npos; });
  }
  std::vector<std::string> lines_of(const DescribedGpu& gpu) const {
    std::vector<std::string> result;
    std::ranges::copy_if(lines, std::back_inserter(result),
                         [&](const std::string& line) { return line.starts_with(fmt::format("{:<5} ", gpu.name)); });
    return result;
  }
};

// The nets, our passes and our own kernels decide what is asked of cuDNN, so this needs none.
TEST(ModelConvolutions, TheTableHasAsManyAsTrainingStepsAskFor) {
  const Table table;
  std::size_t compared = 0;
  for (const Dtype dtype : {Dtype::f32, Dtype::f16, Dtype::bf16}) {
    for (const Net& net : nets) {
      Summary now;
      for (const auto& [problem, of] : asked_in(dtype)) {
        if (of.contains(net.name)) now.add(problem, {});
      }
      for (const std::string& line : table.lines) {
        std::istringstream words(line);
        std::string gpu, type, name;
        std::size_t convolutions = 0, turned = 0;
        words >> gpu >> type >> name >> convolutions >> turned;
        if (type != to_string(dtype) || name != net.name) continue;
        ++compared;
        EXPECT_EQ(convolutions, now.convolutions) << line;
        EXPECT_EQ(turned, now.turned) << line;
      }
      EXPECT_TRUE(now.convolutions == 0 || table.has(dtype, net.name)) << net.name << " has no line";
    }
  }
  EXPECT_EQ(compared, table.lines.size());
}

class CudnnModelPlans : public testing::TestWithParam<DescribedGpu> {};

TEST_P(CudnnModelPlans, EveryConvolutionOfATrainingStepHasADeterministicEngine) {
  const DescribedGpu& gpu = GetParam();
  constexpr double copies_of_all = 1.01;  // an engine that turns image and result into another layout, and its tables
  const Table table;
  std::vector<std::string> lines;
  bool is_comparable = false;
  for (const Dtype dtype : gpu.types()) {
    const Asked& asked = asked_in(dtype);
    ASSERT_FALSE(asked.empty());
    const PlanningFor planning(gpu);
    CudnnHandle handle;
    is_comparable = table.is_of(cudnn_version());
    std::map<std::string, Summary> summaries;
    for (const auto& [problem, of] : asked) {
      const Planned planned = plan(problem, gpu, handle);
      if (prints()) std::printf("%s\n", row(problem, of, planned).c_str());
      for (const std::string& net : of) summaries[net].add(problem, planned);
      SCOPED_TRACE(row(problem, of, planned));
      EXPECT_FALSE(planned.engines.empty());
      if (planned.engines.empty()) continue;
      // Strict float32 is out of use: some GPUs have only fallbacks for it, which the table counts.
      EXPECT_TRUE(dtype == Dtype::f32 || !planned.engines[0]->is_fallback());
      EXPECT_TRUE(dtype == Dtype::f32 || !planned.has_only_engine_0() || is_grouped(problem));
      EXPECT_LE(planned.least_workspace(problem), copies_of_all);
    }
    for (const auto& [net, summary] : summaries) lines.push_back(summary.line(gpu.name, dtype, net));
  }
  if (prints()) std::printf("%s\n", fmt::format("{}", fmt::join(lines, "\n")).c_str());
  if (is_comparable) {
    EXPECT_EQ(lines, table.lines_of(gpu));
  }
}

INSTANTIATE_TEST_SUITE_P(Gpus, CudnnModelPlans, testing::ValuesIn(described_gpus().begin(), described_gpus().end()),
                         [](const auto& gpu) { return std::string(gpu.param.name); });

}  // namespace

}  // namespace gpubench::cuda
