// Where the rows of a call lie in a batch that replicas share.
#pragma once
#include <span>

#include "core/exec/dispatcher.h"
#include "lua/api/session.h"

namespace gpubench::lua {

/// The first of the inputs' rows in the whole batch, while a function is traced for a replica whose rows they are; 0
/// for all else.
inline std::int64_t first_row(const Session& session, std::span<const Tensor> inputs) {
  const ReplicaContext* const replica = session.replica_context();
  if (replica == nullptr || inputs.empty() || inputs[0].type().shape.empty()) return 0;
  return inputs[0].type().shape[0] == replica->share.rows ? replica->share.first : 0;
}

/// What sets a layer's graphs apart for TensorCalls.
inline int variant_of(bool training, std::int64_t first_row) {
  return static_cast<int>(2 * first_row) + (training ? 1 : 0);
}

}  // namespace gpubench::lua
