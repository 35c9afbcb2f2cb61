// One declaration per op says what its inputs look like and what plain loops in double precision make of them. From it
// follow the tests: every backend's kernel against the loops, the gradient against central differences of the loops,
// results in an input's memory against results in fresh memory, and blocks of elements against each alone. Inputs are
// drawn anew in every run; a failure prints the seed, which GPUBENCH_TEST_SEED brings back.
#pragma once
#include <cstdint>
#include <functional>
#include <gtest/gtest.h>
#include <random>
#include <span>
#include <string>
#include <typeindex>
#include <vector>

#include "core/graph/op.h"
#include "tests/support/array.h"

namespace gpubench::support {

/// Floating values are spread over [low, high] so that no two of a case, and none and 0, are close: central differences
/// then never cross a kink. Integers are uniform over low..high, both included; bools are coins.
struct CaseInput {
  TensorType type = {};
  double low = -1;
  double high = 1;
  /// Whether a gradient must flow to it. Never for integers and bools.
  bool gradient = true;
  /// Replaces the values that were drawn (one-hot rows, probabilities, ties).
  std::function<void(Array&, std::mt19937_64&)> fill = {};
};

struct OpCase {
  std::string name = {};  ///< unique within its suite: "add_row"
  OpPtr op = {};
  std::vector<CaseInput> inputs = {};
  /// Plain loops: `outputs` have their inferred types and hold zeros.
  std::function<void(std::span<const Array> inputs, std::span<Array> outputs)> reference = {};
  /// What the gradient is the derivative of where that is not `reference`: a gradient that goes straight through steps.
  std::function<void(std::span<const Array> inputs, std::span<Array> outputs)> differentiated = {};
  /// Whether a gradient flows at all. When false, the test checks that none does; none ever does from integers.
  bool differentiable = true;
  /// Outputs from this one on are for the op's gradient only, and have none themselves.
  std::size_t saved_from = SIZE_MAX;
  /// Largest error of an output relative to its largest value; 0: by dtype (float32 1e-5, float16 2e-3,
  /// bfloat16 1.6e-2, others exact). Gradients are allowed ten times as much.
  double tolerance = 0;
  /// The least that errors are relative to, where an output may be a small difference of larger values.
  double least_scale = 0;
  /// Whether it is also tested in float16 and bfloat16: not where an integer depends on what is rounded to them.
  bool halves = true;
  /// Only a pass makes the op, where the backend says that it fuses it: elsewhere the backend may refuse it.
  bool only_fused = false;
};

/// A float32 input.
CaseInput floats(Shape shape, double low = -1, double high = 1);
/// The case with inputs of the first one's shape in 16 bits, beside float32 parameters and statistics.
OpCase with_data_in(Dtype dtype, OpCase op_case);

/// Fills for CaseInput::fill. Rows are the last dimension.
void one_hot_rows(Array& array, std::mt19937_64& random);
/// Rows that are positive and sum to 1.
void probability_rows(Array& array, std::mt19937_64& random);
/// Rounds what was drawn, so that many values are equal.
void whole_numbers(Array& array, std::mt19937_64& random);

class OpCaseTest : public testing::TestWithParam<OpCase> {};

/// The parts of the test; each throws or adds failures.
void check_forward(const OpCase& op_case);
void check_in_place(const OpCase& op_case);
void check_gradient(const OpCase& op_case);
/// That each of several elements gets, from the op's form for blocks, the bytes that it gets alone.
void check_vectorized(const OpCase& op_case);

/// That the op and its gradient compute, or refuse by name, tensors with an extent of 0 and scalars.
void check_extents(const OpCase& op_case);

/// Marks the cases' ops as covered. Returns true, to be called while static variables are initialized.
bool cover(const std::vector<OpCase>& cases);
bool is_covered(std::type_index op);

void PrintTo(const OpCase& op_case, std::ostream* out);
std::string case_name(const testing::TestParamInfo<OpCase>& info);

}  // namespace gpubench::support

/// Makes tests of a function that returns a vector of OpCase, inside namespace gpubench.
#define GPUBENCH_OP_CASES(suite, function)                                  \
  using support::OpCaseTest;                                                \
  [[maybe_unused]] const bool suite##_covered = support::cover(function()); \
  INSTANTIATE_TEST_SUITE_P(suite, OpCaseTest, testing::ValuesIn(function()), &support::case_name)
