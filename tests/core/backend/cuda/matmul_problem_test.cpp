#include "core/backend/cuda/matmul_problem.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpubench::cuda {
namespace {

const MatmulRules rules{.tf32 = false, .workspace_limit = 4096};

template <class O>
MatmulCall call(const O& op, const std::vector<TensorType>& inputs, const MatmulRules& given = rules) {
  const std::vector<TensorType> outputs = op.infer(inputs);
  return matmul_call(op, {inputs, outputs}, given);
}

TensorType f32(Shape shape) {
  return {std::move(shape), Dtype::f32};
}

TEST(MatmulProblemTest, BiasReluAndGeluByTanhAreEpiloguesOthersRunBehind) {
  const std::vector<TensorType> plain{f32({32, 784}), f32({784, 10})}, biased{plain[0], plain[1], f32({10})};
  const auto epilogue = [&](Activation activation, bool bias) {
    return call(Matmul({.bias = bias, .activation = activation}), bias ? biased : plain);
  };
  EXPECT_EQ(epilogue(Activation::none, false).problem.epilogue, CUBLASLT_EPILOGUE_DEFAULT);
  EXPECT_EQ(epilogue(Activation::none, true).problem.epilogue, CUBLASLT_EPILOGUE_BIAS);
  EXPECT_EQ(epilogue(Activation::relu, false).problem.epilogue, CUBLASLT_EPILOGUE_RELU);
  EXPECT_EQ(epilogue(Activation::relu, true).problem.epilogue, CUBLASLT_EPILOGUE_RELU_BIAS);
  EXPECT_EQ(epilogue(Activation::gelu_tanh, true).problem.epilogue, CUBLASLT_EPILOGUE_GELU_BIAS);
  EXPECT_EQ(epilogue(Activation::gelu_tanh, true).after, Activation::none);
  EXPECT_EQ(epilogue(Activation::gelu, true).problem.epilogue, CUBLASLT_EPILOGUE_BIAS);
  EXPECT_EQ(epilogue(Activation::gelu, true).after, Activation::gelu);
  EXPECT_EQ(epilogue(Activation::none, true).vector, (TensorPlace{.output = false, .index = 2}));
  EXPECT_FALSE(epilogue(Activation::relu, false).vector.has_value());
}

TEST(MatmulProblemTest, TheSecondInputIsTheLibrarysFirst) {
  const MatmulCall second =
      call(MatmulBiasGradient({.transpose_a = true}, Factor::second), {f32({32, 784}), f32({32, 10})});
  EXPECT_EQ(second.problem.epilogue, CUBLASLT_EPILOGUE_BGRADA);
  EXPECT_EQ(second.problem.result.rows, 10);  // as long as the sum
  EXPECT_EQ(second.vector, (TensorPlace{.output = true, .index = 1}));
  const MatmulCall first =
      call(MatmulBiasGradient({.transpose_a = true}, Factor::first), {f32({32, 10}), f32({32, 784})});
  EXPECT_EQ(first.problem.epilogue, CUBLASLT_EPILOGUE_BGRADB);
  EXPECT_EQ(first.problem.result.columns, 10);
}

TEST(MatmulProblemTest, AProductIsAddedToTheThirdInput) {
  const MatmulCall sum = call(MatmulAccumulate({.transpose_a = true}), {f32({32, 784}), f32({32, 10}), f32({784, 10})});
  EXPECT_EQ(sum.sum, (TensorPlace{.output = false, .index = 2}));
  EXPECT_EQ(sum.problem.epilogue, CUBLASLT_EPILOGUE_DEFAULT);
  EXPECT_FALSE(call(Matmul({.transpose_a = true}), {f32({32, 784}), f32({32, 10})}).sum.has_value());
}

TEST(MatmulProblemTest, RowsOfMasksAreMultiplesOf128Bits) {
  const std::vector<TensorType> inputs{f32({32, 784}), f32({784, 200}), f32({200})};
  const MatmulCall forward = call(MatmulAux({.bias = true, .activation = Activation::relu}), inputs);
  EXPECT_EQ(forward.problem.epilogue, CUBLASLT_EPILOGUE_RELU_AUX_BIAS);
  EXPECT_EQ(forward.problem.aux_leading, 256);
  EXPECT_EQ(forward.aux, (TensorPlace{.output = true, .index = 1}));
  const MatmulCall backward = call(MatmulActivationGradient({.transpose_b = true, .activation = Activation::relu}),
                                   {f32({32, 10}), f32({200, 10}), {{32, 32}, Dtype::u8}});
  EXPECT_EQ(backward.problem.epilogue, CUBLASLT_EPILOGUE_DRELU);
  EXPECT_EQ(backward.problem.aux_leading, 256);
  EXPECT_EQ(backward.aux, (TensorPlace{.output = false, .index = 2}));
}

TEST(MatmulProblemTest, RowsOfArgumentsAreElements) {
  const std::vector<TensorType> inputs{f32({32, 784}), f32({784, 200})};
  const MatmulCall forward = call(MatmulAux({.activation = Activation::gelu_tanh}), inputs);
  EXPECT_EQ(forward.problem.epilogue, CUBLASLT_EPILOGUE_GELU_AUX);
  EXPECT_EQ(forward.problem.aux_leading, 200);
  const MatmulCall backward = call(MatmulActivationGradient({.transpose_b = true, .activation = Activation::gelu_tanh}),
                                   {f32({32, 10}), f32({200, 10}), f32({32, 200})});
  EXPECT_EQ(backward.problem.epilogue, CUBLASLT_EPILOGUE_DGELU);
}

TEST(MatmulProblemTest, OnlyFloat32IsRoundedToTf32) {
  const MatmulRules tf32{.tf32 = true, .workspace_limit = 4096};
  const std::vector<TensorType> half{{{8, 8}, Dtype::f16}, {{8, 8}, Dtype::f16}};
  EXPECT_TRUE(call(Matmul(), {f32({8, 8}), f32({8, 8})}, tf32).problem.tf32);
  EXPECT_FALSE(call(Matmul(), half, tf32).problem.tf32);
  EXPECT_FALSE(call(Matmul(), {f32({8, 8}), f32({8, 8})}).problem.tf32);
}

TEST(MatmulProblemTest, WorkspaceHasRoomForEightPartsOfALongSum) {
  constexpr std::size_t elements_of_result = std::size_t{1024} * 1024, parts = 8;
  EXPECT_GE(matmul_rules(false).workspace_limit, parts * elements_of_result * sizeof(float));
}

TEST(MatmulProblemTest, EqualProductsAreEqualProblems) {
  const std::vector<TensorType> inputs{f32({8, 4}), f32({4, 5})};
  EXPECT_EQ(call(Matmul(), inputs).problem, call(Matmul(), inputs).problem);
  EXPECT_NE(call(Matmul(), inputs).problem, call(Matmul(), {f32({9, 4}), f32({4, 5})}).problem);
  // A batch of matrices times one is the same product as one tall matrix.
  EXPECT_EQ(call(Matmul(), inputs).problem, call(Matmul(), {f32({2, 4, 4}), f32({4, 5})}).problem);
  EXPECT_NE(call(Matmul(), inputs).problem, call(Matmul(), inputs, {.workspace_limit = 1}).problem);
}

}  // namespace
}  // namespace gpubench::cuda
