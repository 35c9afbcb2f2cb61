#include "lua/api/train/custom_step.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>

#include "core/base/error.h"
#include "core/nn/regularizer.h"
#include "core/ops/cast.h"
#include "core/ops/shape_ops.h"
#include "core/ops/state.h"
#include "core/train/exchange.h"
#include "core/train/step_losses.h"
#include "lua/api/tensor/tensor.h"
#include "lua/api/tensor/trace.h"
#include "lua/api/train/by_name.h"
#include "lua/api/train/losses.h"
#include "lua/api/train/model.h"
#include "lua/api/train/optimizers.h"

namespace gpubench::lua {
namespace {

using ModelHandle = std::shared_ptr<ScriptModel>;

class ScriptStep final : public CustomStep {
 public:
  ScriptStep(const ModelHandle& model, std::string name, LuaFunction function)
      : model_(model), name_(std::move(name)), function_(std::move(function)) {}

  Graph graph(TensorTypes element, const std::optional<BatchShare>& share) override {
    const ModelHandle model = model_.lock();
    if (share && share->rows == 0) {
      fail(*model,
           "so small a batch leaves a replica without examples; leave it out by dataset:batch(size, { "
           "drop_remainder = true })");
    }
    Dispatcher& dispatcher = model->world->dispatcher;
    const DeviceScope device(dispatcher, model->model->calls()[model->model->inputs()[0]].layer->device());
    std::vector<TracedInput> inputs;
    for (const TensorType& type : element) inputs.push_back({type, dispatcher.device()});
    lua_State* const L = function_.reference().machine().running();
    Value<StackFunction>::push(L, [this, &model](lua_State* state) { return call(state, model); });
    const LuaFunction body(Reference(L, -1));
    lua_pop(L, 1);
    std::optional<TracedReplica> replica;
    if (share) replica.emplace(TracedReplica{.replicas = *model->replicas, .share = *share});
    const TracedFunction traced = trace_function(L, body, inputs, name_, &counter_, replica ? &*replica : nullptr);
    Graph graph = std::move(traced.trace->graph);
    if (!share) return graph;
    // Statistics of layers, and figures, become the mean over all replicas.
    const std::vector<VariablePtr> updated = updated_variables(graph, graph.variables());
    assign_variables(graph, updated, exchange_variables(graph, updated, weight_of(*share)));
    return graph;
  }

  std::vector<Figure> figures() const override { return figures_; }

 private:
  [[noreturn]] void fail(const ScriptModel& model, std::string_view what) const {
    throw Error(fmt::format("model '{}': {}: {}", model.model->name(), name_, what));
  }

  /// The traced function: its arguments are the tensors of a batch.
  int call(lua_State* L, const ModelHandle& model) {
    const int count = lua_gettop(L);
    luaL_checkstack(L, 8, "train_step");
    function_.reference().push(L);
    lua_insert(L, 1);
    Value<ModelHandle>::push(L, model);
    lua_insert(L, 2);
    protected_call(L, count + 1, 1);
    take_figures(L, *model);
    return 0;
  }

  /// Reads the table on top of the stack.
  void take_figures(lua_State* L, ScriptModel& model) {
    if (!lua_istable(L, -1)) {
      fail(model, fmt::format("it must return its figures by name, such as {{ loss = loss }}, and returned {}",
                              type_name_at(L, -1)));
    }
    std::map<std::string, Figure> by_name;
    for (lua_pushnil(L); lua_next(L, -2) != 0; lua_pop(L, 1)) {
      if (lua_type(L, -2) != LUA_TSTRING) fail(model, "names of figures are texts, as in { loss = loss }");
      std::string name = Value<std::string>::read(L, -2);
      by_name.emplace(name, figure_of(L, model, name));
    }
    std::vector<Figure> found;  // the loss first, as fit's own steps have it
    for (const bool is_loss : {true, false}) {
      for (auto& [name, figure] : by_name) {
        if ((name == "loss") == is_loss) found.push_back(std::move(figure));
      }
    }
    const auto state_of = [](const Figure& figure) { return std::pair(figure.name, figure.state); };
    if (is_known_ && !std::ranges::equal(found, figures_, {}, state_of, state_of)) {
      fail(model, fmt::format("for one batch it returned the figures {}, for another {}; all batches have the same",
                              names_of(figures_), names_of(found)));
    }
    figures_ = std::move(found);
    is_known_ = true;
  }

