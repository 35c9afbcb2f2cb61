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
};

/// Every device of every backend that this machine can test: the CPU with one thread and with a team.
std::vector<Place> places();
/// For messages: the device, and the seed that brings the inputs back.
std::string where(const Place& place);

std::vector<Array> run_reference(const OpCase& op_case, const std::vector<Array>& inputs);
double tolerance_of(const OpCase& op_case, Dtype dtype);
/// Adds a failure for the first element that differs by more than `tolerance` times the largest one, or `least_scale`.
void expect_close(const Array& got, const Array& want, double tolerance, const std::string& what,
                  double least_scale = 0);

}  // namespace gpubench::support
