// What the host did while a device had no work, and what copies were for, as traces and watched jobs tell it: the
// columns `host_cause_kind` and `copy_cause_kind`.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "core/base/enum_names.h"
#include "core/trace/copy_path.h"

namespace gpubench {

enum class HostCauseKind : std::uint8_t {
  synchronization,  ///< it waited for the device, or went on after such a wait
  operators,        ///< the framework's operators, op by op
  python,           ///< Python, or nothing that is recorded
  annotation,       ///< a range that the program has marked
  allocation,
  compilation,
  first_use,   ///< kernels were loaded at their first launch
  callbacks,   ///< functions that the program gives to the training loop
  evaluation,  ///< of the model, between steps of training
  saving,      ///< of weights, between steps of training
};
inline constexpr EnumNames<HostCauseKind, 10> host_cause_kinds{
    "unknown cause of a host that is waited for",
    {"synchronization", "operators", "Python", "annotation", "allocation", "compilation", "first use", "callbacks",
     "evaluation", "saving"}};
inline std::string_view to_string(HostCauseKind kind) {
  return host_cause_kinds[kind];
}

enum class CopyCauseKind : std::uint8_t { unknown, offload, pageable, input, readback, within_device, between_devices };
inline constexpr EnumNames<CopyCauseKind, 7> copy_cause_kinds{
    "unknown cause of copies",
    {"unknown", "offload", "pageable", "input", "readback", "within device", "between devices"}};
inline std::string_view to_string(CopyCauseKind kind) {
  return copy_cause_kinds[kind];
}
/// What copies of a path are for where nothing says more.
inline CopyCauseKind usual_cause(CopyPath path) {
  constexpr std::array<CopyCauseKind, copy_path_count> causes = {
      CopyCauseKind::unknown,  CopyCauseKind::pageable,      CopyCauseKind::input,          CopyCauseKind::input,
      CopyCauseKind::readback, CopyCauseKind::within_device, CopyCauseKind::between_devices};
  return causes[static_cast<std::size_t>(path)];
}

}  // namespace gpubench
