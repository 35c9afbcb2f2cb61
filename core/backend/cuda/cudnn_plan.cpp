#include "core/backend/cuda/cudnn_plan.h"

#include <algorithm>
#include <fmt/format.h>

namespace gpubench::cuda {

namespace {

/// Engines as cuDNN proposes them; empty where it has none for the graph.
std::vector<BackendDescriptor> proposed_engines(const CudnnGraph& graph, cudnnBackendHeurMode_t mode,
                                                std::string& why_not) {
  const BackendDescriptor heuristics(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  const cudnnBackendDescriptor_t operations = graph.graph.get();
  check(cudnn().backend_set_attribute(heuristics.get(), CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH,
                                      CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &operations),
        "cudnnBackendSetAttribute");
  check(cudnn().backend_set_attribute(heuristics.get(), CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode),
        "cudnnBackendSetAttribute");
  std::int64_t count = 0;
  cudnnStatus_t status = cudnn().backend_finalize(heuristics.get());
  if (status == CUDNN_STATUS_SUCCESS) {
    status = cudnn().backend_get_attribute(heuristics.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                           CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count, nullptr);
  }
  std::vector<BackendDescriptor> result;
  std::vector<cudnnBackendDescriptor_t> handles;
  for (std::int64_t i = 0; i < count; ++i) {
    handles.push_back(result.emplace_back(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR).get());
  }
  if (status == CUDNN_STATUS_SUCCESS && count > 0) {
    status = cudnn().backend_get_attribute(heuristics.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                           CUDNN_TYPE_BACKEND_DESCRIPTOR, count, &count, handles.data());
  }
  if (status != CUDNN_STATUS_SUCCESS) {
    why_not = cudnn_reason(status);
    return {};
  }
  while (static_cast<std::int64_t>(result.size()) > count) result.pop_back();  // it filled fewer than it announced
  return result;
}

struct Engine {
  std::int64_t index = -1;
  std::vector<cudnnBackendNumericalNote_t> notes;
};

Engine engine_of(const BackendDescriptor& configuration) {
  const BackendDescriptor descriptor(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  cudnnBackendDescriptor_t handle = descriptor.get();
  std::int64_t count = 0;
  check(cudnn().backend_get_attribute(configuration.get(), CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                      1, &count, &handle),
        "cudnnBackendGetAttribute of an engine");
  Engine engine;
  check(
      cudnn().backend_get_attribute(handle, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1, &count, &engine.index),
      "cudnnBackendGetAttribute of an engine's index");
  engine.notes.resize(CUDNN_NUMERICAL_NOTE_TYPE_COUNT);
  check(cudnn().backend_get_attribute(handle, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE,
                                      CUDNN_NUMERICAL_NOTE_TYPE_COUNT, &count, engine.notes.data()),
        "cudnnBackendGetAttribute of an engine's notes");
  engine.notes.resize(static_cast<std::size_t>(count));
  return engine;
}

/// The plan of a configuration, where the engine can do the graph after all.
std::optional<BackendDescriptor> build(const BackendDescriptor& configuration, cudnnHandle_t handle,
                                       std::string& why_not) {
  BackendDescriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  const cudnnBackendDescriptor_t engine = configuration.get();
  check(cudnn().backend_set_attribute(plan.get(), CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle),
        "cudnnBackendSetAttribute");
  check(cudnn().backend_set_attribute(plan.get(), CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,
                                      CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &engine),
        "cudnnBackendSetAttribute");
  const cudnnStatus_t status = cudnn().backend_finalize(plan.get());
  if (status == CUDNN_STATUS_SUCCESS) return plan;
  why_not = cudnn_reason(status);
  return std::nullopt;
}

/// "engine 42", with its knobs where it has some.
std::string name_of(const Engine& engine, const BackendDescriptor& configuration) {
  std::vector<BackendDescriptor> choices;
  std::vector<cudnnBackendDescriptor_t> handles;
  for (int i = 0; i < CUDNN_KNOB_TYPE_COUNTS; ++i) {
    handles.push_back(choices.emplace_back(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR).get());
  }
  std::int64_t count = 0, one = 0;
  check(cudnn().backend_get_attribute(configuration.get(), CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
                                      CUDNN_TYPE_BACKEND_DESCRIPTOR, CUDNN_KNOB_TYPE_COUNTS, &count, handles.data()),
        "cudnnBackendGetAttribute of an engine's knobs");
  std::string knobs;
  for (std::int64_t i = 0; i < count; ++i) {
    const cudnnBackendDescriptor_t choice = handles[static_cast<std::size_t>(i)];
    cudnnBackendKnobType_t type{};
    std::int64_t value = 0;
    check(cudnn().backend_get_attribute(choice, CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, 1, &one, &type),
          "cudnnBackendGetAttribute of a knob's type");
    check(cudnn().backend_get_attribute(choice, CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64, 1, &one, &value),
          "cudnnBackendGetAttribute of a knob's value");
    knobs += fmt::format("{}k{}={}", knobs.empty() ? "" : " ", static_cast<int>(type), value);
  }
  return fmt::format("engine {}", engine.index) + (knobs.empty() ? "" : " (" + knobs + ")");
}

std::size_t workspace_of(const BackendDescriptor& plan) {
  std::int64_t bytes = 0, count = 0;
  check(cudnn().backend_get_attribute(plan.get(), CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, &count,
                                      &bytes),
        "cudnnBackendGetAttribute of a plan's workspace");
  return static_cast<std::size_t>(bytes);
}

}  // namespace

bool keeps_rules(const EngineRules& rules, std::span<const cudnnBackendNumericalNote_t> notes) {
  const auto has = [&](cudnnBackendNumericalNote_t note) {
    return std::find(notes.begin(), notes.end(), note) != notes.end();
  };
  if (has(CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC) || has(CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION)) return false;
  if (rules.dtype != Dtype::f32) return true;
  return !has(CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS) && (rules.tf32 || !has(CUDNN_NUMERICAL_NOTE_TENSOR_CORE));
}

std::size_t workspace_limit(std::size_t memory_bytes) {
  constexpr std::size_t share = 8, most = std::size_t{4} << 30;
  return std::min(memory_bytes / share, most);
}

CudnnPlan::CudnnPlan(CudnnHandle& handle, BackendDescriptor plan, std::int64_t engine, std::size_t workspace_bytes)
    : handle_(&handle), plan_(std::move(plan)), engine_(engine), workspace_bytes_(workspace_bytes) {}

std::vector<std::shared_ptr<const CudnnPlan>> CudnnPlan::candidates(CudnnGraph graph, CudnnHandle& handle,
                                                                    const EngineRules& rules, std::size_t most,
                                                                    std::string& why_not) {
  const auto shared_graph = std::make_shared<const CudnnGraph>(std::move(graph));
  std::vector<std::shared_ptr<const CudnnPlan>> result;
  why_not = "cuDNN proposes no engine";
  for (const cudnnBackendHeurMode_t mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
    for (BackendDescriptor& configuration : proposed_engines(*shared_graph, mode, why_not)) {
      const Engine engine = engine_of(configuration);
      if (!keeps_rules(rules, engine.notes)) continue;
      std::optional<BackendDescriptor> built = build(configuration, handle.handle(), why_not);
      if (!built) continue;
      const std::size_t workspace = workspace_of(*built);
      if (workspace > rules.workspace_limit) {
        why_not = fmt::format("engine {} needs {} bytes of workspace", engine.index, workspace);
        continue;
      }
      const std::shared_ptr<CudnnPlan> plan(new CudnnPlan(handle, std::move(*built), engine.index, workspace));
      plan->name_ = name_of(engine, configuration);
      plan->graph_ = shared_graph;
      plan->configuration_ = std::move(configuration);
      plan->is_fallback_ = mode == CUDNN_HEUR_MODE_FALLBACK;
      result.push_back(plan);
      if (result.size() == most) return result;
    }
    if (!result.empty()) break;
  }
  return result;
}

void CudnnRun::pack(std::span<void* const> memory, void* workspace) {
  pack_.reset();
  packed_.assign(memory.begin(), memory.end());
  packed_.push_back(workspace);
  BackendDescriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  const auto set = [&](cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, std::size_t count,
                       const void* values) {
    check(cudnn().backend_set_attribute(pack.get(), name, type, static_cast<std::int64_t>(count), values),
          "cudnnBackendSetAttribute of a variant pack");
  };
  std::vector<std::int64_t> ids = plan_->graph_->ids;
  std::vector<void*> pointers(memory.begin(), memory.end());
  for (const auto& [id, value] : plan_->graph_->constants) {
    ids.push_back(id);
    pointers.push_back(const_cast<float*>(&value));  // cuDNN only reads it
  }
  set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, ids.size(), ids.data());
  set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, pointers.size(), pointers.data());
  set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &packed_.back());
  check(cudnn().backend_finalize(pack.get()), "cudnnBackendFinalize of a variant pack");
  pack_ = std::move(pack);
}

void CudnnRun::run(cudaStream_t stream, std::span<void* const> memory, void* workspace) {
  const bool same = pack_ && packed_.back() == workspace && std::equal(memory.begin(), memory.end(), packed_.begin());
  if (!same) pack(memory, workspace);
  plan_->handle_->queue(stream, "cudnnBackendExecute", [&](cudnnHandle_t handle) {
    return cudnn().backend_execute(handle, plan_->plan_.get(), pack_->get());
  });
}

}  // namespace gpubench::cuda
