// The data that fit, evaluate and predict take: a dataset of batches, or tensors that they batch.
#pragma once
#include <cstdint>
#include <lua.hpp>
#include <optional>
#include <vector>

#include "core/data/dataset.h"
#include "core/tensor/host_tensor.h"
#include "core/train/fit/fit.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {

/// Batched data from an argument: a dataset, or arrays of inputs and optionally labels.
struct DataArgument {
  DatasetPtr dataset;
  std::vector<HostTensor> arrays;
  int next = 0;  ///< the stack index after it

  static DataArgument read(lua_State* L, int index, bool labelled);
  /// The options behind it, which are the last argument.
  template <class Table>
  Table options(lua_State* L) const {
    reject_surplus(L, next, 1);
    return Value<Table>::read(L, next);
  }
  DatasetPtr batches(std::int64_t batch_size, std::optional<std::uint64_t> shuffle_seed = {}) const {
    return dataset ? dataset : batches_of(arrays, batch_size, shuffle_seed);
  }
  /// Throws ArgumentError for a scalar among the arrays.
  void require_rows() const;
  /// Takes the last rows of all arrays away and returns them as arrays of their own.
  std::vector<HostTensor> split_off(double share);
  /// Appends the weights of examples to their arrays.
  void append_weights(lua_State* L, const std::optional<Reference>& weights);
};

/// validation_data: a Dataset or { inputs, labels }.
DatasetPtr read_validation(lua_State* L, const Reference& value, std::int64_t batch_size);
/// class_weight = { [0] = 1, [1] = 5 }: by class, 1 where there is none.
std::vector<float> read_class_weights(lua_State* L, const std::optional<Reference>& value);

}  // namespace gpubench::lua
