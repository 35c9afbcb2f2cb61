// The exceptions that users may see, and those that control a sweep. A message names the operation, what was given and
// what is possible. Bugs of our own are assert()s.
#pragma once
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>

namespace gpubench {

/// A request that gpubench cannot fulfil: bad argument, unsupported op, missing file.
class Error : public std::runtime_error {
 public:
  using runtime_error::runtime_error;
};

/// An allocation exceeds a device's memory or its limit. A sweep records it as an `out_of_memory` row.
class OutOfMemory : public Error {
 public:
  using Error::Error;
};

/// The variables alone need more: weights, and the states of optimizers and metrics. No smaller batch makes room for
/// them.
class OutOfMemoryForVariable : public OutOfMemory {
 public:
  using OutOfMemory::OutOfMemory;
};

/// The user pressed Ctrl-C. Not an Error: only the program's main function may catch it.
class Interrupted : public std::runtime_error {
 public:
  Interrupted() : std::runtime_error("interrupted") {}
};

/// The time limit of a point has passed. Not an Error, so that a script's pcall cannot catch it.
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

/// A DeviceError after which this process cannot use the device any more. It ends the sweep, because every later point
/// would fail too.
class DeviceLost : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

/// Another rank failed, died or stopped answering, so no exchange with it is possible. The text names the rank.
class PeerLost : public Error {
 public:
  using Error::Error;
};

}  // namespace gpubench
