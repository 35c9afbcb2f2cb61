#include "lua/api/train/script_function.h"

#include <fmt/format.h>

#include "core/results/info.h"
#include "lua/api/tensor/layer_call.h"
#include "lua/api/tensor/tensor.h"
#include "lua/api/train/model.h"

namespace gpubench::lua {
namespace {

class LambdaBody final : public FunctionBody {
 public:
  LambdaBody(LuaFunction function, const Layer& layer) : function_(std::move(function)), layer_(layer) {}

  gpubench::Value call(const CallContext& context, std::span<const gpubench::Value> inputs) override {
    return only_output(layer_, traced(context, {.inputs = inputs}, false));
  }
  gpubench::Value trial(const AddWeight&, TensorTypes, const CallContext& context,
                        std::span<const gpubench::Value> inputs) override {
    return only_output(layer_, traced(context, {.inputs = inputs}, true));
  }
  LayerOutputs call_all(const CallContext& context, const LayerArguments& given) override {
    return traced(context, given, false);
  }
  LayerOutputs trial_all(const AddWeight&, TensorTypes, const CallContext& context,
                         const LayerArguments& given) override {
    return traced(context, given, true);
  }

 private:
  LayerOutputs traced(const CallContext& context, const LayerArguments& given, bool trial) {
    lua_State* const running = function_.reference().machine().running();
    const WorldPtr world = session_of(running).placement.world();
    const GraphTrace trace(world->dispatcher, context.graph, layer_.policy().compute);
    const LayerCallScope scope(running, trace, context, trial);
    const LayerOutputs outputs = call_for_layer(running, layer_, [&](lua_State* L) {
      luaL_checkstack(L, 8, "function of a layer");
      function_.reference().push(L);
      push_inputs(L, trace, given);
      if (!takes_parameter(function_, 2)) return 1;
      lua_pushboolean(L, context.training);
      push_masks(L, trace, given);
      return 3;
    });
    scope.add_losses(world->dispatcher);
    return outputs;
  }

  LuaFunction function_;
  const Layer& layer_;
};

class LambdaFunction final : public LayerFunction {
 public:
  explicit LambdaFunction(LuaFunction function) : function_(std::move(function)) {}
  std::string name() const override { return "lambda"; }
  std::string stored() const override { return to_json_line(Info::Fields{{"function", place_of(function_)}}); }
  bool draws() const override { return true; }
  bool reads_masks() const override { return takes_parameter(function_, 3); }
  std::unique_ptr<FunctionBody> body(const Layer& layer) const override {
    return std::make_unique<LambdaBody>(function_, layer);
  }

 private:
  LuaFunction function_;
};

}  // namespace

std::string place_of(const LuaFunction& function) {
  lua_State* const L = function.reference().machine().running();
  function.reference().push(L);
  if (!lua_isfunction(L, -1)) {
    std::string kind = type_name_at(L, -1);
    lua_pop(L, 1);
    return kind;
  }
  lua_Debug about;
  lua_getinfo(L, ">S", &about);
  return fmt::format("{}:{}", about.short_src, about.linedefined);
}

bool takes_parameter(const LuaFunction& function, int number) {
  lua_State* const L = function.reference().machine().running();
  function.reference().push(L);
  if (lua_iscfunction(L, -1) || !lua_isfunction(L, -1)) {
    lua_pop(L, 1);
    return false;
  }
  lua_Debug about;
  lua_getinfo(L, ">u", &about);
  return about.nparams >= number || about.isvararg != 0;
}

void push_inputs(lua_State* L, const GraphTrace& trace, const LayerArguments& given) {
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < given.inputs.size(); ++i) {
    tensors.push_back(trace.tensor(given.inputs[i]));
    if (given.mask(i)) tensors.back() = tensors.back().with_mask(trace.tensor(given.mask(i)));
  }
  push_one_or_more(L, std::move(tensors));
}

void push_masks(lua_State* L, const GraphTrace& trace, const LayerArguments& given) {
  const auto push = [&](std::size_t input) {
    if (given.mask(input)) return Value<Tensor>::push(L, trace.tensor(given.mask(input)));
    lua_pushboolean(L, 0);
  };
  if (given.inputs.size() > 1) {
    lua_createtable(L, static_cast<int>(given.inputs.size()), 0);
    for (std::size_t i = 0; i < given.inputs.size(); ++i) {
      push(i);
      lua_rawseti(L, -2, static_cast<lua_Integer>(i + 1));
    }
  } else if (given.mask(0)) {
    push(0);
  } else {
    lua_pushnil(L);
  }
}

LayerFunctionPtr lambda_function(LuaFunction function) {
  return std::make_shared<const LambdaFunction>(std::move(function));
}

LayerOutputs call_for_layer(lua_State* L, const Layer& layer, const PushCall& push) {
  LayerOutputs outputs;
  outputs.values = call_in_trace(L, push, layer.title(), &outputs.masks);
  if (outputs.values.empty()) {
    layer.fail("its function returned nothing; a layer returns a tensor, or several one after the other");
  }
  return outputs;
}

gpubench::Value only_output(const Layer& layer, const LayerOutputs& outputs) {
  if (outputs.values.size() == 1) return outputs.values.front();
  layer.fail(fmt::format("its function returned {} values, and one tensor is needed here", outputs.values.size()));
}

}  // namespace gpubench::lua
