// For which attention the installed cuDNN has fused engines that keep our rules, on described GPUs. cuDNN compiles
// these engines when it plans them, some seconds each: by default one of each kind is planned, with CUDNN_PLANS=all all
// of them, which prints the table and compares cudnn_attention_plans.txt.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "core/backend/cuda/engine_plans.h"
#include "tests/core/backend/cuda/described_gpu.h"

namespace gpubench::cuda {
namespace {

struct Case {
  const char* name;
  AttentionProblem problem;
};

/// GPT-2's attention, and what may differ from it.
std::vector<Case> cases() {
  const AttentionProblem usual{.batch = 8,
                               .queries = 512,
                               .keys = 512,
                               .heads = 12,
                               .groups = 12,
                               .dim = 64,
                               .value_dim = 64,
                               .scale = 0.125F,
                               .causal = true};
  std::vector<Case> all{{"usual", usual}};
  const auto add = [&](const char* name, const auto& change) {
    all.push_back({name, usual});
    change(all.back().problem);
  };
  add("bfloat16", [](AttentionProblem& p) { p.dtype = Dtype::bf16; });
  add("not causal", [](AttentionProblem& p) { p.causal = false; });
  add("heads of 8", [](AttentionProblem& p) { p.dim = p.value_dim = 8; });
  add("heads of 12", [](AttentionProblem& p) { p.dim = p.value_dim = 12; });
  add("heads of 80", [](AttentionProblem& p) { p.dim = p.value_dim = 80; });
  add("heads of 128", [](AttentionProblem& p) { p.dim = p.value_dim = 128; });
  add("values of 32", [](AttentionProblem& p) { p.value_dim = 32; });
  add("4 groups", [](AttentionProblem& p) { p.groups = 4; });
  add("100 queries and keys", [](AttentionProblem& p) { p.queries = p.keys = 100; });
  add("100 queries, 77 keys", [](AttentionProblem& p) { p.queries = 100, p.keys = 77, p.causal = false; });
  add("4096 queries and keys", [](AttentionProblem& p) { p.queries = p.keys = 4096; });
  return all;
}

/// The engine that cuDNN expects to be fastest, or why there is none.
std::string engine_of(const AttentionProblem& problem, const DescribedGpu& gpu, CudnnHandle& handle) {
  const EngineRules rules{.dtype = problem.dtype, .workspace_limit = workspace_limit(gpu.memory_bytes())};
  std::string why_not;
  const auto engines = CudnnPlan::candidates(attention_graph(problem, handle.handle()), handle, rules, 1, why_not);
  if (engines.empty()) return "none: " + why_not;
  EXPECT_FALSE(engines[0]->is_fallback());
  return fmt::format("engine {}, {} bytes of workspace", engines[0]->engine(), engines[0]->workspace_bytes());
}

bool plans_all() {
  const char* const wanted = std::getenv("CUDNN_PLANS");
  return wanted != nullptr && std::string(wanted) == "all";
}

std::vector<std::string> lines_of_table(const DescribedGpu& gpu) {
  std::ifstream file(std::filesystem::path(GPUBENCH_SOURCE_DIR) / "tests/core/backend/cuda/cudnn_attention_plans.txt");
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(fmt::format("{:<5} ", gpu.name))) lines.push_back(line);
  }
  return lines;
}

class CudnnAttentionPlans : public testing::TestWithParam<DescribedGpu> {};

TEST_P(CudnnAttentionPlans, EnginesOfAttentionKeepOurRulesWhereTheTableSaysSo) {
  const DescribedGpu& gpu = GetParam();
  const std::string name = gpu.name;
  if (!plans_all() && name != "A100" && name != "H100") GTEST_SKIP() << "only with CUDNN_PLANS=all";
  const PlanningFor planning(gpu, WithDriver{});
  if (cudnn_version() != "9.19.0") GTEST_SKIP() << "the table is of cuDNN 9.19.0, installed is " << cudnn_version();
  CudnnHandle handle;
  const std::vector<std::string> table = lines_of_table(gpu);
  std::vector<std::string> lines;
  for (const bool gradient : {false, true}) {
    for (Case each : cases()) {
      each.problem.gradient = gradient;
      lines.push_back(fmt::format("{:<5} {:<8} {:<21} ", gpu.name, gradient ? "gradient" : "forward", each.name) +
                      engine_of(each.problem, gpu, handle));
      if (!plans_all()) break;  // the usual one
      std::printf("%s\n", lines.back().c_str());
    }
  }
  if (plans_all()) {
    EXPECT_EQ(lines, table);
    return;
  }
  for (const std::string& line : lines) EXPECT_TRUE(std::ranges::count(table, line) == 1) << line;
}

INSTANTIATE_TEST_SUITE_P(Gpus, CudnnAttentionPlans, testing::ValuesIn(described_gpus().begin(), described_gpus().end()),
                         [](const auto& gpu) { return std::string(gpu.param.name); });

}  // namespace
}  // namespace gpubench::cuda
