// Elements of equal keys, gathered into windows; each full window becomes a dataset, whose elements follow.
//
//   group_by_window(words, {.key = length, .size = 32}, [](DatasetPtr w) { return padded_batch(w, {.size = 32}); })
#pragma once
#include <functional>
#include <memory>

#include "core/data/dataset.h"
#include "core/data/function/element_function.h"

namespace gpubench {

struct WindowGroups {
  /// element -> int64[]
  std::shared_ptr<const ElementFunction> key{};
  /// Elements of a window; 0: what `size_of` gives for its key, int64[] -> int64[].
  std::int64_t size = 0;
  std::shared_ptr<const ElementFunction> size_of{};
};

/// Makes of a window, whose size is not known, what becomes of all windows. Called once.
using WindowFunction = std::function<DatasetPtr(DatasetPtr window)>;

/// At the end, windows that are not full follow in the order of their keys. Random stages behind the window draw anew
/// in each. Throws Error for functions of other types, and unless the window's dataset consists of stages with one
/// source, the first of which is the window.
DatasetPtr group_by_window(DatasetPtr source, const WindowGroups& groups, const WindowFunction& reduce);

}  // namespace gpubench
