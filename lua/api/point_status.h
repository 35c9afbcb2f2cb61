// Exceptions by which scripts and the Lua library end a point or the whole run.
#pragma once
#include <stdexcept>

#include "core/base/error.h"

namespace gpubench::lua {

/// Thrown by gb.skip(reason): the point does not apply here.
class PointSkipped : public std::runtime_error {
 public:
  using runtime_error::runtime_error;
};

/// Thrown where what --require asks for cannot hold any more: the program ends with the status for it.
class RequirementUnmet : public Error {
 public:
  using Error::Error;
};

}  // namespace gpubench::lua
