// The Python dictionary at the start of a .npy file, read strictly: three keys, each once, nothing else.
#pragma once
#include <string>
#include <string_view>

#include "core/tensor/tensor_type.h"

namespace gpubench {

struct NpyHeader {
  std::string descr;  ///< byte order and type: "<f4"
  bool fortran_order = false;
  Shape shape;
};

/// Throws Error starting with `name`.
NpyHeader parse_npy_header(std::string_view text, std::string_view name);

}  // namespace gpubench
