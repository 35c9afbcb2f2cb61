// What the error of an element that a function could not make says beside its cause: which element it was, and from
// which file. One among a million images is found only so.
#pragma once
#include <cstdint>
#include <span>

#include "core/tensor/tensor_view.h"

namespace gpubench {

/// In a handler, for the epoch's element number `index` from 0: throws the Error anew with its text and
/// " (element 778 of the epoch, 'fold/a/x.jpg')". The path is that of the first input that is a byte string naming a
/// file, unless the text names it already. Exceptions of other types pass as they are, Error's subclasses too: they
/// tell of the machine, not of the element.
[[noreturn]] void rethrow_with_place(std::int64_t index, std::span<const TensorView> inputs);

}  // namespace gpubench
