// gb.callbacks: what fit calls around epochs and batches. Scripts number epochs and batches from 1.
#pragma once
#include <memory>

#include "core/train/callbacks.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {

struct ScriptCallback {
  CallbackPtr callback;
};
template <>
inline constexpr const char* class_name<ScriptCallback> = "Callback";

/// A Callback object, or a table of functions: on_train_begin(), on_epoch_begin(epoch), on_batch_end(batch, logs),
/// on_epoch_end(epoch, logs), on_train_end(). A function that returns false from on_epoch_end stops the training.
CallbackPtr read_callback(lua_State* L, int index);

}  // namespace gpubench::lua
