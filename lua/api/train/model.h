// Models for scripts: the layers, the result of compile, and the World in which they live.
#pragma once
#include <memory>
#include <optional>

#include "core/nn/model.h"
#include "core/train/trainer.h"
#include "lua/api/train/layers.h"

namespace gpubench::lua {

struct ScriptModel;
using ModelHandle = std::shared_ptr<ScriptModel>;
/// A part of a Sequential, as scripts give it.
using ChainPart = std::variant<std::shared_ptr<ScriptLayer>, ScriptSymbol, ModelHandle>;
struct ScriptOptimizer;

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
  /// Another model under the same handle, compiled as the one before.
  void replace(ModelPtr changed) {
    model = std::move(changed);
    calls = TensorCalls();
    compile(trainer_->config());
  }

  WorldPtr world;
  StoreVariables variables;
  ModelPtr model;
  std::vector<ChainPart> parts;  ///< of a Sequential that a script has made
  ReplicasPtr replicas;          ///< of the strategy in whose scope the model was created
  CallCounter counter;
  TensorCalls calls;
  std::vector<Tensor> losses{};                ///< that layers have added in the latest call on tensors
  LuaFunction train_step, test_step;           ///< none: the steps that compile describes
  std::shared_ptr<ScriptOptimizer> optimizer;  ///< of compile; null before

 private:
  std::shared_ptr<Trainer> trainer_;
};
template <>
inline constexpr const char* class_name<ScriptModel> = "Model";

/// Makes the variables at once when the input's shape is known, so that the seeds follow the order of the script.
ModelHandle make_script_model(lua_State* L, const WorldPtr& world, ModelPtr model);

// Methods of the class in their own files.
/// In sequential.cpp.
void add_to_sequential(const ModelHandle& self, const ChainPart& part);
ChainPart pop_from_sequential(const ModelHandle& self);
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
/// In custom_step.cpp.
std::optional<LuaFunction> train_step_of(const ScriptModel& self);
std::optional<LuaFunction> test_step_of(const ScriptModel& self);
void set_train_step(const std::shared_ptr<ScriptModel>& self, const std::optional<LuaFunction>& function);
void set_test_step(const std::shared_ptr<ScriptModel>& self, const std::optional<LuaFunction>& function);
std::shared_ptr<ScriptOptimizer> optimizer_of(const ScriptModel& self);
/// model:compute_loss(x, y, y_pred[, sample_weight]): the scalar of compile's losses, what layers added in the latest
/// call, and the penalties of regularizers.
int compute_model_loss(lua_State* L);
/// In weights.cpp.
int load_model_weights(lua_State* L);

}  // namespace gpubench::lua
