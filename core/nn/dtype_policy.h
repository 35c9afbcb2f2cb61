// What a layer stores its variables in and what it computes in, under one name, as in Keras: "mixed_bfloat16" keeps
// float32 variables and computes in bfloat16; the name of a type is both.
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

/// The policies that a whole model can be made under: float32, float16, bfloat16, mixed_float16, mixed_bfloat16.
const std::vector<DtypePolicy>& dtype_policies();
/// "float32, float16, ..."
std::string dtype_policy_names();
/// A policy or, for layers that hold other data (Input), the name of any type. Throws Error listing the policies.
DtypePolicy parse_dtype_policy(std::string_view name);

}  // namespace gpubench