  static std::string names_of(const std::vector<Figure>& figures) {
    std::vector<std::string> names;
    for (const Figure& figure : figures) names.push_back(figure.name);
    return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
  }

  /// The value on top of the stack: a metric, which has a state, or a number of this step, which gets one.
  Figure figure_of(lua_State* L, ScriptModel& model, const std::string& name) {
    if (Value<std::shared_ptr<ScriptMetric>>::matches(L, -1)) {
      const auto metric = Value<std::shared_ptr<ScriptMetric>>::read(L, -1);
      if (!metric->state) fail(model, fmt::format("metric '{}' was not updated, by update_state", name));
      return {name, metric->metric, metric->state->type.elements(), metric->state};
    }
    if (!Value<TensorLike>::matches(L, -1))
      fail(model, fmt::format("figure '{}': a tensor of one number, or a metric, is expected, got {}", name,
                              type_name_at(L, -1)));
    const Tensor tensor = read_tensor(L, -1);
    if (tensor.type().elements() != 1)
      fail(model,
           fmt::format("figure '{}': one number is expected, got {}; take its mean", name, to_string(tensor.type())));
    VariablePtr& state = made_[name];
    if (!state) {
      state = model.variables.create("metrics/" + name, HostTensor::zeros({{2}, Dtype::f32}),
                                     model.world->dispatcher.device(), false, make_owner("metrics"));
    }
    assign(model.world->dispatcher, tensor, state);
    return {name, nullptr, 2, state};
  }

  /// As in Keras, a number that is no metric shows the latest step: sum = number, count = 1.
  static void assign(Dispatcher& dispatcher, const Tensor& tensor, const VariablePtr& state) {
    const gpubench::Value value = dispatcher.symbol(tensor);
    Graph& graph = dispatcher.trace()->graph;
    const GraphScope scope(graph, update_of(*state));
    const std::vector<gpubench::Value> parts{ops::reshape(graph, ops::cast(graph, value, Dtype::f32), {1}),
                                             ops::reshape(graph, graph.constant(1.0F), {1})};
    ops::assign(graph, graph.variable(state), ops::concat(graph, parts, 0));
  }

  std::weak_ptr<ScriptModel> model_;  // it has this step
  std::string name_;
  LuaFunction function_;
  CallCounter counter_;
  std::vector<Figure> figures_;
  std::map<std::string, VariablePtr> made_;  // states of numbers, by their names
  bool is_known_ = false;
};

/// The tensors of the arguments of compute_loss, in their order, and how many each gave.
struct LossArguments {
  std::vector<Tensor> tensors;
  std::array<std::size_t, 4> counts{};  // x, y, y_pred, sample_weight

