// A pruning under way: fit takes it among its callbacks, loops written by hand call its step().
#pragma once
#include <memory>

#include "core/train/pruning.h"
#include "lua/bind/object.h"

namespace gpubench::lua {

struct ScriptModel;

struct ScriptPruning {
  std::shared_ptr<ScriptModel> model;  // with the devices that the masks are on
  std::unique_ptr<MagnitudePruning> pruning;
};
template <>
inline constexpr const char* class_name<ScriptPruning> = "Pruning";

}  // namespace gpubench::lua
