// gb.prune: zeros among a model's weights, and models with fewer units.
#include "core/train/compress/pruning.h"

#include <map>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/train/compress/shrink.h"
#include "lua/api/openers.h"
#include "lua/api/train/callbacks.h"
#include "lua/api/train/model.h"

namespace gpubench::lua {

template <>
inline constexpr const char* class_name<SparsitySchedule> = "SparsitySchedule";

namespace {

using Schedule = std::shared_ptr<SparsitySchedule>;

Schedule checked(SparsitySchedule schedule, const char* what) {
  check(schedule, what);
  return std::make_shared<SparsitySchedule>(schedule);
}

struct PolynomialDecayTable {
  double initial_sparsity = 0, final_sparsity = 0;
  std::int64_t begin_step = 0, end_step = 0, frequency = 100;
  double power = 3;
  static constexpr auto fields = std::tuple{field("initial_sparsity", &PolynomialDecayTable::initial_sparsity),
                                            required("final_sparsity", &PolynomialDecayTable::final_sparsity),
                                            field("begin_step", &PolynomialDecayTable::begin_step),
                                            required("end_step", &PolynomialDecayTable::end_step),
                                            field("power", &PolynomialDecayTable::power),
                                            field("frequency", &PolynomialDecayTable::frequency)};
};

/// gb.prune.PolynomialDecay { final_sparsity = , end_step = , ... }
Schedule polynomial_decay(const PolynomialDecayTable& table) {
  return checked(
      {table.initial_sparsity, table.final_sparsity, table.begin_step, table.end_step, table.power, table.frequency},
      "PolynomialDecay");
}

struct ConstantSparsityTable {
  double target_sparsity = 0;
  std::int64_t begin_step = 0, frequency = 100;
  std::optional<std::int64_t> end_step;
  static constexpr auto fields = std::tuple{required("target_sparsity", &ConstantSparsityTable::target_sparsity),
                                            field("begin_step", &ConstantSparsityTable::begin_step),
                                            field("end_step", &ConstantSparsityTable::end_step),
                                            field("frequency", &ConstantSparsityTable::frequency)};
};

/// gb.prune.ConstantSparsity { target_sparsity = , ... }
Schedule constant_sparsity(const ConstantSparsityTable& table) {
  return checked({table.target_sparsity, table.target_sparsity, table.begin_step, table.end_step, 1, table.frequency},
                 "ConstantSparsity");
}

struct LowMagnitudeTable {
  Schedule schedule;
  std::optional<std::vector<std::string>> layers;
  static constexpr auto fields =
      std::tuple{required("schedule", &LowMagnitudeTable::schedule), field("layers", &LowMagnitudeTable::layers)};
};

/// gb.prune.low_magnitude(model, { schedule = , layers = })
std::shared_ptr<ScriptPruning> low_magnitude(const std::shared_ptr<ScriptModel>& model,
                                             const LowMagnitudeTable& table) {
  if (table.layers && table.layers->empty()) throw ArgumentError("option 'layers': at least one name is expected");
  auto pruning = std::make_shared<ScriptPruning>();
  pruning->model = model;
  pruning->pruning = std::make_unique<MagnitudePruning>(model->world->runtime, model->model, *table.schedule,
                                                        table.layers.value_or(std::vector<std::string>{}));
  return pruning;
}

void step(ScriptPruning& self) {
  if (self.model->world->dispatcher.trace() != nullptr) {
    throw ArgumentError("masks are chosen on the host: call it after the function that gb.compile made, not inside");
  }
  self.pruning->step();
}
double sparsity(const ScriptPruning& self) {
  return self.pruning->sparsity();
}
std::string pruning_text(const ScriptPruning& self) {
  return "Pruning of " + self.model->model->name();
}
double sparsity_at(const SparsitySchedule& self, std::int64_t step) {
  return step < self.begin_step ? 0 : self.at(step);
}

/// gb.prune.shrink(model, { dense = 0.5 }): a new model.
std::shared_ptr<ScriptModel> shrunk(lua_State* L, const std::shared_ptr<ScriptModel>& model,
                                    const std::map<std::string, double>& shares) {
  Session& session = session_of(L);
  StoreVariables factory = variables_of(session, *model->world);
  ModelPtr smaller = shrink(model->world->runtime, factory, *model->model, shares);
  return std::make_shared<ScriptModel>(session, model->world, std::move(smaller));
}

}  // namespace

void open_pruning(lua_State* L) {
  Class<SparsitySchedule>(L).method<&sparsity_at>("at");
  Class<ScriptPruning>(L).method<&step>("step").method<&sparsity>("sparsity").meta<&pruning_text>("__tostring");
  const Module gb = Module::root(L);
  gb.submodule("prune")
      .function<&polynomial_decay>("PolynomialDecay")
      .function<&constant_sparsity>("ConstantSparsity")
      .function<&low_magnitude>("low_magnitude")
      .function<&shrunk>("shrink");
}

}  // namespace gpubench::lua
