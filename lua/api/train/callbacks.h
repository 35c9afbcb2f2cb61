// gb.callbacks: functions that fit calls around epochs and batches. Scripts number both from 1.
#pragma once
#include <memory>

#include "core/train/compress/pruning.h"
#include "core/train/fit/callbacks.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {

struct ScriptCallback {
  CallbackPtr callback;
};
template <>
inline constexpr const char* class_name<ScriptCallback> = "Callback";

struct ScriptModel;

/// A running pruning: a callback for fit; hand-written loops call its step().
struct ScriptPruning {
  std::shared_ptr<ScriptModel> model;  // keeps the masks' devices alive
  std::unique_ptr<MagnitudePruning> pruning;
};
template <>
inline constexpr const char* class_name<ScriptPruning> = "Pruning";

/// A Callback object, or a table of functions: on_train_begin(), on_epoch_begin(epoch), on_batch_begin(batch),
/// on_batch_end(batch, logs), on_epoch_end(epoch, logs), on_train_end(), and those of evaluations (on_test_...) and
/// predictions (on_predict_...). If a function of a batch or the end of an epoch returns false, what runs ends.
CallbackPtr read_callback(lua_State* L, int index);

}  // namespace gpubench::lua
