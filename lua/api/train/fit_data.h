// What fit, evaluate and predict are given: a dataset, or arrays of inputs, labels and weights of examples.
#pragma once
#include <cstdint>
#include <lua.hpp>
#include <optional>
#include <vector>

#include "core/data/dataset.h"
#include "core/tensor/host_tensor.h"
#include "core/train/fit/fit.h"
#include "lua/api/train/model.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {

/// Batched data: a dataset, or arrays of inputs and optionally labels.
struct FitData {
  DatasetPtr dataset;
  std::vector<HostTensor> arrays;
  int next = 0;  ///< the stack index after it

  /// The argument at `index`, and, if `labelled`, the labels behind it. Arrays of several inputs or outputs are a list
  /// of tensors, or a table by the model's names.
  static FitData read(lua_State* L, int index, const ScriptModel& model, bool labelled);
  /// The options behind it, which are the last argument.
  template <class Table>
  Table options(lua_State* L) const {
    reject_surplus(L, next, 1);
    return Value<Table>::read(L, next);
  }
  DatasetPtr batches(std::int64_t batch_size, std::optional<std::uint64_t> shuffle_seed = {}) const {
    return dataset ? dataset : batches_of(arrays, batch_size, shuffle_seed);
  }
  /// Appends the weights of examples to the arrays.
  void append_weights(lua_State* L, const ScriptModel& model, const std::optional<Reference>& weights);
};

/// Throws ArgumentError for scalars.
void require_rows(const std::vector<HostTensor>& arrays);
/// Takes the last rows of all arrays away and returns them as arrays of their own.
std::vector<HostTensor> split_off(std::vector<HostTensor>& arrays, double share);
/// validation_data: a Dataset or { inputs, labels[, weights] }.
DatasetPtr read_validation(lua_State* L, const ScriptModel& model, const Reference& value, std::int64_t batch_size);
/// class_weight = { [0] = 1, [1] = 5 }: by class, 1 where there is none.
std::vector<float> read_class_weights(lua_State* L, const std::optional<Reference>& value);

}  // namespace gpubench::lua
