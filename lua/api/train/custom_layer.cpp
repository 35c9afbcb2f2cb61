#include "lua/api/train/custom_layer.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>

#include "core/base/error.h"
#include "core/base/value_scope.h"
#include "core/ops/cast.h"
#include "core/ops/reduce.h"
#include "core/results/info.h"
#include "lua/api/tensor/layer_call.h"
#include "lua/api/tensor/tensor.h"
#include "lua/api/train/layers.h"
#include "lua/api/train/model.h"
#include "lua/api/train/script_function.h"

namespace gpubench::lua {
namespace {

struct WeightOptions {
  std::string name;  ///< empty: weight, weight_1 and so on
  Shape shape;
  std::string initializer = "glorot_uniform";
  bool trainable = true;
  static constexpr auto fields =
      std::tuple{field("name", &WeightOptions::name), field("shape", &WeightOptions::shape),
                 field("initializer", &WeightOptions::initializer), field("trainable", &WeightOptions::trainable)};
};

/// A layer or a model in a field of `self`.
struct HeldLayers {
  const void* made;              ///< as note_made() has it
  std::vector<LayerPtr> layers;  ///< a model's without its Input
};

/// What a field of `self` holds: one of them, or those of a list.
void append_held(lua_State* L, int index, std::vector<HeldLayers>& held) {
  index = lua_absindex(L, index);
  luaL_checkstack(L, 4, "layers of a layer");
  if (Value<std::shared_ptr<ScriptLayer>>::matches(L, index)) {
    const LayerPtr layer = Value<std::shared_ptr<ScriptLayer>>::read(L, index)->layer;
    held.push_back({layer.get(), {layer}});
  } else if (Value<std::shared_ptr<ScriptModel>>::matches(L, index)) {
    const auto model = Value<std::shared_ptr<ScriptModel>>::read(L, index);
    held.push_back({model.get(), model->model->layers()});
    std::erase_if(held.back().layers, [](const LayerPtr& layer) { return layer->declared_input() != nullptr; });
  } else if (lua_istable(L, index)) {
    for (std::size_t i = 1; i <= lua_rawlen(L, index); ++i) {
      lua_rawgeti(L, index, static_cast<lua_Integer>(i));
      append_held(L, -1, held);
      lua_pop(L, 1);
    }
  }
}

/// A custom layer with its `self`: a plain table, which gets add_weight from its metatable.
class CustomBody final : public FunctionBody {
 public:
  CustomBody(CustomLayer functions, const Layer& layer) : functions_(std::move(functions)), layer_(layer) {
    lua_State* const L = functions_.call.reference().machine().running();
    luaL_checkstack(L, 8, "custom layer");
    lua_createtable(L, 0, 4);
    lua_createtable(L, 0, 2);
    lua_createtable(L, 0, 2);
    Value<StackFunction>::push(L, &add_loss);
    lua_setfield(L, -2, "add_loss");
    // The table may outlive this object, but not what it writes to.
    Value<StackFunction>::push(L, [building = building_](lua_State* state) { return add_weight(state, *building); });
    lua_setfield(L, -2, "add_weight");
    lua_setfield(L, -2, "__index");
    lua_pushboolean(L, 0);  // what getmetatable() shows to scripts
    lua_setfield(L, -2, "__metatable");
    lua_setmetatable(L, -2);
    self_ = Reference(L, -1);
    lua_pop(L, 1);
  }

  void build(const AddWeight& add_weight, TensorTypes inputs) override {
    lua_State* const L = self_.machine().running();
    const WorldPtr world = session_of(L).placement.world();
    const TracePause untraced(world->dispatcher);
    MadeParts made;
    {
      const MadePartsScope scope(L, made);
      make(L, add_weight, inputs);
    }
    find_layers(L, made);
  }

  gpubench::Value call(const CallContext& context, std::span<const gpubench::Value> inputs) override {
    return only_output(layer_, call_all(context, {.inputs = inputs}));
  }
  gpubench::Value trial(const AddWeight& add_weight, TensorTypes types, const CallContext& context,
                        std::span<const gpubench::Value> inputs) override {
    return only_output(layer_, trial_all(add_weight, types, context, {.inputs = inputs}));
  }

  LayerOutputs call_all(const CallContext& context, const LayerArguments& given) override {
    lua_State* const L = self_.machine().running();
    const WorldPtr world = session_of(L).placement.world();
    const GraphTrace trace(world->dispatcher, context.graph, layer_.policy().compute);
    return traced(L, trace, context, given, false);
  }

  LayerOutputs trial_all(const AddWeight& add_weight, TensorTypes types, const CallContext& context,
                         const LayerArguments& given) override {
    lua_State* const L = self_.machine().running();
    const WorldPtr world = session_of(L).placement.world();
    const GraphTrace trace(world->dispatcher, context.graph, layer_.policy().compute);
    make(L, add_weight, types);
    return traced(L, trace, context, given, true);
  }

