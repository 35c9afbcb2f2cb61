// model.train_step and model.test_step: functions of the script in place of the steps that compile describes.
#pragma once
#include <memory>
#include <string>

#include "core/train/custom_step.h"
#include "lua/bind/function.h"

namespace gpubench::lua {

struct ScriptModel;

/// A step that calls function(model, tensor, ...) with the tensors of a batch, in a trace; it returns its figures by
/// name. `name`: "train_step". The model outlives it.
CustomStepPtr make_custom_step(const std::shared_ptr<ScriptModel>& model, std::string name, LuaFunction function);

}  // namespace gpubench::lua
