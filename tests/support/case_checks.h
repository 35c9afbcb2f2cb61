// What the checks of an OpCase share: where kernels run, what the reference says, and how near is near enough.
#pragma once
#include <string>
#include <vector>

#include "core/backend/backend.h"
#include "tests/support/op_case.h"

namespace gpubench::support {

struct Place {
  const Backend* backend;
  Device* device;
  bool halves = false;  ///< it has every op in float16 and bfloat16 too
  bool maps = false;    ///< functions of elements run on such a device: its kernels use one thread
};

/// The devices that a test program tests its ops on; each program defines it. Empty: there is none, and why_no_place()
/// says why.
const std::vector<Place>& places();
std::string why_no_place();
/// For messages: the device, and the seed that brings the inputs back.
std::string where(const Place& place);

std::vector<Array> run_reference(const OpCase& op_case, const std::vector<Array>& inputs);
double tolerance_of(const OpCase& op_case, Dtype dtype);
/// Adds a failure for the first element that differs by more than `tolerance` times the largest one, or `least_scale`.
void expect_close(const Array& got, const Array& want, double tolerance, const std::string& what,
                  double least_scale = 0);

}  // namespace gpubench::support
