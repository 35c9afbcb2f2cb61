#include "core/backend/cuda/attention_graph.h"

#include <limits>

namespace gpubench::cuda {
namespace {

/// Heads of a tensor [batch, time, heads, dim] as [batch, heads, time, dim].
FourExtents head_strides(std::int64_t time, std::int64_t heads, std::int64_t dim) {
  return {time * heads * dim, dim, heads * dim, 1};
}

FourExtents transposed(FourExtents extents) {
  std::swap(extents[2], extents[3]);
  return extents;
}

class AttentionBuilder : public GraphBuilder {
 public:
  explicit AttentionBuilder(const AttentionProblem& problem)
      : p_(problem),
        type_(cudnn_type(problem.dtype)),
        weights_{problem.batch, problem.heads, problem.queries, problem.keys},
        rows_{problem.batch, problem.heads, problem.queries, 1} {}

  void forward() {
    const GraphTensor q = queries(p_.dim), k = keys_turned(p_.dim), v = keys(p_.value_dim);
    const GraphTensor out = queries(p_.value_dim), logs = rows();
    const GraphTensor products = masked(scaled(product(q, k, add_virtual(weights_))));
    const GraphTensor largest = reduced(CUDNN_REDUCE_TENSOR_MAX, products, add_virtual(rows_));
    const GraphTensor powers = function(CUDNN_POINTWISE_EXP, combined(CUDNN_POINTWISE_SUB, products, largest));
    const GraphTensor totals = reduced(CUDNN_REDUCE_TENSOR_ADD, powers, add_virtual(rows_));
    add_pointwise(CUDNN_POINTWISE_ADD, largest, function(CUDNN_POINTWISE_LOG, totals), logs);
    const GraphTensor weights = add_virtual(weights_, type_);
    add_pointwise(CUDNN_POINTWISE_DIV, powers, totals, weights);
    product(weights, v, out);
  }

  void gradient() {
    const GraphTensor q = queries(p_.dim), k = keys_turned(p_.dim), v = keys_turned(p_.value_dim);
    const GraphTensor out = queries(p_.value_dim), logs = rows(), dout = queries(p_.value_dim), dots = rows();
    const GraphTensor dq = queries(p_.dim), dk = keys(p_.dim), dv = keys(p_.value_dim);

    const GraphTensor dot =
        reduced(CUDNN_REDUCE_TENSOR_ADD, combined(CUDNN_POINTWISE_MUL, dout, out), add_virtual(rows_));
    add_pointwise(CUDNN_POINTWISE_MUL, dot, add_constant(1), dots);

    const GraphTensor products = scaled(product(q, k, add_virtual(weights_)));
    const GraphTensor weights = function(CUDNN_POINTWISE_EXP, masked(combined(CUDNN_POINTWISE_SUB, products, logs)));
    product_of_keys(turned(weights), dout, dv);

    const GraphTensor slopes = combined(CUDNN_POINTWISE_SUB, product(dout, v, add_virtual(weights_)), dots);
    const GraphTensor dproducts = scaled(combined(CUDNN_POINTWISE_MUL, slopes, weights));
    product_of_keys(turned(dproducts), q, dk);
    product(dproducts, reshaped(k, add_virtual(transposed(k.dimensions), transposed(k.strides), type_)), dq);
  }

 private:
  GraphTensor queries(std::int64_t dim) {
    return add_tensor({p_.batch, p_.heads, p_.queries, dim}, head_strides(p_.queries, p_.heads, dim), type_);
  }
  GraphTensor keys(std::int64_t dim) {
    return add_tensor({p_.batch, p_.groups, p_.keys, dim}, head_strides(p_.keys, p_.groups, dim), type_);
  }
  /// [batch, groups, dim, keys]
  GraphTensor keys_turned(std::int64_t dim) {
    return add_tensor({p_.batch, p_.groups, dim, p_.keys}, transposed(head_strides(p_.keys, p_.groups, dim)), type_);
  }
  GraphTensor rows() { return add_tensor(rows_, packed_strides(rows_), CUDNN_DATA_FLOAT); }

