#include "core/backend/cuda/matmul_problem.h"

namespace gpubench::cuda {
namespace {

MatmulCall call_of(const Matmul& op, const Signature& signature, const MatmulRules& rules) {
  const MatmulGeometry geometry = matmul_geometry(op, signature);
  const Dtype dtype = signature.outputs[0].dtype;
  return {.problem = {.left = geometry.left,
                      .right = geometry.right,
                      .result = geometry.result,
                      .transpose_left = geometry.transpose_left,
                      .transpose_right = geometry.transpose_right,
                      .batch = geometry.batch,
                      .dtype = dtype,
                      .tf32 = rules.tf32 && dtype == Dtype::f32,
                      .alignment = matmul_alignment(geometry, size_of(dtype)),
                      .workspace_limit = rules.workspace_limit},
          .launches = geometry.launches};
}

void add_vector(MatmulCall& call, TensorPlace place) {
  call.vector = place;
  call.problem.vector = true;
}

/// `type` is [n, a row of the auxiliary matrix], a mask's in bytes.
void add_aux(MatmulCall& call, TensorPlace place, const TensorType& type) {
  call.aux = place;
  call.problem.aux_leading = type.shape[1] * (type.dtype == Dtype::u8 ? 8 : 1);
}

}  // namespace

Dtype result_type(const MatmulProblem& problem) {
  return problem.dtype == Dtype::i8 ? Dtype::i32 : problem.dtype;
}

MatmulRules matmul_rules(bool tf32) {
  // What cuBLAS' documentation recommends for Hopper. The 4 MiB that it recommends for GPUs before would leave out
  // algorithms that split long sums: 8 parts of a result of 1024 x 1024 float32 numbers take 32 MiB. Only the workspace
  // that the chosen algorithm needs is allocated.
  return {.tf32 = tf32, .workspace_limit = std::size_t{32} << 20U};
}

MatmulCall matmul_call(const Matmul& op, const Signature& signature, const MatmulRules& rules) {
  MatmulCall call = call_of(op, signature, rules);
  const bool bias = op.options.bias;
  if (bias) add_vector(call, {.output = false, .index = 2});
  switch (op.options.activation) {
    case Activation::relu:
      call.problem.epilogue = bias ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
      break;
    case Activation::gelu_tanh:
      call.problem.epilogue = bias ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU;
      break;
    default:  // cuBLASLt has no others: its gelu is the approximation by tanh
      call.problem.epilogue = bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
      call.after = op.options.activation;
  }
  return call;
}

MatmulCall matmul_call(const MatmulAccumulate& op, const Signature& signature, const MatmulRules& rules) {
  MatmulCall call = call_of(Matmul(op.options), signature, rules);
  call.sum = {.output = false, .index = 2};
  return call;
}

MatmulCall matmul_call(const MatmulBiasGradient& op, const Signature& signature, const MatmulRules& rules) {
  MatmulCall call = call_of(Matmul(op.options), signature, rules);
  add_vector(call, {.output = true, .index = 1});
  // The library's first matrix is our second.
  call.problem.epilogue = op.summed == Factor::second ? CUBLASLT_EPILOGUE_BGRADA : CUBLASLT_EPILOGUE_BGRADB;
  return call;
}

MatmulCall matmul_call(const MatmulAux& op, const Signature& signature, const MatmulRules& rules) {
  MatmulCall call = call_of(Matmul(op.options), signature, rules);
  const bool bias = op.options.bias;
  if (bias) add_vector(call, {.output = false, .index = 2});
  if (op.options.activation == Activation::relu) {
    call.problem.epilogue = bias ? CUBLASLT_EPILOGUE_RELU_AUX_BIAS : CUBLASLT_EPILOGUE_RELU_AUX;
  } else {
    call.problem.epilogue = bias ? CUBLASLT_EPILOGUE_GELU_AUX_BIAS : CUBLASLT_EPILOGUE_GELU_AUX;
  }
  add_aux(call, {.output = true, .index = 1}, signature.outputs[1]);
  return call;
}

MatmulCall matmul_call(const MatmulActivationGradient& op, const Signature& signature, const MatmulRules& rules) {
  MatmulCall call = call_of(op.product(), signature, rules);
  call.problem.epilogue = op.options.activation == Activation::relu ? CUBLASLT_EPILOGUE_DRELU : CUBLASLT_EPILOGUE_DGELU;
  add_aux(call, {.output = false, .index = 2}, signature.inputs[2]);
  return call;
}

}  // namespace gpubench::cuda