  static LossArguments read(lua_State* L, const Model& model) {
    LossArguments read;
    constexpr std::array what{"x: ", "y: ", "y_pred: ", "sample_weight: "};
    for (std::size_t i = 0; i < read.counts.size(); ++i) {
      const int index = static_cast<int>(i) + 2;
      if (lua_isnoneornil(L, index)) continue;
      if (push_in_order(L, index, i == 0 ? names_of_inputs(model) : names_of_outputs(model), what[i])) {
        lua_replace(L, index);
      }
      const std::size_t before = read.tensors.size();
      for (Tensor& tensor : read_one_or_more<Tensor>(L, index)) read.tensors.push_back(std::move(tensor));
      read.counts[i] = read.tensors.size() - before;
    }
    return read;
  }
};

}  // namespace

CustomStepPtr make_custom_step(const ModelHandle& model, std::string name, LuaFunction function) {
  return std::make_shared<ScriptStep>(model, std::move(name), std::move(function));
}

std::optional<LuaFunction> train_step_of(const ScriptModel& self) {
  return self.train_step ? std::optional(self.train_step) : std::nullopt;
}

std::optional<LuaFunction> test_step_of(const ScriptModel& self) {
  return self.test_step ? std::optional(self.test_step) : std::nullopt;
}

void set_train_step(const ModelHandle& self, const std::optional<LuaFunction>& function) {
  self->trainer()->set_custom_step(StepPhase::training,
                                   function ? make_custom_step(self, "train_step", *function) : nullptr);
  self->train_step = function.value_or(LuaFunction());
}

void set_test_step(const ModelHandle& self, const std::optional<LuaFunction>& function) {
  self->trainer()->set_custom_step(StepPhase::evaluation,
                                   function ? make_custom_step(self, "test_step", *function) : nullptr);
  self->test_step = function.value_or(LuaFunction());
}

std::shared_ptr<ScriptOptimizer> optimizer_of(const ScriptModel& self) {
  return self.optimizer;
}

int compute_model_loss(lua_State* L) {
  const auto self = Value<ModelHandle>::read(L, 1);
  const auto trainer = self->trainer();
  const LossArguments given = LossArguments::read(L, *self->model);
  const std::string owner = fmt::format("model '{}': compute_loss", self->model->name());
  if (trainer->config().losses.empty()) throw Error(owner + ": compile was given no loss");
  const std::size_t outputs = self->model->outputs().size();
  const auto& [inputs, labels, predictions, weights] = given.counts;
  if (labels != outputs || predictions != outputs || (weights > 1 && weights != outputs)) {
    throw Error(fmt::format(
        "{}(x, y, y_pred, sample_weight) takes {} label{} and as many predictions, and may take weights; got "
        "{} labels, {} predictions and {} weights",
        owner, outputs, outputs == 1 ? "" : "s", labels, predictions, weights));
  }
  Dispatcher& dispatcher = self->world->dispatcher;
  TensorCalls calls;  // not kept: what compile is given may change
  std::vector<Tensor> tensors = given.tensors;
  const std::vector<Tensor> added = lasting_losses(*self->world, self->losses);
  tensors.insert(tensors.end(), added.begin(), added.end());
  std::vector<std::optional<Tensor>> masks;  // of the predictions
  for (std::size_t i = 0; i < predictions; ++i) {
    const Tensor* const mask = given.tensors[inputs + labels + i].mask();
    masks.push_back(mask == nullptr ? std::nullopt : std::optional(*mask));
    if (mask != nullptr) tensors.push_back(*mask);
  }
  const auto loss = calls.apply(dispatcher, tensors, {}, [&](Graph& graph, Values values) {
    StepValues step;
    std::size_t next = 0;
    const auto take = [&](std::size_t count) {
      next += count;
      return std::vector<gpubench::Value>(values.begin() + static_cast<std::ptrdiff_t>(next - count),
                                          values.begin() + static_cast<std::ptrdiff_t>(next));
    };
    step.inputs = take(given.counts[0]);
    step.labels = take(given.counts[1]);
    step.outputs = take(given.counts[2]);
    step.weights = take(given.counts[3]);
    step.added = sum_of_penalties(graph, take(added.size()));
    for (const auto& mask : masks) step.masks.push_back(mask ? take(1).front() : gpubench::Value{});
    step.penalty = sum_of_penalties(graph, penalties(graph, self->model->layers()));
    const std::shared_ptr<Trace>& trace = dispatcher.trace();
    if (trace != nullptr && trace->replica != nullptr) {
      step.batch_rows = trace->replica->share.total;
      step.replica_share = weight_of(trace->replica->share);
    }
    return std::vector{with_penalty(graph, total_loss(graph, *self->model, trainer->config(), step), step.added)};
  });
  Value<Tensor>::push(L, loss.front());
  return 1;
}

}  // namespace gpubench::lua
