// What the installed cuDNN plans for every convolution of real training steps, on described GPUs. By default each GPU
// and type gets a part of the convolutions; CUDNN_PLANS=all plans all, prints them with their engines, and compares
// cudnn_plans.txt.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <gtest/gtest.h>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/backend/cuda/convolution_graph.h"
#include "core/backend/cuda/cudnn_plan.h"
#include "tests/core/backend/cuda/described_gpu.h"
#include "tests/core/backend/cuda/model_convolutions.h"

namespace gpubench::cuda {
namespace {

struct Net {
  const char* name;
  std::int64_t batch_size;
};

constexpr std::array nets{Net{"M3", 256}, Net{"resnet18", 64}, Net{"resnet50", 64}, Net{"mobilenet_v2", 64}};

bool plans_all() {
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

struct Planned {
  std::vector<std::shared_ptr<const CudnnPlan>> engines;  ///< those that are timed against each other on a GPU
  bool epilogue_apart = false;                            ///< bias and relu by our own kernel
  std::string why_not;

  /// The least workspace that a candidate needs, over the bytes of image, filter and result.
  double least_workspace(const ConvolutionProblem& problem) const {
    std::size_t least = std::numeric_limits<std::size_t>::max();
    for (const auto& engine : engines) least = std::min(least, engine->workspace_bytes());
    return static_cast<double>(least) / static_cast<double>(tensor_bytes(problem));
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
  std::size_t convolutions = 0, transposed = 0, apart = 0, fallbacks = 0;
  std::size_t fewest_engines = std::numeric_limits<std::size_t>::max();
  std::set<std::int64_t> first_engines;
  double largest_workspace = 0;  ///< the least that a convolution needs, over the bytes of its tensors

  void add(const ConvolutionProblem& problem, const Planned& planned) {
    ++convolutions;
    transposed += problem.transposes_filter() ? 1 : 0;
    apart += planned.epilogue_apart ? 1 : 0;
    fewest_engines = std::min(fewest_engines, planned.engines.size());
    if (planned.engines.empty()) return;
    fallbacks += planned.engines[0]->is_fallback() ? 1 : 0;
    first_engines.insert(planned.engines[0]->engine());
    largest_workspace = std::max(largest_workspace, planned.least_workspace(problem));
  }
  std::string line(const char* gpu, Dtype dtype, const std::string& net) const {
    return fmt::format("{:<5} {:<9} {:<13} {:>12} {:>6} {:>5} {:>8} {:>7} {:>9.2f}  {}", gpu, to_string(dtype), net,
                       convolutions, transposed, apart, fallbacks, fewest_engines, largest_workspace,
                       fmt::join(first_engines, " "));
  }
};

const std::filesystem::path table =
    std::filesystem::path(GPUBENCH_SOURCE_DIR) / "tests/core/backend/cuda/cudnn_plans.txt";

/// The lines of the table for this GPU; nothing if they are another cuDNN's.
std::optional<std::vector<std::string>> lines_of_table(const DescribedGpu& gpu) {
  std::ifstream file(table);
  std::string line;
  std::getline(file, line);
  if (line.find("cuDNN " + cudnn_version() + " ") == std::string::npos) return std::nullopt;
  std::vector<std::string> lines;
  while (std::getline(file, line)) {
    if (line.starts_with(fmt::format("{:<5} ", gpu.name))) lines.push_back(line);
  }
  return lines;
}

class CudnnModelPlans : public testing::TestWithParam<DescribedGpu> {};

TEST_P(CudnnModelPlans, EveryConvolutionOfATrainingStepHasADeterministicEngine) {
  const DescribedGpu& gpu = GetParam();
  const bool all = plans_all();
  constexpr std::size_t part = 12;
  constexpr double copies_of_all = 1.01;  // an engine that turns image and result into another layout, and its tables
  std::size_t index = static_cast<std::size_t>(gpu.multiprocessors);
  std::vector<std::string> lines;
  std::optional<std::vector<std::string>> kept;
  for (const Dtype dtype : gpu.types()) {
    const Asked& asked = asked_in(dtype);
    ASSERT_FALSE(asked.empty());
    const PlanningFor planning(gpu);
    CudnnHandle handle;
    if (all)
      std::printf("%s, %s, cuDNN %s\n", gpu.name, std::string(to_string(dtype)).c_str(), cudnn_version().c_str());
    std::map<std::string, Summary> summaries;
    for (const auto& [problem, of] : asked) {
      if (!all && index++ % part != 0) continue;
      const Planned planned = plan(problem, gpu, handle);
      if (all) std::printf("%s\n", row(problem, of, planned).c_str());
      for (const std::string& net : of) summaries[net].add(problem, planned);
      SCOPED_TRACE(row(problem, of, planned));
      EXPECT_FALSE(planned.engines.empty());
      if (planned.engines.empty()) continue;
      // Strict float32 is out of use: some GPUs have only fallbacks for it, which the table counts.
      EXPECT_TRUE(dtype == Dtype::f32 || !planned.engines[0]->is_fallback());
      EXPECT_LE(planned.least_workspace(problem), copies_of_all);
    }
    for (const auto& [net, summary] : summaries) lines.push_back(summary.line(gpu.name, dtype, net));
    kept = lines_of_table(gpu);
  }
  if (!all) return;
  std::printf("%s\n", fmt::format("{}", fmt::join(lines, "\n")).c_str());
  if (kept) {
    EXPECT_EQ(lines, *kept) << "the table is " << table;
  }
}

INSTANTIATE_TEST_SUITE_P(Gpus, CudnnModelPlans, testing::ValuesIn(described_gpus().begin(), described_gpus().end()),
                         [](const auto& gpu) { return std::string(gpu.param.name); });

}  // namespace
}  // namespace gpubench::cuda
