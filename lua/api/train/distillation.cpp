// gb.losses.Distillation: a loss with a teacher.
#include "core/nn/distillation.h"

#include <utility>

#include "lua/api/openers.h"
#include "lua/api/train/losses.h"
#include "lua/api/train/model.h"

namespace gpubench::lua {
namespace {

struct DistillationTable : DistillationOptions {
  std::shared_ptr<ScriptModel> teacher;
  LossArgument loss = std::string("categorical_crossentropy");
  static constexpr auto fields =
      std::tuple{required("teacher", &DistillationTable::teacher), field("loss", &DistillationTable::loss),
                 field("temperature", &DistillationTable::temperature), field("weight", &DistillationTable::weight),
                 field("from_logits", &DistillationTable::from_logits)};
};

/// A loss that is named takes the models' outputs as they are.
LossPtr labels_loss(const DistillationTable& table) {
  const auto* name = std::get_if<std::string>(&table.loss);
  if (name == nullptr || !table.from_logits) return to_loss(table.loss);
  return make_loss(*name, {{"from_logits", true}});
}

/// gb.losses.Distillation { teacher = model, loss = , temperature = , weight = , from_logits = }
std::shared_ptr<ScriptLoss> distillation(const DistillationTable& table) {
  struct Taught {
    std::shared_ptr<ScriptModel> teacher;  // with the devices that its weights are on
    LossPtr loss;
  };
  const DistillationOptions& options = table;
  const auto taught = std::make_shared<const Taught>(
      Taught{table.teacher, make_distillation_loss(table.teacher->model, labels_loss(table), options)});
  auto loss = std::make_shared<ScriptLoss>();
  loss->loss = LossPtr(taught, taught->loss.get());
  return loss;
}

}  // namespace

void open_distillation(lua_State* L) {
  const Module gb = Module::root(L);
  gb.submodule("losses").function<&distillation>("Distillation");
}

}  // namespace gpubench::lua
