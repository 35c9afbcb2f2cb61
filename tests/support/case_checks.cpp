#include "tests/support/case_checks.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "core/device/device.h"
#include "tests/support/case_inputs.h"

namespace gpubench::support {

std::string where(const Place& place) {
  return fmt::format("{} with {}, GPUBENCH_TEST_SEED={}", to_string(place.device->id()), place.device->description(),
                     run_seed());
}

std::vector<Array> run_reference(const OpCase& op_case, const std::vector<Array>& inputs) {
  std::vector<TensorType> types;
  for (const Array& input : inputs) types.push_back(input.type);
  std::vector<Array> outputs;
  for (TensorType& type : op_case.op->infer(types)) outputs.emplace_back(std::move(type));
  op_case.reference(inputs, outputs);
  return outputs;
}

double tolerance_of(const OpCase& op_case, Dtype dtype) {
  if (!is_floating(dtype)) return 0;
  const double of_dtype = dtype == Dtype::f32 ? 1e-5 : dtype == Dtype::f16 ? 2e-3 : 1.6e-2;
  if (op_case.tolerance == 0) return of_dtype;
  return dtype == Dtype::f32 ? op_case.tolerance : std::max(op_case.tolerance, of_dtype);
}

void expect_close(const Array& got, const Array& want, double tolerance, const std::string& what, double least_scale) {
  ASSERT_EQ(got.size(), want.size()) << what;
  double scale = least_scale;
  for (const double value : want.values) {
    if (std::isfinite(value)) scale = std::max(scale, std::abs(value));
  }
  for (std::int64_t i = 0; i < want.size(); ++i) {
    const bool same = got[i] == want[i] || (std::isnan(got[i]) && std::isnan(want[i]));
    if (same || std::abs(got[i] - want[i]) <= tolerance * scale) continue;
    ADD_FAILURE() << what << ": element " << i << " of " << to_string(want.type) << " is " << got[i] << ", expected "
                  << want[i] << " within " << tolerance << " of " << scale;
    return;
  }
}

}  // namespace gpubench::support
