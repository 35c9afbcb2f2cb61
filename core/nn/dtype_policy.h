// The types in which a layer stores its variables and computes, under one name as in Keras: "mixed_bfloat16" keeps
// float32 variables and computes in bfloat16; a plain type name stands for both.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/tensor/dtype.h"

namespace gpubench {

struct DtypePolicy {
  std::string name;
  Dtype variable = Dtype::f32;
  Dtype compute = Dtype::f32;

  bool mixed() const { return variable != compute; }
};

/// The policies for whole models: float32, float16, bfloat16, mixed_float16, mixed_bfloat16.
const std::vector<DtypePolicy>& dtype_policies();
/// A policy or, for layers that hold other data (Input), any type's name. Throws Error listing the policies.
DtypePolicy parse_dtype_policy(std::string_view name);

}  // namespace gpubench
