// A running pruning: a callback for fit; hand-written loops call its step().
#pragma once
#include <memory>

#include "core/train/compress/pruning.h"
#include "lua/bind/object.h"

namespace gpubench::lua {

struct ScriptModel;

struct ScriptPruning {
  std::shared_ptr<ScriptModel> model;  // keeps the masks' devices alive
  std::unique_ptr<MagnitudePruning> pruning;
};
template <>
inline constexpr const char* class_name<ScriptPruning> = "Pruning";

}  // namespace gpubench::lua
