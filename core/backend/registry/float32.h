// What a backend does with numbers of float32, for those who judge its rates.
#pragma once

namespace gpubench {

class Backend;

/// Whether products of float32 are rounded to TF32, which is faster and less exact.
bool rounds_float32(const Backend& backend);

}  // namespace gpubench
