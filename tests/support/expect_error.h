// Errors that a statement throws: expected with a text, as testing.raises does in Lua, or as a text.
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "core/base/error.h"

/// EXPECT_ERROR_OF(class, text or matcher of it, statement)
#define EXPECT_ERROR_OF(type, message, ...) EXPECT_THAT([&] { __VA_ARGS__; }, ::testing::ThrowsMessage<type>(message))
/// EXPECT_ERROR(text or matcher of it, statement): of class Error or one derived from it.
#define EXPECT_ERROR(message, ...) EXPECT_ERROR_OF(::gpubench::Error, message, __VA_ARGS__)

namespace gpubench::support {

/// The text of the Error that body() throws, or "no error".
template <class Body>
std::string error_of(const Body& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace gpubench::support
