// gb.measure.numerics: how a model's numbers lie in the range of their types, layer by layer.
#include "core/experiment/kernels/numerics.h"

#include <fmt/format.h>
#include <optional>

#include "core/base/error.h"
#include "lua/api/data/dataset.h"
#include "lua/api/openers.h"
#include "lua/api/train/model.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {
namespace {

struct NumericsTable {
  std::optional<std::string> as;
  static constexpr auto fields = std::tuple{field("as", &NumericsTable::as)};
};

template <class T>
void set(lua_State* L, const char* name, T value) {
  Value<T>::push(L, std::move(value));
  lua_setfield(L, -2, name);
}

void push_row(lua_State* L, const LayerNumerics& row) {
  lua_createtable(L, 0, 13);
  set(L, "layer", row.layer);
  set(L, "value", row.value);
  set(L, "gradient", row.gradient);
  set(L, "dtype", std::string(to_string(row.dtype)));
  set(L, "as", std::string(to_string(row.judged_as)));
  set(L, "elements", row.range.elements);
  set(L, "zeros", row.range.zeros);
  set(L, "not_finite", row.range.not_finite);
  set(L, "overflows", row.range.overflows);
  set(L, "underflows", row.range.underflows);
  set(L, "lost", row.range.lost);
  set(L, "smallest", row.range.smallest);
  set(L, "largest", row.range.largest);
}

/// gb.measure.numerics(model, dataset, options): an array of tables, of the dataset's first batch.
int numerics(lua_State* L) {
  const auto model = Value<std::shared_ptr<ScriptModel>>::read(L, 1);
  const auto dataset = Value<DatasetPtr>::read(L, 2);
  const auto table = Value<NumericsTable>::read(L, 3);
  std::optional<Dtype> judged_as;
  if (table.as) judged_as = parse_dtype(*table.as);
  Element batch;
  if (!model->trainer()->open(*dataset)->next(batch)) throw Error("measure.numerics: the dataset is empty");
  const std::vector<LayerNumerics> rows = measure_numerics(*model->trainer(), batch, judged_as);
  lua_createtable(L, static_cast<int>(rows.size()), 0);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    push_row(L, rows[i]);
    lua_rawseti(L, -2, static_cast<lua_Integer>(i + 1));
  }
  return 1;
}

}  // namespace

void open_measure_numerics(lua_State* L) {
  const Module gb = Module::root(L);
  gb.submodule("measure").function<&numerics, 3>("numerics");
}

}  // namespace gpubench::lua