  std::vector<gpubench::Value> masks(const CallContext& context, const LayerArguments& given) override {
    lua_State* const running = self_.machine().running();
    const WorldPtr world = session_of(running).placement.world();
    const GraphTrace trace(world->dispatcher, context.graph, layer_.policy().compute);
    const PushCall push = [&](lua_State* L) {
      luaL_checkstack(L, 8, "compute_mask of a layer");
      functions_.compute_mask.reference().push(L);
      self_.push(L);
      push_inputs(L, trace, given);
      push_masks(L, trace, given);
      return 3;
    };
    std::vector<gpubench::Value> masks = call_in_trace(running, push, layer_.title() + ": compute_mask");
    for (gpubench::Value& mask : masks) {
      const Dtype dtype = trace.tensor(mask).type().dtype;
      if (dtype == Dtype::boolean) continue;
      layer_.fail(fmt::format("compute_mask must return bools, such as tokens:ne(0), got {}", to_string(dtype)));
    }
    return masks;
  }

  std::vector<LayerPtr> layers() const override { return layers_; }

 private:
  /// While build runs; add_weight fails at other times.
  struct Building {
    const AddWeight* add = nullptr;
    const Layer* layer = nullptr;
    std::vector<std::string> names;
  };

  static int add_weight(lua_State* L, Building& building) {
    if (building.add == nullptr) throw Error("add_weight: weights are made in the build function of a custom layer");
    if (!lua_istable(L, 1)) throw ArgumentError("add_weight: it is called with a colon: self:add_weight { shape = }");
    auto options = Value<WeightOptions>::read(L, 2);
    const auto is_taken = [&](const std::string& name) {
      return std::ranges::find(building.names, name) != building.names.end();
    };
    if (options.name.empty()) {
      options.name = "weight";
      for (int number = 1; is_taken(options.name); ++number) options.name = fmt::format("weight_{}", number);
    }
    if (is_taken(options.name)) {
      building.layer->fail(fmt::format("add_weight: two weights are named '{}'", options.name));
    }
    if (std::ranges::any_of(options.shape, [](std::int64_t extent) { return extent < 1; })) {
      building.layer->fail(fmt::format("add_weight: the shape of '{}' must list positive sizes, got {}", options.name,
                                       to_string(options.shape)));
    }
    building.names.push_back(options.name);
    const VariablePtr variable =
        (*building.add)(options.name, options.shape, parse_initializer(options.initializer), options.trainable);
    Value<Tensor>::push(L, world_of(L).dispatcher.variable(variable));
    return 1;
  }

  /// self:add_loss(x), in the call function: x, or the sum of its numbers, is part of the loss.
  static int add_loss(lua_State* L) {
    if (!lua_istable(L, 1)) throw ArgumentError("add_loss: it is called with a colon: self:add_loss(loss)");
    Dispatcher& dispatcher = world_of(L).dispatcher;
    if (current_layer_call(L) == nullptr || dispatcher.trace() == nullptr)
      throw Error("add_loss: losses are added in the call function of a custom layer");
    const Tensor loss = Value<TensorLike>::read(L, 2).tensor;
    if (!is_floating(loss.type().dtype)) {
      throw Error(fmt::format("add_loss: a floating-point loss is expected, got {}", to_string(loss.type())));
    }
    const Tensor wide = dispatcher.apply_one(std::make_shared<const Cast>(Dtype::f32), std::array{loss});
    const Tensor sum = dispatcher.apply_one(std::make_shared<const ReduceSum>(), std::array{wide});
    dispatcher.trace()->losses.push_back(sum.value());
    return 0;
  }

  void make(lua_State* L, const AddWeight& add_weight, TensorTypes inputs) {
    if (!functions_.build) return;
    const ValueScope building(*building_, {&add_weight, &layer_, {}});
    std::vector<Shape> shapes;
    for (const TensorType& input : inputs) shapes.push_back(input.shape);
    const int top = lua_gettop(L);
    luaL_checkstack(L, 8, "build of a custom layer");
    functions_.build.reference().push(L);
    self_.push(L);
    push_one_or_more(L, std::move(shapes));
    protected_call(L, 2, 0);
    lua_settop(L, top);
  }

