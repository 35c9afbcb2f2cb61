#include "lua/api/train/fit_data.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "lua/api/data/dataset.h"
#include "lua/api/tensor/tensor.h"
#include "lua/api/train/by_name.h"

namespace gpubench::lua {
namespace {

/// A tensor, or a table of numbers, in host memory.
HostTensor read_array(lua_State* L, int index) {
  if (!Value<Tensor>::matches(L, index)) return read_host_tensor(L, index);
  return download(L, Value<Tensor>::read(L, index));
}

/// What arrays are for, and the names of the model's inputs or outputs by which a table may give them.
struct ArrayNames {
  PossibleNames possible;
  std::string what;  ///< "labels: "
};

/// One array; for a model with several inputs or outputs a list of tensors, or a table by names.
void append_arrays(lua_State* L, int index, const ArrayNames& names, std::vector<HostTensor>& arrays) {
  const int top = lua_gettop(L);
  index = lua_absindex(L, index);
  bool tuple = push_in_order(L, index, names.possible, names.what);
  if (tuple) {
    index = lua_gettop(L);
  } else if (lua_istable(L, index)) {
    lua_rawgeti(L, index, 1);
    tuple = Value<Tensor>::matches(L, -1);
    lua_pop(L, 1);
  }
  if (!tuple) return arrays.push_back(read_array(L, index));
  for (std::size_t i = 1; i <= sequence_length(L, index); ++i) {
    lua_rawgeti(L, index, static_cast<lua_Integer>(i));
    arrays.push_back(read_array(L, -1));
    lua_pop(L, 1);
  }
  lua_settop(L, top);
}

ArrayNames inputs_of(const ScriptModel& model) {
  return {names_of_inputs(*model.model), "inputs: "};
}

ArrayNames labels_of(const ScriptModel& model) {
  return {names_of_outputs(*model.model), "labels: "};
}

ArrayNames weights_of(const ScriptModel& model) {
  return {names_of_outputs(*model.model), "weights of examples: "};
}

}  // namespace

FitData FitData::read(lua_State* L, int index, const ScriptModel& model, bool labelled) {
  FitData data;
  if (Value<DatasetPtr>::matches(L, index)) {
    data.dataset = Value<DatasetPtr>::read(L, index);
    data.next = index + 1;
    return data;
  }
  if (lua_isnoneornil(L, index)) throw ArgumentError("data is expected: a Dataset, or tensors of inputs and labels");
  append_arrays(L, index, inputs_of(model), data.arrays);
  data.next = index + 1;
  if (labelled) {
    if (lua_isnoneornil(L, index + 1)) throw ArgumentError("labels are expected after the inputs");
    append_arrays(L, index + 1, labels_of(model), data.arrays);
    data.next = index + 2;
  }
  return data;
}

void require_rows(const std::vector<HostTensor>& arrays) {
  for (const HostTensor& array : arrays) {
    if (array.shape().empty()) throw ArgumentError("tensors of examples are expected, got a scalar");
  }
}

std::vector<HostTensor> split_off(std::vector<HostTensor>& arrays, double share) {
  if (!(share > 0 && share < 1)) {
    throw ArgumentError(fmt::format("option 'validation_split': a share between 0 and 1 is expected, got {}", share));
  }
  std::vector<HostTensor> rest;
  require_rows(arrays);
  for (HostTensor& array : arrays) {
    const std::int64_t rows = array.shape()[0];
    const auto border = static_cast<std::int64_t>(static_cast<double>(rows) * (1 - share));
    rest.push_back(array.rows(border, rows));
    array = array.rows(0, border);
  }
  return rest;
}

DatasetPtr read_validation(lua_State* L, const ScriptModel& model, const Reference& value, std::int64_t batch_size) {
  value.push(L);
  const int index = lua_gettop(L);
  if (Value<DatasetPtr>::matches(L, index)) {
    DatasetPtr dataset = Value<DatasetPtr>::read(L, index);
    lua_pop(L, 1);
    return dataset;
  }
  if (!lua_istable(L, index)) {
    throw ArgumentError(
        fmt::format("option 'validation_data': a Dataset or {{ inputs, labels[, weights] }} is expected, got {}",
                    type_name_at(L, index)));
  }
  std::vector<HostTensor> arrays;
  const std::array names{inputs_of(model), labels_of(model), weights_of(model)};
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool missing = lua_rawgeti(L, index, static_cast<lua_Integer>(i + 1)) == LUA_TNIL;
    if (missing && i < 2) throw ArgumentError("option 'validation_data': { inputs, labels[, weights] } is expected");
    if (!missing) append_arrays(L, -1, names[i], arrays);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  return batches_of(std::move(arrays), batch_size);
}

void FitData::append_weights(lua_State* L, const ScriptModel& model, const std::optional<Reference>& weights) {
  if (!weights) return;
  if (dataset) {
    throw ArgumentError(
        "option 'sample_weight': goes with tensors; the elements of a Dataset have the weights behind their labels: "
        "Dataset.from_tensor_slices { inputs, labels, weights }");
  }
  weights->push(L);
  append_arrays(L, -1, weights_of(model), arrays);
  lua_pop(L, 1);
}

std::vector<float> read_class_weights(lua_State* L, const std::optional<Reference>& value) {
  std::vector<float> weights;
  if (!value) return weights;
  value->push(L);
  const int table = lua_gettop(L);
  if (!lua_istable(L, table)) {
    throw ArgumentError(fmt::format("option 'class_weight': a table such as {{ [0] = 1, [1] = 5 }} is expected, got {}",
                                    type_name_at(L, table)));
  }
  constexpr lua_Integer most_classes = 1 << 20;
  lua_pushnil(L);
  while (lua_next(L, table) != 0) {
    const bool fits = lua_isinteger(L, -2) != 0 && lua_type(L, -1) == LUA_TNUMBER && lua_tonumber(L, -1) >= 0 &&
                      lua_tointeger(L, -2) >= 0 && lua_tointeger(L, -2) < most_classes;
    if (!fits) {
      throw ArgumentError(
          "option 'class_weight': classes from 0 and numbers from 0 are expected, such as { [0] = 1, [1] = 5 }");
    }
    const auto label = static_cast<std::size_t>(lua_tointeger(L, -2));
    if (weights.size() <= label) weights.resize(label + 1, 1.0F);
    weights[label] = static_cast<float>(lua_tonumber(L, -1));
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  return weights;
}

}  // namespace gpubench::lua
