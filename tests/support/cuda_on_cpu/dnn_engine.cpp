// The engines, and the computation. Beside the one that is good there are those that a careful caller does not take: an
// engine that needs more memory than there is, one that cannot be built, and those whose notes say that they round.
#include <algorithm>
#include <cmath>

#include "tests/support/cuda_on_cpu/dnn_values.h"
#include "tests/support/cuda_on_cpu/gpu.h"

namespace gpubench::cuda_on_cpu {
namespace {

constexpr std::int64_t tensor_core_engine = 42, attention_engine = 5;

std::array<std::int64_t, 4> channels_last(const std::array<std::int64_t, 4>& dims) {
  return {dims[1] * dims[2] * dims[3], 1, dims[1] * dims[3], dims[1]};
}

/// Whether the layouts and the order of operations are those that the library has engines for.
bool is_known(const std::vector<GraphOperation>& operations) {
  const GraphOperation& first = operations[0];
  if (!first.is_convolution()) return false;
  for (const GraphTensor* tensor : {&first.image, &first.filter, &first.result}) {
    if (tensor->strides != channels_last(tensor->dims)) return false;
  }
  if (first.image.type != first.filter.type) return false;
  if (operations.size() == 1) return first.result.type == first.image.type && !first.result.is_virtual;
  if (!machine().cudnn_fuses || first.kind != CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR) return false;
  // A bias, then relu; what lies between in float32.
  for (std::size_t i = 1; i < operations.size(); ++i) {
    const GraphOperation& operation = operations[i];
    const GraphTensor& before = i == 1 ? first.result : operations[i - 1].to;
    if (i > 2 || operation.mode != (i == 1 ? CUDNN_POINTWISE_ADD : CUDNN_POINTWISE_RELU_FWD)) return false;
    if (operation.from.id != before.id || !before.is_virtual || before.type != CUDNN_DATA_FLOAT) return false;
    const std::array<std::int64_t, 4> bias{1, operation.to.dims[1], 1, 1};
    if (operation.with && operation.with->dims != bias) return false;
  }
  const GraphTensor& last = operations.back().to;
  return !last.is_virtual && last.type == first.image.type;
}

void convolve(const GraphOperation& op, Values& values) {
  const bool forward = op.kind == CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR;
  const bool data = op.kind == CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR;
  const GraphTensor& target = forward ? op.result : data ? op.image : op.filter;
  const auto& dims = target.dims;
  std::vector<double> sums(static_cast<std::size_t>(dims[0] * dims[1] * dims[2] * dims[3]));
  const auto place = [&](const auto& at) {
    return static_cast<std::size_t>(((at[0] * dims[1] + at[1]) * dims[2] + at[2]) * dims[3] + at[3]);
  };
  const auto add = [&](const auto& at, double value) { sums[place(at)] += value; };
  const std::int64_t groups = op.image.dims[1] / op.filter.dims[1], outputs_of_group = op.result.dims[1] / groups;
  for_each(op.result.dims, [&](const auto& y) {
    const std::int64_t first_channel = y[1] / outputs_of_group * op.filter.dims[1];
    for_each({1, op.filter.dims[1], op.filter.dims[2], op.filter.dims[3]}, [&](const auto& tap) {
      const std::int64_t row = y[2] * op.strides[0] - op.before[0] + tap[2] * op.dilations[0];
      const std::int64_t column = y[3] * op.strides[1] - op.before[1] + tap[3] * op.dilations[1];
      if (row < 0 || row >= op.image.dims[2] || column < 0 || column >= op.image.dims[3]) return;
      const std::array x{y[0], first_channel + tap[1], row, column}, w{y[1], tap[1], tap[2], tap[3]};
      if (forward) add(y, values.read(op.image, x) * values.read(op.filter, w));
      if (data) add(x, values.read(op.result, y) * values.read(op.filter, w));
      if (!forward && !data) add(w, values.read(op.image, x) * values.read(op.result, y));
    });
  });
  for_each(dims, [&](const auto& at) { values.blend(target, at, op, sums[place(at)]); });
}

/// Heads of whole 16 bytes and of at most 128 numbers. The fastest gradient adds in any order.
std::vector<Engine> attention_engines(const std::vector<GraphOperation>& operations) {
  for (const GraphOperation& operation : operations) {
    for (const GraphTensor& tensor : operation.tensors()) {
      const bool has_heads = !tensor.is_virtual && tensor.type != CUDNN_DATA_FLOAT;
      const std::int64_t dim = tensor.strides[3] == 1 ? tensor.dims[3] : tensor.dims[2];
      if (has_heads && (dim % 8 != 0 || dim > 128)) return {};
    }
  }
  return {{.index = 6, .notes = {CUDNN_NUMERICAL_NOTE_TENSOR_CORE, CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC}},
          {.index = attention_engine, .notes = {CUDNN_NUMERICAL_NOTE_TENSOR_CORE}, .workspace_bytes = 1024}};
}

std::vector<Engine> as_machine_says(std::vector<Engine> engines) {
  const auto& given = machine().engine_workspace_bytes;
  const auto& knobs = machine().engine_knobs;
  for (Engine& engine : engines) {
    if (given.contains(engine.index)) engine.workspace_bytes = given.at(engine.index);
    if (knobs.contains(engine.index)) engine.knobs = knobs.at(engine.index);
  }
  return engines;
}

}  // namespace

std::vector<Engine> engines_for(const std::vector<GraphOperation>& operations, cudnnBackendHeurMode_t mode) {
  constexpr std::int64_t workspace = 4096;
  if (is_attention(operations) && mode == CUDNN_HEUR_MODE_A) return as_machine_says(attention_engines(operations));
  if (!is_known(operations)) return {};
  if (mode == CUDNN_HEUR_MODE_FALLBACK) return {{.index = 0, .notes = {CUDNN_NUMERICAL_NOTE_STRICT_NAN_PROP}}};
  std::vector<Engine> engines = {
      {.index = 40, .notes = {CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC}},
      {.index = 41, .notes = {CUDNN_NUMERICAL_NOTE_TENSOR_CORE, CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION}},
      {.index = 43, .builds = false},
      {.index = 44, .workspace_bytes = std::int64_t{1} << 40},
      {.index = tensor_core_engine, .notes = {CUDNN_NUMERICAL_NOTE_TENSOR_CORE}, .workspace_bytes = workspace},
  };
  const GraphOperation& first = operations[0];
  const bool strict = first.image.type == CUDNN_DATA_FLOAT;
  if (strict && first.dilations == std::array<std::int64_t, 2>{1, 1}) {
    engines.push_back({.index = 45, .workspace_bytes = workspace});
  }
  return as_machine_says(std::move(engines));
}

extern "C" cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan_handle,
                                             cudnnBackendDescriptor_t pack_handle) {
  const Descriptor &plan = *static_cast<Descriptor*>(plan_handle), &pack = *static_cast<Descriptor*>(pack_handle);
  if (!plan.finalized || !pack.finalized) return refused(CUDNN_STATUS_BAD_PARAM, "a plan or a pack is not finalized");
  std::map<std::int64_t, void*> memory;
  for (std::int64_t i = 0; i < pack.attributes.at(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS).count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    memory[pack.get<std::int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, at)] =
        pack.get<void*>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, at);
  }
  std::map<std::int64_t, float> numbers;  // as they are now
  for (const GraphOperation& operation : plan.operations) {
    for (const GraphTensor& tensor : operation.tensors()) {
      if (tensor.is_virtual) continue;
      if (!memory.contains(tensor.id)) return refused(CUDNN_STATUS_BAD_PARAM, "a tensor of the graph has no memory");
      const auto address = reinterpret_cast<std::uintptr_t>(memory[tensor.id]);
      if (address == 0 || (address % 16 != 0 && !tensor.by_value)) {
        return refused(CUDNN_STATUS_BAD_PARAM, "memory that is not aligned");
      }
      if (tensor.by_value) std::memcpy(&numbers[tensor.id], memory[tensor.id], sizeof(float));
    }
  }
  void* workspace = nullptr;
  if (pack.has(CUDNN_ATTR_VARIANT_PACK_WORKSPACE)) workspace = pack.get<void*>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE);
  if (plan.engine.workspace_bytes > 0 && workspace == nullptr) return refused(CUDNN_STATUS_BAD_PARAM, "no workspace");
  const auto work = [operations = plan.operations, engine = plan.engine, memory, numbers, workspace]() mutable {
    const auto use_workspace = [&] {
      if (workspace != nullptr) std::memset(workspace, 0xA5, static_cast<std::size_t>(engine.workspace_bytes));
    };
    use_workspace();
    for (auto& [id, number] : numbers) memory[id] = &number;
    Values values(memory, engine.index == tensor_core_engine);
    for (const GraphOperation& operation : operations) {
      if (operation.is_convolution()) {
        convolve(operation, values);
      } else {
        compute(operation, values);
      }
    }
    use_workspace();
  };
  const auto& known = machine().engine_milliseconds;
  const auto milliseconds = known.find(plan.engine.index);
  return queue(handle, work, milliseconds == known.end() ? 1 : milliseconds->second);
}

}  // namespace gpubench::cuda_on_cpu
