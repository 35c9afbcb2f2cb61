// The exceptions that users may see, and those that steer a sweep. A message names the operation, what was
// given and what is possible; broken promises between our own functions are assert()s.
#pragma once
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>

namespace gpubench {

/// A request gpubench cannot honour: bad argument, unsupported op, missing file.
class Error : public std::runtime_error {
 public:
  using runtime_error::runtime_error;
};

/// A device's memory, or its limit, cannot hold an allocation. A sweep records it as an `out_of_memory` row.
class OutOfMemory : public Error {
 public:
  using Error::Error;
};

/// The user pressed Ctrl-C. Not an Error: nothing but the program's main function may swallow it.
class Interrupted : public std::runtime_error {
 public:
  Interrupted() : std::runtime_error("interrupted") {}
};

/// The time that a point may take is up. Not an Error either: it ends the point, whatever the script catches.
class TimedOut : public std::runtime_error {
 public:
  TimedOut() : std::runtime_error("timed out") {}
};

/// A library call that failed; carries the call's text and the library's reason.
class DeviceError : public Error {
 public:
  DeviceError(std::string_view library, std::string_view call, std::string_view reason,
              std::source_location where = std::source_location::current());
};

/// A DeviceError after which this process can do nothing more on the device. A sweep ends there: every later point
/// would fail with it.
class DeviceLost : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

/// Another rank failed, died or stopped answering: nothing more can be exchanged with it. The text names it.
class PeerLost : public Error {
 public:
  using Error::Error;
};

}  // namespace gpubench