  GraphTensor product(const GraphTensor& a, const GraphTensor& b, const GraphTensor& to) {
    BackendDescriptor descriptor(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
    set_attribute(descriptor, CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_DATA_FLOAT);
    finalize(descriptor, "cudnnBackendFinalize of a product");
    BackendDescriptor operation(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
    set_attribute(operation, CUDNN_ATTR_OPERATION_MATMUL_DESC, add(std::move(descriptor)));
    set_attribute(operation, CUDNN_ATTR_OPERATION_MATMUL_ADESC, *a.descriptor);
    set_attribute(operation, CUDNN_ATTR_OPERATION_MATMUL_BDESC, *b.descriptor);
    set_attribute(operation, CUDNN_ATTR_OPERATION_MATMUL_CDESC, *to.descriptor);
    add_operation(std::move(operation), "cudnnBackendFinalize of a product's operation");
    return to;
  }
  /// The gradient of keys or values: summed over the heads that share a group.
  void product_of_keys(const GraphTensor& a, const GraphTensor& b, const GraphTensor& to) {
    if (p_.heads == p_.groups) {
      product(a, b, to);
      return;
    }
    const FourExtents all_heads{p_.batch, p_.heads, p_.keys, to.dimensions[3]};
    reduced(CUDNN_REDUCE_TENSOR_ADD, product(a, b, add_virtual(all_heads, type_)), to);
  }
  GraphTensor reduced(cudnnReduceTensorOp_t combine, const GraphTensor& from, const GraphTensor& to) {
    BackendDescriptor descriptor(CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
    set_attribute(descriptor, CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, 1, &combine);
    set_attribute(descriptor, CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_DATA_FLOAT);
    finalize(descriptor, "cudnnBackendFinalize of a reduction");
    BackendDescriptor operation(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
    set_attribute(operation, CUDNN_ATTR_OPERATION_REDUCTION_DESC, add(std::move(descriptor)));
    set_attribute(operation, CUDNN_ATTR_OPERATION_REDUCTION_XDESC, *from.descriptor);
    set_attribute(operation, CUDNN_ATTR_OPERATION_REDUCTION_YDESC, *to.descriptor);
    add_operation(std::move(operation), "cudnnBackendFinalize of a reduction's operation");
    return to;
  }
  GraphTensor reshaped(const GraphTensor& from, const GraphTensor& to) {
    BackendDescriptor operation(CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR);
    set_attribute(operation, CUDNN_ATTR_OPERATION_RESHAPE_XDESC, *from.descriptor);
    set_attribute(operation, CUDNN_ATTR_OPERATION_RESHAPE_YDESC, *to.descriptor);
    add_operation(std::move(operation), "cudnnBackendFinalize of a reshape");
    return to;
  }
  /// [batch, heads, keys, queries] in the type of the tensors
  GraphTensor turned(const GraphTensor& weights) {
    return reshaped(weights, add_virtual(transposed(weights_), transposed(packed_strides(weights_)), type_));
  }
  GraphTensor function(cudnnPointwiseMode_t mode, const GraphTensor& from) {
    const GraphTensor to = add_virtual(from.dimensions);
    add_pointwise(mode, from, to);
    return to;
  }
  GraphTensor combined(cudnnPointwiseMode_t mode, const GraphTensor& from, const GraphTensor& with) {
    const GraphTensor to = add_virtual(from.dimensions);
    add_pointwise(mode, from, with, to);
    return to;
  }
  GraphTensor scaled(const GraphTensor& from) { return combined(CUDNN_POINTWISE_MUL, from, add_constant(p_.scale)); }

  GraphTensor index(const GraphTensor& like, std::int64_t axis) {
    BackendDescriptor generator = pointwise_function(CUDNN_POINTWISE_GEN_INDEX);
    set_attribute(generator, CUDNN_ATTR_POINTWISE_AXIS, std::span(&axis, 1));
    const GraphTensor to = add_virtual(weights_);
    add_operation(pointwise(std::move(generator), like, to), "cudnnBackendFinalize of an index");
    return to;
  }
  /// Minus infinity where the key stands behind the query, if the attention is causal.
  GraphTensor masked(const GraphTensor& from) {
    if (!p_.causal) return from;
    const GraphTensor query = index(from, 2), key = index(from, 3);
    const GraphTensor attends = add_virtual(weights_, CUDNN_DATA_BOOLEAN), to = add_virtual(weights_);
    BackendDescriptor compare =
        pointwise(pointwise_function(CUDNN_POINTWISE_CMP_GE, CUDNN_DATA_BOOLEAN), query, attends);
    set_attribute(compare, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, *key.descriptor);
    add_operation(std::move(compare), "cudnnBackendFinalize of a comparison");
    BackendDescriptor select = pointwise(pointwise_function(CUDNN_POINTWISE_BINARY_SELECT), from, to);
    set_attribute(select, CUDNN_ATTR_OPERATION_POINTWISE_BDESC,
                  *add_constant(-std::numeric_limits<float>::infinity()).descriptor);
    set_attribute(select, CUDNN_ATTR_OPERATION_POINTWISE_TDESC, *attends.descriptor);
    add_operation(std::move(select), "cudnnBackendFinalize of a selection");
    return to;
  }

  const AttentionProblem& p_;
  cudnnDataType_t type_;
  FourExtents weights_, rows_;
};

}  // namespace

CudnnGraph attention_graph(const AttentionProblem& problem, cudnnHandle_t handle) {
  AttentionBuilder builder(problem);
  if (problem.gradient) {
    builder.gradient();
  } else {
    builder.forward();
  }
  return builder.finish(handle);
}

}  // namespace gpubench::cuda
