// gb.quantize: models that compute in int8, and models that are trained for it.
#include "core/train/compress/quantization.h"

#include <optional>

#include "lua/api/data/dataset.h"
#include "lua/api/openers.h"
#include "lua/api/train/model.h"

namespace gpubench::lua {
namespace {

using Names = std::optional<std::vector<std::string>>;

std::vector<std::string> checked(const Names& layers) {
  if (layers && layers->empty()) throw ArgumentError("option 'layers': at least one name is expected");
  return layers.value_or(std::vector<std::string>{});
}

struct Int8Table {
  std::optional<DatasetPtr> calibration;
  std::optional<std::int64_t> batches;
  std::string method = "max";
  std::optional<double> percentile;
  Names layers;
  static constexpr auto fields =
      std::tuple{field("calibration", &Int8Table::calibration), field("batches", &Int8Table::batches),
                 field("method", &Int8Table::method), field("percentile", &Int8Table::percentile),
                 field("layers", &Int8Table::layers)};

  std::optional<CalibrationOptions> options() const {
    const RangeMethod parsed = parse_range_method(method);
    if (percentile && parsed != RangeMethod::percentile) {
      throw ArgumentError("option 'percentile': is for method = \"percentile\" alone");
    }
    CalibrationOptions all{calibration.value_or(nullptr), batches, parsed,
                           percentile.value_or(CalibrationOptions{}.percentile)};
    check(all);
    if (calibration) return all;
    if (batches || method != "max") {
      throw ArgumentError("options 'batches' and 'method' tell how a calibration set is looked at; give 'calibration'");
    }
    return std::nullopt;
  }
};

struct AwareTable {
  Names layers;
  static constexpr auto fields = std::tuple{field("layers", &AwareTable::layers)};
};

template <class Make>
std::shared_ptr<ScriptModel> new_model(lua_State* L, const ScriptModel& model, const Make& make) {
  Session& session = session_of(L);
  StoreVariables factory = variables_of(session, *model.world);
  return std::make_shared<ScriptModel>(session, model.world, make(model.world->runtime, factory));
}

/// gb.quantize.int8(model, { calibration = , batches = , method = , ... }): a new model.
std::shared_ptr<ScriptModel> int8_model(lua_State* L, const std::shared_ptr<ScriptModel>& model,
                                        const std::optional<Int8Table>& given) {
  const Int8Table table = given.value_or(Int8Table{});
  return new_model(L, *model, [&](Runtime& runtime, VariableFactory& factory) {
    return quantize_int8(runtime, factory, *model->model, checked(table.layers), table.options());
  });
}

/// gb.quantize.aware(model, { layers = }): a new model.
std::shared_ptr<ScriptModel> aware_model(lua_State* L, const std::shared_ptr<ScriptModel>& model,
                                         const std::optional<AwareTable>& given) {
  return new_model(L, *model, [&](Runtime& runtime, VariableFactory& factory) {
    return quantization_aware(runtime, factory, *model->model, checked(given.value_or(AwareTable{}).layers));
  });
}

}  // namespace

void open_quantization(lua_State* L) {
  const Module gb = Module::root(L);
  gb.submodule("quantize").function<&int8_model>("int8").function<&aware_model>("aware");
}

}  // namespace gpubench::lua
