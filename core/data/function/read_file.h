// Replaces a path by the file's bytes. It is a function of elements, so that a parallel map reads several files at
// once.
#pragma once
#include <memory>

#include "core/data/function/element_function.h"

namespace gpubench {

/// (uint8[?] path, ...) -> (uint8[?] contents, ...). Throws Error naming the file if it cannot be read.
std::shared_ptr<const ElementFunction> read_file();

}  // namespace gpubench
