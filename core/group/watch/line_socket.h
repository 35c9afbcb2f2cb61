// A TCP connection that transports lines of text, and a listener for such connections. Only connect() blocks.
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

  /// Tries each of `hosts` until `limit` has passed. Throws Error naming all of them.
  static LineSocket connect(const std::vector<std::string>& hosts, int port, Seconds limit);

  int descriptor() const { return descriptor_; }
  bool is_open() const { return descriptor_ >= 0; }
  /// `line` must not contain a line break (to_line() ensures that). Bytes that cannot be sent at once wait for flush().
  void send(const std::string& line);
  void flush();
  bool wants_to_write() const { return !unsent_.empty(); }
  /// The complete lines that have arrived. Closes itself when the other end has closed.
  std::vector<std::string> receive();
  void close();

 private:
  int descriptor_ = -1;
  std::string unsent_, partial_;
};

class LineListener {
 public:
  /// Listens on all addresses of this machine; port 0: any free port. Throws Error naming a port that cannot be used.
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

/// Numeric addresses at which others may reach this machine, loopback last.
std::vector<std::string> own_addresses();

}  // namespace gpubench
