// Setting, finalizing and reading descriptors. Attributes are checked against a table of what NVIDIA documents.
#include "tests/support/cuda_on_cpu/dnn_descriptor.h"

#include <algorithm>
#include <atomic>

#include "tests/support/cuda_on_cpu/gpu.h"

namespace gpubench::cuda_on_cpu {
namespace {

struct Rule {
  cudnnBackendDescriptorType_t descriptor;
  cudnnBackendAttributeName_t name;
  cudnnBackendAttributeType_t type;
  std::int64_t count;  // 0: any
  bool required;
};

constexpr auto forward = CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR;
constexpr auto backward_data = CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR;
constexpr auto backward_filter = CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR;
constexpr auto pointwise = CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR;
constexpr auto product = CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR;
constexpr auto reduction = CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR;
constexpr auto reshape = CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR;
constexpr auto descriptor_type = CUDNN_TYPE_BACKEND_DESCRIPTOR;

constexpr Rule rules[] = {
    {CUDNN_BACKEND_TENSOR_DESCRIPTOR, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, true},
    {CUDNN_BACKEND_TENSOR_DESCRIPTOR, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, true},
    {CUDNN_BACKEND_TENSOR_DESCRIPTOR, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 0, true},
    {CUDNN_BACKEND_TENSOR_DESCRIPTOR, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 0, true},
    {CUDNN_BACKEND_TENSOR_DESCRIPTOR, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, true},
    {CUDNN_BACKEND_TENSOR_DESCRIPTOR, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, false},
    {CUDNN_BACKEND_TENSOR_DESCRIPTOR, CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, 1, false},
    {CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, true},
    {CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, true},
    {CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1, true},
    {CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR, CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, 0, true},
    {CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, 0, true},
    {CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, 0, true},
    {CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, 0, true},
    {forward, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, descriptor_type, 1, true},
    {forward, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, descriptor_type, 1, true},
    {forward, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, descriptor_type, 1, true},
    {forward, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, descriptor_type, 1, true},
    {forward, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_TYPE_FLOAT, 1, true},
    {forward, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, CUDNN_TYPE_FLOAT, 1, true},
    {backward_data, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC, descriptor_type, 1, true},
    {backward_data, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, descriptor_type, 1, true},
    {backward_data, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W, descriptor_type, 1, true},
    {backward_data, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY, descriptor_type, 1, true},
    {backward_data, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA, CUDNN_TYPE_FLOAT, 1, true},
    {backward_data, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA, CUDNN_TYPE_FLOAT, 1, true},
    {backward_filter, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC, descriptor_type, 1, true},
    {backward_filter, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X, descriptor_type, 1, true},
    {backward_filter, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW, descriptor_type, 1, true},
    {backward_filter, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY, descriptor_type, 1, true},
    {backward_filter, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA, CUDNN_TYPE_FLOAT, 1, true},
    {backward_filter, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA, CUDNN_TYPE_FLOAT, 1, true},
    {CUDNN_BACKEND_POINTWISE_DESCRIPTOR, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, true},
    {CUDNN_BACKEND_POINTWISE_DESCRIPTOR, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, 1, true},
    {CUDNN_BACKEND_POINTWISE_DESCRIPTOR, CUDNN_ATTR_POINTWISE_AXIS, CUDNN_TYPE_INT64, 1, false},
    {pointwise, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, descriptor_type, 1, true},
    {pointwise, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, descriptor_type, 1, true},
    {pointwise, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, descriptor_type, 1, false},
    {pointwise, CUDNN_ATTR_OPERATION_POINTWISE_TDESC, descriptor_type, 1, false},
    {pointwise, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, descriptor_type, 1, true},
    {CUDNN_BACKEND_MATMUL_DESCRIPTOR, CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, true},
    {product, CUDNN_ATTR_OPERATION_MATMUL_DESC, descriptor_type, 1, true},
    {product, CUDNN_ATTR_OPERATION_MATMUL_ADESC, descriptor_type, 1, true},
    {product, CUDNN_ATTR_OPERATION_MATMUL_BDESC, descriptor_type, 1, true},
    {product, CUDNN_ATTR_OPERATION_MATMUL_CDESC, descriptor_type, 1, true},
    {CUDNN_BACKEND_REDUCTION_DESCRIPTOR, CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, 1, true},
    {CUDNN_BACKEND_REDUCTION_DESCRIPTOR, CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, true},
    {reduction, CUDNN_ATTR_OPERATION_REDUCTION_DESC, descriptor_type, 1, true},
    {reduction, CUDNN_ATTR_OPERATION_REDUCTION_XDESC, descriptor_type, 1, true},
    {reduction, CUDNN_ATTR_OPERATION_REDUCTION_YDESC, descriptor_type, 1, true},
    {reshape, CUDNN_ATTR_OPERATION_RESHAPE_XDESC, descriptor_type, 1, true},
    {reshape, CUDNN_ATTR_OPERATION_RESHAPE_YDESC, descriptor_type, 1, true},
    {CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, true},
    {CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, CUDNN_ATTR_OPERATIONGRAPH_OPS, descriptor_type, 0, true},
    {CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, descriptor_type, 1, true},
    {CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, true},
    {CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, true},
    {CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, descriptor_type, 1, true},
    {CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, 0, true},
    {CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, 0, true},
    {CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, false},
};

std::size_t bytes_of(cudnnBackendAttributeType_t type) {
  switch (type) {
    case CUDNN_TYPE_BOOLEAN:
      return sizeof(bool);
    case CUDNN_TYPE_INT64:
    case CUDNN_TYPE_HANDLE:
    case CUDNN_TYPE_VOID_PTR:
    case CUDNN_TYPE_BACKEND_DESCRIPTOR:
      return 8;
    default:  // floats, and enumerations, which are ints
      return 4;
  }
}

cudnnStatus_t bad(const char* why) {
  return refused(CUDNN_STATUS_BAD_PARAM, why);
}

std::atomic<std::size_t> query_count{0};

/// What depends on a finalized part: a heuristic on its graph, a plan on its engine.
cudnnStatus_t finish(Descriptor& descriptor) {
  switch (descriptor.type) {
    case CUDNN_BACKEND_TENSOR_DESCRIPTOR:
      return finish_tensor(descriptor);
    case CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR:
      return finish_sliding(descriptor);
    case forward:
    case backward_data:
    case backward_filter:
    case pointwise:
    case product:
    case reduction:
    case reshape:
      return finish_operation(descriptor);
    case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR:
      return finish_graph(descriptor);
    case CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR:
      ++query_count;
      descriptor.operations = descriptor.part(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH).operations;
      return CUDNN_STATUS_SUCCESS;
    case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR: {
      const Descriptor& configuration = descriptor.part(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
      if (!configuration.engine.builds)
        return refused(CUDNN_STATUS_NOT_SUPPORTED, "the engine cannot do this after all");
      descriptor.operations = configuration.operations;
      descriptor.engine = configuration.engine;
      return CUDNN_STATUS_SUCCESS;
    }
    case CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR: {
      const std::int64_t ids = descriptor.attributes.at(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS).count;
      const std::int64_t pointers = descriptor.attributes.at(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS).count;
      return ids == pointers ? CUDNN_STATUS_SUCCESS : bad("a variant pack with as many ids as pointers");
    }
    default:
      return CUDNN_STATUS_SUCCESS;
  }
}

/// The descriptors that heuristics fill were created by the caller.
cudnnStatus_t fill_results(const Descriptor& heuristics, std::int64_t requested, std::int64_t* count, void* array) {
  const auto mode = heuristics.get<cudnnBackendHeurMode_t>(CUDNN_ATTR_ENGINEHEUR_MODE);
  const std::vector<Engine> engines = engines_for(heuristics.operations, mode);
  const auto found = static_cast<std::int64_t>(engines.size());
  if (requested == 0) {
    *count = found + 2;  // as the library, which announces more than it gives
    return CUDNN_STATUS_SUCCESS;
  }
  *count = std::min(found, requested);
  auto* const results = static_cast<cudnnBackendDescriptor_t*>(array);
  for (std::int64_t i = 0; i < *count; ++i) {
    auto* const result = static_cast<Descriptor*>(results[i]);
    if (result == nullptr || result->type != CUDNN_BACKEND_ENGINECFG_DESCRIPTOR) return bad("no engine configuration");
    result->engine = engines[static_cast<std::size_t>(i)];
    result->operations = heuristics.operations;
    result->finalized = true;
  }
  return CUDNN_STATUS_SUCCESS;
}

/// The descriptors were created by the caller.
cudnnStatus_t fill_knobs(const Descriptor& configuration, std::int64_t requested, std::int64_t* count, void* array) {
  if (configuration.type != CUDNN_BACKEND_ENGINECFG_DESCRIPTOR) return bad("no engine configuration");
  *count = 0;
  auto* const choices = static_cast<cudnnBackendDescriptor_t*>(array);
  for (const auto& knob : configuration.engine.knobs) {
    if (*count == requested) break;
    auto* const choice = static_cast<Descriptor*>(choices[(*count)++]);
    if (choice == nullptr || choice->type != CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR) return bad("no choice of a knob");
    choice->knob = knob;
    choice->finalized = true;
  }
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace

extern "C" {

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type, cudnnBackendDescriptor_t* descriptor) {
  auto* const created = new Descriptor;
  created->type = type;
  *descriptor = created;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
  delete static_cast<Descriptor*>(descriptor);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t handle, cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, std::int64_t count, const void* values) {
  Descriptor& descriptor = *static_cast<Descriptor*>(handle);
  if (descriptor.finalized) return bad("an attribute of a descriptor that is finalized");
  const auto rule = std::find_if(std::begin(rules), std::end(rules), [&](const Rule& each) {
    return each.descriptor == descriptor.type && each.name == name;
  });
  if (rule == std::end(rules)) return bad("an attribute that this descriptor has not");
  if (rule->type != type) return bad("an attribute of another type");
  if (values == nullptr || count < 1 || (rule->count != 0 && rule->count != count))
    return bad("the number of elements");
  Attribute& attribute = descriptor.attributes[name];
  attribute = {type, count, std::vector<std::byte>(static_cast<std::size_t>(count) * bytes_of(type))};
  std::memcpy(attribute.bytes.data(), values, attribute.bytes.size());
  for (std::int64_t i = 0; type == CUDNN_TYPE_BACKEND_DESCRIPTOR && i < count; ++i) {
    if (!descriptor.part(name, static_cast<std::size_t>(i)).finalized) return bad("a part that is not finalized");
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t handle) {
  Descriptor& descriptor = *static_cast<Descriptor*>(handle);
  if (descriptor.finalized) return bad("finalized twice");
  for (const Rule& rule : rules) {
    if (rule.descriptor == descriptor.type && rule.required && !descriptor.has(rule.name)) {
      return refused(CUDNN_STATUS_BAD_PARAM, "an attribute is missing: " + std::to_string(rule.name));
    }
  }
  const cudnnStatus_t status = finish(descriptor);
  descriptor.finalized = status == CUDNN_STATUS_SUCCESS;
  return status;
}

cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t const handle, cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, std::int64_t requested, std::int64_t* count,
                                       void* values) {
  const Descriptor& descriptor = *static_cast<const Descriptor*>(handle);
  if (!descriptor.finalized) return bad("an attribute of a descriptor that is not finalized");
  *count = 1;
  if (name == CUDNN_ATTR_ENGINEHEUR_RESULTS && type == CUDNN_TYPE_BACKEND_DESCRIPTOR) {
    return fill_results(descriptor, requested, count, values);
  }
  if (name == CUDNN_ATTR_ENGINECFG_ENGINE && type == CUDNN_TYPE_BACKEND_DESCRIPTOR && requested == 1) {
    auto* const engine = static_cast<Descriptor*>(*static_cast<cudnnBackendDescriptor_t*>(values));
    if (engine == nullptr || engine->type != CUDNN_BACKEND_ENGINE_DESCRIPTOR) return bad("no engine to fill");
    engine->engine = descriptor.engine;
    engine->finalized = true;
    return CUDNN_STATUS_SUCCESS;
  }
  if (name == CUDNN_ATTR_ENGINECFG_KNOB_CHOICES && type == CUDNN_TYPE_BACKEND_DESCRIPTOR) {
    return fill_knobs(descriptor, requested, count, values);
  }
  if (name == CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE && type == CUDNN_TYPE_KNOB_TYPE && requested == 1) {
    *static_cast<cudnnBackendKnobType_t*>(values) = static_cast<cudnnBackendKnobType_t>(descriptor.knob.first);
    return CUDNN_STATUS_SUCCESS;
  }
  if (name == CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE && type == CUDNN_TYPE_INT64 && requested == 1) {
    *static_cast<std::int64_t*>(values) = descriptor.knob.second;
    return CUDNN_STATUS_SUCCESS;
  }
  if (name == CUDNN_ATTR_ENGINE_GLOBAL_INDEX && type == CUDNN_TYPE_INT64 && requested == 1) {
    *static_cast<std::int64_t*>(values) = descriptor.engine.index;
    return CUDNN_STATUS_SUCCESS;
  }
  if (name == CUDNN_ATTR_ENGINE_NUMERICAL_NOTE && type == CUDNN_TYPE_NUMERICAL_NOTE) {
    *count = std::min(requested, static_cast<std::int64_t>(descriptor.engine.notes.size()));
    std::copy_n(descriptor.engine.notes.begin(), *count, static_cast<cudnnBackendNumericalNote_t*>(values));
    return CUDNN_STATUS_SUCCESS;
  }
  if (name == CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE && type == CUDNN_TYPE_INT64 && requested == 1) {
    *static_cast<std::int64_t*>(values) = descriptor.engine.workspace_bytes;
    return CUDNN_STATUS_SUCCESS;
  }
  return bad("an attribute that cannot be read so");
}
}

std::size_t engine_queries() {
  return query_count;
}

}  // namespace gpubench::cuda_on_cpu
