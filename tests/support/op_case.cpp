#include "tests/support/op_case.h"

#include <cstring>
#include <fmt/format.h>
#include <optional>
#include <ostream>
#include <set>

#include "core/base/error.h"
#include "core/device/device.h"
#include "tests/support/case_checks.h"
#include "tests/support/case_inputs.h"
#include "tests/support/evaluate.h"

namespace gpubench::support {
namespace {

std::set<std::type_index>& covered_ops() {
  static std::set<std::type_index> ops;
  return ops;
}

/// Then the test has the property `refused`, with the reason.
bool is_refused(const OpCase& op_case, const Place& place) {
  if (!op_case.only_fused) return false;
  std::vector<TensorType> inputs;
  for (const CaseInput& input : op_case.inputs) inputs.push_back(input.type);
  const std::vector<TensorType> outputs = op_case.op->infer(inputs);
  const Signature signature{inputs, outputs};
  if (place.backend->fuses(*op_case.op, signature, *place.device)) return false;
  try {
    static_cast<void>(place.backend->plan(*op_case.op, signature, *place.device));
  } catch (const Error& error) {
    testing::Test::RecordProperty("refused", error.what());
    return true;
  }
  return false;
}

}  // namespace

void check_forward(const OpCase& op_case, const Place& place) {
  if (is_refused(op_case, place)) return;
  const CaseInputs drawn(op_case);
  const std::vector<Array> want = run_reference(op_case, drawn.arrays);
  const std::vector<HostTensor> got = evaluate(*place.backend, *place.device, *op_case.op, drawn.tensors);
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i) {
    expect_close(to_array(got[i]), want[i], tolerance_of(op_case, want[i].type.dtype),
                 fmt::format("output {} ({}) on {}", i, to_string(want[i].type), where(place)), op_case.least_scale);
  }
}

/// The case with `dtype` for float32; none where it has no float32, or where the op takes no other type.
std::optional<OpCase> in_type(const OpCase& op_case, Dtype dtype) {
  OpCase other = op_case;
  std::vector<TensorType> types;
  bool changed = false;
  for (CaseInput& input : other.inputs) {
    changed |= input.type.dtype == Dtype::f32;
    if (input.type.dtype == Dtype::f32) input.type.dtype = dtype;
    types.push_back(input.type);
  }
  if (!changed) return std::nullopt;
  try {
    static_cast<void>(other.op->infer(types));
  } catch (const Error&) {
    return std::nullopt;
  }
  return other;
}

void check_forward(const OpCase& op_case) {
  for (const Place& place : places()) {
    check_forward(op_case, place);
    if (!place.halves || !op_case.halves) continue;
    for (const Dtype dtype : {Dtype::f16, Dtype::bf16}) {
      if (const auto other = in_type(op_case, dtype)) check_forward(*other, place);
    }
  }
}

void check_in_place(const OpCase& op_case) {
  const CaseInputs drawn(op_case);
  for (const Place& place : places()) {
    if (is_refused(op_case, place)) continue;
    const std::vector<HostTensor> fresh = evaluate(*place.backend, *place.device, *op_case.op, drawn.tensors);
    for (const Alias& alias : op_case.op->aliases()) {
      const auto output = static_cast<std::size_t>(alias.output), input = static_cast<std::size_t>(alias.input);
      const bool possible = alias.kind == Alias::Kind::may_overwrite &&
                            fresh[output].type() == drawn.tensors[input].type();  // a stretched input is too small
      if (!possible) continue;
      const auto over = evaluate(*place.backend, *place.device, *op_case.op, drawn.tensors, &alias);
      for (std::size_t i = 0; i < fresh.size(); ++i) {
        EXPECT_EQ(std::memcmp(over[i].data(), fresh[i].data(), fresh[i].bytes()), 0)
            << "output " << i << " differs when output " << output << " takes the memory of input " << input << " on "
            << where(place);
      }
    }
  }
}

bool cover(const std::vector<OpCase>& cases) {
  for (const OpCase& op_case : cases) {
    const Op& op = *op_case.op;
    covered_ops().insert(typeid(op));
  }
  return true;
}

bool is_covered(std::type_index op) {
  return covered_ops().contains(op);
}

void PrintTo(const OpCase& op_case, std::ostream* out) {
  *out << op_case.op->name() << " " << op_case.op->attributes();
}

std::string case_name(const testing::TestParamInfo<OpCase>& info) {
  return info.param.name;
}

TEST_P(OpCaseTest, Computes) {
  if (places().empty()) GTEST_SKIP() << why_no_place();
  {
    SCOPED_TRACE("kernel against plain loops");
    check_forward(GetParam());
  }
  {
    SCOPED_TRACE("in place against fresh memory");
    check_in_place(GetParam());
  }
}

TEST_P(OpCaseTest, Vectorizes) {
  if (places().empty()) GTEST_SKIP() << why_no_place();
  SCOPED_TRACE("a block of elements against each alone");
  check_vectorized(GetParam());
}

TEST_P(OpCaseTest, Differentiates) {
  if (places().empty()) GTEST_SKIP() << why_no_place();
  SCOPED_TRACE("gradient against central differences");
  check_gradient(GetParam());
}

TEST_P(OpCaseTest, TakesNothing) {
  if (places().empty()) GTEST_SKIP() << why_no_place();
  check_extents(GetParam());
}

}  // namespace gpubench::support
