// Pointwise operations, products, reductions and reshapes, in double precision.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/support/cuda_on_cpu/dnn_values.h"
#include "tests/support/cuda_on_cpu/tensor_core.h"

namespace gpubench::cuda_on_cpu {
namespace {

cudnnStatus_t bad(const char* why) {
  return refused(CUDNN_STATUS_BAD_PARAM, why);
}

constexpr auto pointwise = CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR;
constexpr auto product = CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR;
constexpr auto reduction = CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR;

/// How many inputs a function has; 0: this cuDNN does not know it.
int inputs_of(cudnnPointwiseMode_t mode) {
  switch (mode) {
    case CUDNN_POINTWISE_RELU_FWD:
    case CUDNN_POINTWISE_EXP:
    case CUDNN_POINTWISE_LOG:
    case CUDNN_POINTWISE_GEN_INDEX:
      return 1;
    case CUDNN_POINTWISE_ADD:
    case CUDNN_POINTWISE_SUB:
    case CUDNN_POINTWISE_MUL:
    case CUDNN_POINTWISE_DIV:
    case CUDNN_POINTWISE_CMP_GE:
      return 2;
    case CUDNN_POINTWISE_BINARY_SELECT:
      return 3;
    default:
      return 0;
  }
}

bool stretches(const GraphTensor& from, const GraphTensor& to) {
  for (std::size_t i = 0; i < 4; ++i) {
    if (from.dims[i] != 1 && from.dims[i] != to.dims[i]) return false;
  }
  return true;
}

cudnnStatus_t read_pointwise(const Descriptor& descriptor, GraphOperation& operation) {
  const Descriptor& function = descriptor.part(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
  if (function.type != CUDNN_BACKEND_POINTWISE_DESCRIPTOR) return bad("no pointwise descriptor");
  operation.mode = function.get<cudnnPointwiseMode_t>(CUDNN_ATTR_POINTWISE_MODE);
  operation.from = tensor_of(descriptor.part(CUDNN_ATTR_OPERATION_POINTWISE_XDESC));
  operation.to = tensor_of(descriptor.part(CUDNN_ATTR_OPERATION_POINTWISE_YDESC));
  const int inputs = inputs_of(operation.mode);
  if (inputs == 0) return refused(CUDNN_STATUS_NOT_SUPPORTED, "this cuDNN does not know the pointwise function");
  if ((inputs > 1) != descriptor.has(CUDNN_ATTR_OPERATION_POINTWISE_BDESC)) return bad("the number of inputs");
  if ((inputs > 2) != descriptor.has(CUDNN_ATTR_OPERATION_POINTWISE_TDESC)) return bad("the number of inputs");
  const bool is_index = operation.mode == CUDNN_POINTWISE_GEN_INDEX;
  if (is_index != function.has(CUDNN_ATTR_POINTWISE_AXIS)) return bad("an axis, or none");
  if (is_index) operation.axis = function.get<std::int64_t>(CUDNN_ATTR_POINTWISE_AXIS);
  if (operation.from.dims != operation.to.dims) return bad("the dimensions differ");
  if (inputs > 1) operation.with = tensor_of(descriptor.part(CUDNN_ATTR_OPERATION_POINTWISE_BDESC));
  if (inputs > 2) operation.chosen = tensor_of(descriptor.part(CUDNN_ATTR_OPERATION_POINTWISE_TDESC));
  for (const auto& other : {operation.with, operation.chosen}) {
    if (other && !stretches(*other, operation.to)) return bad("the second input cannot be stretched");
  }
  return CUDNN_STATUS_SUCCESS;
}

/// Batches of heads: the second operand may have fewer of them, each for several of the first.
cudnnStatus_t read_product(const Descriptor& descriptor, GraphOperation& operation) {
  operation.from = tensor_of(descriptor.part(CUDNN_ATTR_OPERATION_MATMUL_ADESC));
  operation.with = tensor_of(descriptor.part(CUDNN_ATTR_OPERATION_MATMUL_BDESC));
  operation.to = tensor_of(descriptor.part(CUDNN_ATTR_OPERATION_MATMUL_CDESC));
  const auto &a = operation.from.dims, &b = operation.with->dims, &c = operation.to.dims;
  if (a[3] != b[2] || a[2] != c[2] || b[3] != c[3]) return bad("the matrices do not fit");
  if (a[0] != b[0] || a[0] != c[0] || a[1] != c[1] || a[1] % b[1] != 0) return bad("the batches do not fit");
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t read_reduction(const Descriptor& descriptor, GraphOperation& operation) {
  const Descriptor& function = descriptor.part(CUDNN_ATTR_OPERATION_REDUCTION_DESC);
  operation.reduction = function.get<cudnnReduceTensorOp_t>(CUDNN_ATTR_REDUCTION_OPERATOR);
  operation.from = tensor_of(descriptor.part(CUDNN_ATTR_OPERATION_REDUCTION_XDESC));
  operation.to = tensor_of(descriptor.part(CUDNN_ATTR_OPERATION_REDUCTION_YDESC));
  if (operation.reduction != CUDNN_REDUCE_TENSOR_ADD && operation.reduction != CUDNN_REDUCE_TENSOR_MAX) {
    return refused(CUDNN_STATUS_NOT_SUPPORTED, "this cuDNN has sums and maxima only");
  }
  for (std::size_t i = 0; i < 4; ++i) {
    if (operation.from.dims[i] % operation.to.dims[i] != 0) return bad("the reduced dimensions do not divide");
  }
  return CUDNN_STATUS_SUCCESS;
}

std::int64_t count_of(const GraphTensor& tensor) {
  return tensor.dims[0] * tensor.dims[1] * tensor.dims[2] * tensor.dims[3];
}

cudnnStatus_t read_reshape(const Descriptor& descriptor, GraphOperation& operation) {
  operation.from = tensor_of(descriptor.part(CUDNN_ATTR_OPERATION_RESHAPE_XDESC));
  operation.to = tensor_of(descriptor.part(CUDNN_ATTR_OPERATION_RESHAPE_YDESC));
  return count_of(operation.from) == count_of(operation.to) ? CUDNN_STATUS_SUCCESS : bad("the number of elements");
}

double applied(const GraphOperation& op, Values& values, const Values::At& at) {
  const double x = values.read(op.from, at), y = op.with ? values.read(*op.with, at) : 0;
  switch (op.mode) {
    case CUDNN_POINTWISE_RELU_FWD:
      return std::max(x, 0.0);
    case CUDNN_POINTWISE_EXP:
      return std::exp(x);
    case CUDNN_POINTWISE_LOG:
      return std::log(x);
    case CUDNN_POINTWISE_GEN_INDEX:
      return static_cast<double>(at[static_cast<std::size_t>(op.axis)]);
    case CUDNN_POINTWISE_SUB:
      return x - y;
    case CUDNN_POINTWISE_MUL:
      return x * y;
    case CUDNN_POINTWISE_DIV:
      return x / y;
    case CUDNN_POINTWISE_CMP_GE:
      return x >= y ? 1 : 0;
    case CUDNN_POINTWISE_BINARY_SELECT:
      return values.read(*op.chosen, at) != 0 ? x : y;
    default:
      return x + y;
  }
}

void multiply(const GraphOperation& op, Values& values) {
  const std::int64_t heads_per_group = op.from.dims[1] / op.with->dims[1];
  for_each(op.to.dims, [&](const Values::At& at) {
    double sum = 0;
    for (std::int64_t k = 0; k < op.from.dims[3]; ++k) {
      sum += values.read(op.from, {at[0], at[1], at[2], k}) *
             values.read(*op.with, {at[0], at[1] / heads_per_group, k, at[3]});
    }
    values.write(op.to, at, sum);
  });
}

void reduce(const GraphOperation& op, Values& values) {
  Values::At span{};
  for (std::size_t i = 0; i < 4; ++i) span[i] = op.from.dims[i] / op.to.dims[i];
  const bool adds = op.reduction == CUDNN_REDUCE_TENSOR_ADD;
  for_each(op.to.dims, [&](const Values::At& to) {
    double result = adds ? 0 : -std::numeric_limits<double>::infinity();
    for_each(span, [&](const Values::At& within) {
      Values::At at{};
      for (std::size_t i = 0; i < 4; ++i) at[i] = to[i] * span[i] + within[i];
      const double value = values.read(op.from, at);
      result = adds ? result + value : std::isnan(value) ? value : std::max(result, value);
    });
    values.write(op.to, to, result);
  });
}

/// Elements keep their places in memory; the dimensions are those of one transposed matrix.
void reshape(const GraphOperation& op, Values& values) {
  for_each(op.to.dims, [&](const Values::At& at) {
    values.write(op.to, at, values.read(op.from, {at[0], at[1], at[3], at[2]}));
  });
}

std::int64_t offset(const GraphTensor& tensor, const Values::At& at) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < 4; ++i) sum += (tensor.dims[i] == 1 ? 0 : at[i]) * tensor.strides[i];
  return sum;
}

}  // namespace

bool GraphOperation::is_convolution() const {
  return kind == CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR ||
         kind == CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR ||
         kind == CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR;
}

std::vector<GraphTensor> GraphOperation::tensors() const {
  if (is_convolution()) return {image, filter, result};
  std::vector<GraphTensor> all{from, to};
  if (with) all.push_back(*with);
  if (chosen) all.push_back(*chosen);
  return all;
}

cudnnStatus_t read_operation(const Descriptor& descriptor, GraphOperation& operation) {
  if (descriptor.type == pointwise) return read_pointwise(descriptor, operation);
  if (descriptor.type == product) return read_product(descriptor, operation);
  if (descriptor.type == reduction) return read_reduction(descriptor, operation);
  return read_reshape(descriptor, operation);
}

bool is_attention(const std::vector<GraphOperation>& operations) {
  std::size_t products = 0, exponentials = 0;
  for (const GraphOperation& operation : operations) {
    if (operation.is_convolution()) return false;
    if (operation.kind == pointwise && operation.mode == CUDNN_POINTWISE_EXP) ++exponentials;
    if (operation.kind != product) continue;
    ++products;
    for (const GraphTensor& tensor : operation.tensors()) {
      if (!tensor.is_virtual && tensor.type == CUDNN_DATA_FLOAT) return false;
    }
  }
  return exponentials == 1 && (products == 2 || products == 5);
}

std::vector<std::byte>& Values::kept(const GraphTensor& tensor) {
  std::vector<std::byte>& bytes = virtual_[tensor.id];
  if (bytes.empty()) bytes.resize(static_cast<std::size_t>(count_of(tensor)) * sizeof(float));
  return bytes;
}

double Values::read(const GraphTensor& tensor, const At& at) {
  const void* const data = tensor.is_virtual ? kept(tensor).data() : memory_.at(tensor.id);
  const cudnnDataType_t type = tensor.type == CUDNN_DATA_BOOLEAN ? CUDNN_DATA_FLOAT : tensor.type;
  const double value = load(data, type, offset(tensor, at));
  const bool rounds = as_tf32_ && !tensor.is_virtual && type == CUDNN_DATA_FLOAT;
  return rounds ? cuda_on_cpu::as_tf32(value) : value;
}

void Values::write(const GraphTensor& tensor, const At& at, double value) {
  void* const data = tensor.is_virtual ? kept(tensor).data() : memory_.at(tensor.id);
  store(data, tensor.type == CUDNN_DATA_BOOLEAN ? CUDNN_DATA_FLOAT : tensor.type, offset(tensor, at), value);
}

void Values::blend(const GraphTensor& tensor, const At& at, const GraphOperation& operation, double value) {
  value *= operation.alpha;
  if (operation.beta != 0) value += operation.beta * read(tensor, at);
  write(tensor, at, value);
}

void compute(const GraphOperation& operation, Values& values) {
  if (operation.kind == product) {
    multiply(operation, values);
  } else if (operation.kind == reduction) {
    reduce(operation, values);
  } else if (operation.kind == pointwise) {
    for_each(operation.to.dims,
             [&](const Values::At& at) { values.write(operation.to, at, applied(operation, values, at)); });
  } else {
    reshape(operation, values);
  }
}

}  // namespace gpubench::cuda_on_cpu
