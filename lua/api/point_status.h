// Ends of a sweep's point other than a row.
#pragma once
#include <stdexcept>

namespace gpubench::lua {

/// Thrown by gb.skip(reason): the point does not apply here.
class PointSkipped : public std::runtime_error {
 public:
  using runtime_error::runtime_error;
};

}  // namespace gpubench::lua