  LayerOutputs traced(lua_State* running, const GraphTrace& trace, const CallContext& context,
                      const LayerArguments& given, bool trial) {
    const LayerCallScope scope(running, trace, context, trial);
    const LayerOutputs outputs = call_for_layer(running, layer_, [&](lua_State* L) {
      luaL_checkstack(L, 8, "function of a layer");
      functions_.call.reference().push(L);
      self_.push(L);
      push_inputs(L, trace, given);
      if (!functions_.state_size.empty()) {
        std::vector<Tensor> states;
        for (const gpubench::Value state : given.states) states.push_back(trace.tensor(state));
        Value<std::vector<Tensor>>::push(L, states);
        lua_pushboolean(L, context.training);
        return 4;
      }
      lua_pushboolean(L, context.training);
      push_masks(L, trace, given);
      return 4;
    });
    scope.add_losses(session_of(running).placement.world()->dispatcher);
    if (!functions_.state_size.empty()) check_cell(trace, outputs);
    return outputs;
  }

  void check_cell(const GraphTrace& trace, const LayerOutputs& outputs) const {
    const Shape& sizes = functions_.state_size;
    if (outputs.values.size() != sizes.size() + 1) {
      layer_.fail(fmt::format(
          "is a cell with {} state{} and must return its output and as many states, one after the "
          "other: return output, state; it returned {} value{}",
          sizes.size(), sizes.size() == 1 ? "" : "s", outputs.values.size(), outputs.values.size() == 1 ? "" : "s"));
    }
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const TensorType type = trace.tensor(outputs.values[i + 1]).type();
      if (type.rank() == 2 && type.shape[1] == sizes[i]) continue;
      layer_.fail(fmt::format("is a cell whose state {} must be [batch, {}], and it returned {}", i + 1, sizes[i],
                              to_string(type)));
    }
  }

  /// A layer in a field of `self`.
  struct Part {
    std::ptrdiff_t made;  ///< place in the order of making; 0: before build
    std::string field, name;
    LayerPtr layer;
  };

  /// The layers in the fields of `self`. Their names have the field's, and in a list a number.
  std::vector<Part> parts_in_fields(lua_State* L, const MadeParts& made) const {
    std::map<std::string, std::vector<HeldLayers>> found;
    self_.push(L);
    for (lua_pushnil(L); lua_next(L, -2) != 0; lua_pop(L, 1)) {
      if (lua_type(L, -2) == LUA_TSTRING) append_held(L, -1, found[Value<std::string>::read(L, -2)]);
    }
    lua_pop(L, 1);
    std::vector<Part> parts;
    for (const auto& [field, held] : found) {
      const std::size_t first = parts.size();
      for (const auto& [object, layers] : held) {
        const auto place = std::ranges::find(made, object, &MadeParts::value_type::get);
        const std::ptrdiff_t order = place == made.end() ? 0 : place - made.begin() + 1;
        for (const LayerPtr& layer : layers) {
          parts.push_back({order, field, fmt::format("{}_{}", field, parts.size() - first + 1), layer});
        }
      }
      if (parts.size() == first + 1) parts.back().name = field;
    }
    return parts;
  }

  /// Joins the layers in the fields of `self` in the order in which they were made. Keras has the order of assignments,
  /// which Lua's tables do not keep, and which Lua turns round in `self.a, self.b = a, b`.
  void find_layers(lua_State* L, const MadeParts& made) {
    std::vector<Part> parts = parts_in_fields(L, made);
    std::ranges::stable_sort(parts, {}, &Part::made);
    for (const Part& part : parts) {
      if (std::ranges::find(layers_, part.layer) != layers_.end()) continue;
      if (part.layer->built()) {
        layer_.fail(
            fmt::format("self.{} is a layer that has weights already; make the layers of a custom layer in its "
                        "build function",
                        part.field));
      }
      part.layer->join(layer_, part.name);
      layers_.push_back(part.layer);
    }
  }

  CustomLayer functions_;
  const Layer& layer_;
  std::shared_ptr<Building> building_ = std::make_shared<Building>();
  Reference self_;
  std::vector<LayerPtr> layers_;
};

class CustomFunction final : public LayerFunction {
 public:
  explicit CustomFunction(CustomLayer functions) : functions_(std::move(functions)) {}
  std::string name() const override { return "custom"; }
  std::string stored() const override { return to_json_line(Info::Fields{{"custom", place_of(functions_.call)}}); }
  bool has_weights() const override { return static_cast<bool>(functions_.build); }
  MaskRule mask_rule() const override {
    if (functions_.compute_mask) return MaskRule::makes;
    return functions_.supports_masking ? MaskRule::passes : MaskRule::drops;
  }
  bool reads_masks() const override {
    return functions_.state_size.empty() && (functions_.compute_mask || takes_parameter(functions_.call, 4));
  }
  Shape state_sizes() const override { return functions_.state_size; }
  bool draws() const override { return true; }
  std::unique_ptr<FunctionBody> body(const Layer& layer) const override {
    return std::make_unique<CustomBody>(functions_, layer);
  }

 private:
  CustomLayer functions_;
};

}  // namespace

LayerFunctionPtr custom_function(CustomLayer layer) {
  return std::make_shared<const CustomFunction>(std::move(layer));
}

}  // namespace gpubench::lua
