// What the slowest thread of an input pipeline does, as the column `input_cause_kind` has it.
#pragma once
#include <cstdint>
#include <string_view>

#include "core/base/enum_names.h"

namespace gpubench {

enum class InputCauseKind : std::uint8_t {
  unknown,
  reading,
  processing,
  main_process,  ///< the process that trains makes the batches itself
  workers,       ///< its workers are too few or too slow
  processors,    ///< its workers wait for processors
  disk,          ///< its workers wait for a disk
};

inline constexpr EnumNames<InputCauseKind, 7> input_cause_kinds{
    "unknown cause of an input that is waited for",
    {"unknown", "reading", "processing", "main process", "workers", "processors", "disk"}};

inline std::string_view to_string(InputCauseKind kind) {
  return input_cause_kinds[kind];
}

}  // namespace gpubench
