#include "core/nn/dtype_policy.h"

#include "core/base/known_names.h"

namespace gpubench {

const std::vector<DtypePolicy>& dtype_policies() {
  static const std::vector<DtypePolicy> policies = {{"float32", Dtype::f32, Dtype::f32},
                                                    {"float16", Dtype::f16, Dtype::f16},
                                                    {"bfloat16", Dtype::bf16, Dtype::bf16},
                                                    {"mixed_float16", Dtype::f32, Dtype::f16},
                                                    {"mixed_bfloat16", Dtype::f32, Dtype::bf16}};
  return policies;
}

DtypePolicy parse_dtype_policy(std::string_view name) {
  for (const DtypePolicy& policy : dtype_policies()) {
    if (policy.name == name) return policy;
  }
  for (const Dtype dtype : {Dtype::i64, Dtype::i32, Dtype::i16, Dtype::i8, Dtype::u8, Dtype::boolean, Dtype::bytes}) {
    if (to_string(dtype) == name) return {std::string(name), dtype, dtype};
  }
  throw_unknown_name("unknown dtype or policy", name, names_of(dtype_policies(), &DtypePolicy::name),
                     "; or a type of integers", "dtype");
}

}  // namespace gpubench
