// A file's bytes in place of its path. As a function of elements, so that a parallel map waits for several files at a
// time.
#pragma once
#include <memory>

#include "core/data/function/element_function.h"

namespace gpubench {

/// (uint8[?] path, ...) -> (uint8[?] contents, ...). Throws Error naming the file when it cannot be read.
std::shared_ptr<const ElementFunction> read_file();

}  // namespace gpubench
