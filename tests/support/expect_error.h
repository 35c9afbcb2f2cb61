// Expects that a statement throws Error with a text, as testing.raises does in Lua.
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"

/// EXPECT_ERROR(text or matcher of it, statement)
#define EXPECT_ERROR(message, ...) \
  EXPECT_THAT([&] { __VA_ARGS__; }, ::testing::ThrowsMessage<::gpubench::Error>(message))
