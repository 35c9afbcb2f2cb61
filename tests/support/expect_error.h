// Expects that a statement throws an error with a text, as testing.raises does in Lua.
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"

/// EXPECT_ERROR_OF(class, text or matcher of it, statement)
#define EXPECT_ERROR_OF(type, message, ...) EXPECT_THAT([&] { __VA_ARGS__; }, ::testing::ThrowsMessage<type>(message))
/// EXPECT_ERROR(text or matcher of it, statement): of class Error or one derived from it.
#define EXPECT_ERROR(message, ...) EXPECT_ERROR_OF(::gpubench::Error, message, __VA_ARGS__)
