// How a point of a sweep can end other than with a row of its own.
#pragma once
#include <stdexcept>

namespace gpubench::lua {

/// Thrown by gb.skip(reason): the point does not apply here.
class PointSkipped : public std::runtime_error {
 public:
  using runtime_error::runtime_error;
};

}  // namespace gpubench::lua
