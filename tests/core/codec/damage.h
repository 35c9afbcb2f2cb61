// What the tests of decoders share: compressed bytes, and the promise every decoder makes about damaged input.
#pragma once
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <zlib.h>

#include "core/base/error.h"
#include "tests/support/files.h"

namespace gpubench {

/// A gzip file of `bytes`.
inline std::string compressed(const std::string& bytes) {
  z_stream stream{};
  deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, bytes.size()) + 64, '\0');
  std::string in = bytes;
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

/// Whatever is done to `valid`, `decode(bytes)` succeeds or throws Error: at every length, and with seeded changes of
/// single bytes. Under the sanitizers this also shows that nothing outside is read.
template <class Decode>
void expect_error_or_success_when_damaged(const std::string& valid, Decode&& decode) {
  const auto attempt = [&](const std::string& bytes) {
    try {
      decode(bytes);
    } catch (const Error&) {
      return false;
    }
    return true;
  };
  EXPECT_TRUE(attempt(valid));
  for (std::size_t length = 0; length < valid.size(); ++length)
    EXPECT_FALSE(attempt(valid.substr(0, length))) << length;
  EXPECT_FALSE(attempt(valid + "x"));
  std::mt19937 random(1);
  constexpr int changes = 2000;
  for (int i = 0; i < changes; ++i) {
    std::string bytes = valid;
    for (int count = 0; count <= i % 3; ++count) bytes[random() % bytes.size()] = static_cast<char>(random());
    attempt(bytes);
  }
}

}  // namespace gpubench
