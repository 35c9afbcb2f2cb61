// Models for scripts: the layers, the result of compile, and the World in which they live.
#pragma once
#include <memory>

#include "core/nn/model.h"
#include "core/train/trainer.h"
#include "lua/api/train/layers.h"

namespace gpubench::lua {

struct ScriptModel {
  ScriptModel(Session& in, WorldPtr where, ModelPtr of)
      : world(std::move(where)),
        variables(variables_of(in, *world)),
        model(std::move(of)),
        replicas(world->replicas),
        trainer_(std::make_shared<Trainer>(world->runtime, variables, model, CompileConfig{})) {}

  /// What compile made. Whoever uses it holds it: the script may run meanwhile, as a callback, a loss or a generator.
  std::shared_ptr<Trainer> trainer() const { return trainer_; }
  void compile(CompileConfig config) {
    trainer_ = std::make_shared<Trainer>(world->runtime, variables, model, std::move(config));
  }

  WorldPtr world;
  StoreVariables variables;
  ModelPtr model;
  ReplicasPtr replicas;  ///< of the strategy in whose scope the model was created
  CallCounter counter;
  TensorCalls calls;

 private:
  std::shared_ptr<Trainer> trainer_;
};
template <>
inline constexpr const char* class_name<ScriptModel> = "Model";

// Methods of the class in their own files.
int compile_model(lua_State* L);
int fit_model(lua_State* L);
/// In measure_training.cpp.
int profile_model(lua_State* L);
int evaluate_model(lua_State* L);
int predict_model(lua_State* L);
int train_model_on_batch(lua_State* L);
int test_model_on_batch(lua_State* L);
int predict_model_on_batch(lua_State* L);
int model_memory(lua_State* L);
/// In weights.cpp.
int load_model_weights(lua_State* L);

}  // namespace gpubench::lua
