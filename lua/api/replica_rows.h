// Where the rows of a call lie in a batch that replicas share.
#pragma once
#include <span>

#include "core/exec/dispatcher.h"
#include "lua/api/session.h"
#include "lua/api/tensor_calls.h"

namespace gpubench::lua {

/// What a call in training needs to know of the replica that it is traced for.
struct ReplicaRows {
  std::int64_t first = 0;  ///< the first of the inputs' rows in the whole batch
  std::int64_t all = 0;    ///< CallContext::replica_rows
};

/// `draws`: of a layer that draws random numbers, which alone need to know the first row.
inline ReplicaRows replica_rows(const Session& session, std::span<const Tensor> inputs, bool draws) {
  const ReplicaContext* const replica = session.replica_context();
  if (replica == nullptr) return {};
  const bool whole =
      !inputs.empty() && !inputs[0].type().shape.empty() && inputs[0].type().shape[0] == replica->share.rows;
  if (!whole) return {.all = -1};
  return {.first = draws ? replica->share.first : 0, .all = replica->share.total};
}

/// What sets a layer's graphs apart for TensorCalls.
inline CallVariant variant_of(bool training, const ReplicaRows& rows) {
  return {training ? 1 : 0, rows.first, rows.all};
}

}  // namespace gpubench::lua
