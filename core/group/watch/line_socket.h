// A TCP connection over which lines of text go, and the listener that accepts them. Nothing blocks but connect().
#pragma once
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.h"

namespace gpubench {

class LineSocket {
 public:
  explicit LineSocket(int descriptor) : descriptor_(descriptor) {}
  LineSocket(LineSocket&& other) noexcept;
  LineSocket& operator=(LineSocket&& other) noexcept;
  ~LineSocket();

  /// Tries each of `hosts` until `limit`. Throws Error naming all.
  static LineSocket connect(const std::vector<std::string>& hosts, int port, Seconds limit);

  int descriptor() const { return descriptor_; }
  bool is_open() const { return descriptor_ >= 0; }
  /// `line` has no line break (to_line() makes such). What the other end does not take at once waits for flush().
  void send(const std::string& line);
  void flush();
  bool wants_to_write() const { return !unsent_.empty(); }
  /// The lines that have come. Closes itself when the other end has.
  std::vector<std::string> receive();
  void close();

 private:
  int descriptor_ = -1;
  std::string unsent_, partial_;
};

class LineListener {
 public:
  /// On all addresses of this machine; port 0: any. Throws Error naming the port where it cannot be had.
  explicit LineListener(int port);
  ~LineListener();
  LineListener(const LineListener&) = delete;
  LineListener& operator=(const LineListener&) = delete;

  int port() const { return port_; }
  int descriptor() const { return descriptor_; }
  std::optional<LineSocket> accept();

 private:
  int descriptor_ = -1;
  int port_ = 0;
};

/// Numeric addresses of this machine that others may reach it at, loopback last.
std::vector<std::string> own_addresses();

}  // namespace gpubench
